"""Other right ways to write the bias for relative positions."""

import torch
import torch.nn as nn

from reference import positional_encoding as ref
from softmark import equivalent


@equivalent(ref.relative_bias)
def filled_entry_by_entry(n, m, table):
    L = (table.shape[-1] - 1) // 2
    rows = []
    for i in range(n):
        rows.append(torch.stack([table[..., max(-L, min(L, j - i)) + L] for j in range(m)], dim=-1))
    return torch.stack(rows, dim=-2)


@equivalent(ref.relative_bias)
def index_select(n, m, table):
    L = table.size(-1) // 2
    i, j = torch.meshgrid(torch.arange(n), torch.arange(m), indexing="ij")
    entry = torch.clip(j - i + L, 0, 2 * L).to(table.device)
    return table.index_select(-1, entry.flatten()).unflatten(-1, (n, m))


@equivalent(ref.relative_bias)
def gathered(n, m, table):
    L = table.shape[-1] // 2
    offset = torch.arange(m, device=table.device) - torch.arange(n, device=table.device)[:, None]
    entry = torch.maximum(torch.minimum(offset, torch.tensor(L)), torch.tensor(-L)) + L
    wide = table.unsqueeze(-2).expand(*table.shape[:-1], n, table.shape[-1])
    return torch.gather(wide, -1, entry.expand(*table.shape[:-1], n, m))


@equivalent(ref.relative_bias)
def one_hot_product(n, m, table):
    L = table.shape[-1] // 2
    offset = (torch.arange(m)[None, :] - torch.arange(n)[:, None]).clamp(min=-L, max=L)
    choose = nn.functional.one_hot(offset + L, 2 * L + 1).to(table)  # (n, m, 2L+1)
    return torch.einsum("nmo,...o->...nm", choose, table)


@equivalent(ref.relative_bias)
def sliding_windows(n, m, table):
    size = table.shape[-1]
    left = table[..., :1].expand(*table.shape[:-1], max(n, m))
    right = table[..., -1:].expand(*table.shape[:-1], max(n, m))
    line = torch.cat([left, table, right], dim=-1)  # every offset, clipped
    zero = max(n, m) + size // 2
    return torch.stack([line[..., zero - i : zero - i + m] for i in range(n)], dim=-2)
