"""Other right feed-forward sublayers."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from reference import transformer_block as ref
from softmark import equivalent


@equivalent(ref.feed_forward)
def network_of_linears(X, W1, b1, W2, b2):
    return F.linear(F.relu(F.linear(X, W1.T, b1)), W2.T, b2)


@equivalent(ref.feed_forward)
def network_einsum_and_clamp(X, W1, b1, W2, b2):
    H = (torch.einsum("...td,df->...tf", X, W1) + b1).clamp(min=0)
    return torch.einsum("...tf,fd->...td", H, W2) + b2


@equivalent(ref.feed_forward)
def network_flat(X, W1, b1, W2, b2):
    rows = X.reshape(-1, X.shape[-1])
    H = torch.addmm(b1, rows, W1).relu_()
    return torch.addmm(b2, H, W2).reshape(X.shape)


@equivalent(ref.feed_forward)
def network_token_by_token(X, W1, b1, W2, b2):
    return torch.stack([torch.relu(x @ W1 + b1) @ W2 + b2 for x in X.unbind(dim=-2)], dim=-2)


@equivalent(ref.feed_forward)
def network_with_biases_in_the_weights(X, W1, b1, W2, b2):
    X = F.pad(X, (0, 1), value=1.0)
    H = nn.ReLU()(X @ torch.cat([W1, b1[None]]))
    return F.pad(H, (0, 1), value=1.0) @ torch.cat([W2, b2[None]])
