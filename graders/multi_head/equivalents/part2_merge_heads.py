"""Other right ways to merge the heads."""

import torch

from reference import multi_head as ref
from softmark import equivalent


@equivalent(ref.merge_heads)
def merge_by_unbind_and_cat(H):
    return torch.cat(H.unbind(dim=-3), dim=-1)


@equivalent(ref.merge_heads)
def merge_by_movedim_and_flatten(H):
    return H.movedim(-3, -2).flatten(start_dim=-2)


@equivalent(ref.merge_heads)
def merge_by_permute_and_view(H):
    h, T, d = H.shape[-3:]
    flat = H.reshape(-1, h, T, d).permute(0, 2, 1, 3).contiguous()
    return flat.view(*H.shape[:-3], T, h * d)


@equivalent(ref.merge_heads)
def merge_by_iterating_over_views(H):
    return torch.cat(list(H.movedim(-3, 0)), dim=-1)
