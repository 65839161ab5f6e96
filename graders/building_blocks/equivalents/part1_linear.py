"""Other right solutions, in other styles, each of which must earn all the marks: part 1, the linear layer."""

import torch

from reference import building_blocks as ref
from softmark import equivalent


@equivalent(ref.linear)
def einsum(X, W, b):
    return torch.einsum("...i,oi->...o", X, W) + b


@equivalent(ref.linear)
def column_by_column(X, W, b):
    return torch.stack([(X * row).sum(dim=-1) + bias for row, bias in zip(W, b, strict=True)], dim=-1)


@equivalent(ref.linear)
def as_the_lecture_writes_it(X, W, b):
    return (W @ X.unsqueeze(-1)).squeeze(-1) + b


@equivalent(ref.linear)
def flat_batch(X, W, b):
    rows = X.reshape(-1, X.shape[-1])
    return torch.addmm(b, rows, W.t()).view(*X.shape[:-1], -1)


@equivalent(ref.linear)
def bias_as_a_column_of_ones(X, W, b):
    ones = torch.ones(*X.shape[:-1], 1, dtype=X.dtype, device=X.device)
    return torch.cat([X, ones], dim=-1) @ torch.cat([W, b.unsqueeze(1)], dim=1).transpose(0, 1)
