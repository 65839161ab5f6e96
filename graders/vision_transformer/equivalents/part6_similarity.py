"""Other right similarities."""

import torch

from reference import vision_transformer as ref
from softmark import equivalent


@equivalent(ref.similarity)
def similarity_by_einsum(X):
    if X.dim() == 1:
        raise ValueError("one token or many?")
    return torch.einsum("...id,...jd->...ij", X, X)


@equivalent(ref.similarity)
def similarity_by_broadcasting(X):
    if X.ndim < 2:
        raise ValueError("one token or many?")
    return (X.unsqueeze(-2) * X.unsqueeze(-3)).sum(dim=-1)


@equivalent(ref.similarity)
def similarity_token_by_token(X):
    if len(X.shape) < 2:
        raise ValueError("one token or many?")
    return torch.stack([(X * X[..., i : i + 1, :]).sum(-1) for i in range(X.shape[-2])], dim=-2)
