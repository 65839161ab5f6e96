"""Other right steps, and other ways to join the weights."""

import torch
import torch.nn.functional as F

from reference import recurrent as ref
from softmark import equivalent


@equivalent(ref.rnn_step)
def step_with_linear_layers(x, h, W_x, W_h, b):
    return (F.linear(x, W_x, b) + F.linear(h, W_h)).tanh()


@equivalent(ref.rnn_step)
def step_with_the_joined_weight(x, h, W_x, W_h, b):
    return torch.tanh(torch.cat((h, x), -1) @ torch.cat((W_h, W_x), 1).mT + b)


@equivalent(ref.rnn_step)
def step_with_einsum(x, h, W_x, W_h, b):
    return torch.tanh(torch.einsum("...d,hd->...h", x, W_x) + torch.einsum("...k,hk->...h", h, W_h) + b)


@equivalent(ref.rnn_step)
def step_with_a_sigmoid(x, h, W_x, W_h, b):
    z = b + (W_x * x[..., None, :]).sum(-1) + (W_h * h[..., None, :]).sum(-1)
    return 2 * torch.sigmoid(2 * z) - 1


@equivalent(ref.joined)
def joined_by_filling(W_h, W_x):
    H, D = W_x.shape
    W = W_x.new_empty(H, H + D)
    W[:, :H], W[:, H:] = W_h, W_x
    return W


@equivalent(ref.joined)
def joined_row_by_row(W_h, W_x):
    return torch.stack([torch.hstack([a, b]) for a, b in zip(W_h, W_x, strict=True)])
