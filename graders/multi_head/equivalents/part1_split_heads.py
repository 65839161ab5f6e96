"""Other right ways to split the width into heads. Each replaces one function and must keep all marks."""

import torch

from reference import multi_head as ref
from softmark import equivalent


@equivalent(ref.split_heads)
def split_by_chunk_and_stack(X, n_heads):
    if X.shape[-1] % n_heads:
        raise ValueError(f"{n_heads} heads do not divide a width of {X.shape[-1]}")
    return torch.stack(X.chunk(n_heads, dim=-1), dim=-3)


@equivalent(ref.split_heads)
def split_by_unflatten_and_movedim(X, n_heads):
    d_head, rest = divmod(X.size(-1), n_heads)
    if rest != 0:
        raise ValueError("the width must be a multiple of n_heads")
    return X.unflatten(-1, (n_heads, d_head)).movedim(-2, -3).contiguous()


@equivalent(ref.split_heads)
def split_by_view_and_permute(X, n_heads):
    T, D = X.shape[-2], X.shape[-1]
    d_head = D // n_heads
    if d_head * n_heads != D:
        raise ValueError("the heads must share the width evenly")
    flat = X.contiguous().view(-1, T, n_heads, d_head)
    return flat.permute(0, 2, 1, 3).reshape(*X.shape[:-2], n_heads, T, d_head)


@equivalent(ref.split_heads)
def split_by_einsum(X, n_heads):
    try:
        cut = X.unflatten(-1, (n_heads, -1))
    except RuntimeError as error:
        raise ValueError("the width does not divide") from error
    return torch.einsum("...thd->...htd", cut)


@equivalent(ref.split_heads)
def split_by_index(X, n_heads):
    D = X.shape[-1]
    if D % n_heads:
        raise ValueError("the width does not divide")
    columns = torch.arange(D, device=X.device).reshape(n_heads, D // n_heads)
    return X[..., columns].swapaxes(-3, -2)
