"""Other right contexts."""

import torch

from reference import seq2seq as ref
from softmark import equivalent


@equivalent(ref.context)
def with_where_and_einsum(scores, states, lengths):
    real = torch.arange(scores.size(1), device=scores.device).expand_as(scores) < lengths.unsqueeze(1)
    low = torch.where(real, scores, torch.full_like(scores, -1e30))
    p = torch.softmax(low, dim=-1) * real
    return torch.einsum("ns,nsc->nc", p, states), p


@equivalent(ref.context)
def by_hand(scores, states, lengths):
    real = (torch.arange(scores.shape[1], device=scores.device)[None] < lengths[:, None]).to(scores.dtype)
    top = (scores - (1 - real) * 1e6).amax(dim=1, keepdim=True)
    e = torch.exp((scores - top) * real) * real
    p = e / e.sum(dim=1, keepdim=True).clamp(min=1)
    return (p[:, :, None] * states).sum(dim=1), p


@equivalent(ref.context)
def row_by_row(scores, states, lengths):
    rows = []
    for row, length in zip(scores, lengths.tolist(), strict=True):
        p = torch.softmax(row[:length], dim=0)
        rows.append(torch.cat([p, row.new_zeros(len(row) - length)]))
    p = torch.stack(rows)
    return torch.stack([w @ x for w, x in zip(p, states, strict=True)]), p


@equivalent(ref.context)
def minus_infinity_where_something_is_real(scores, states, lengths):
    padding = torch.arange(scores.shape[1], device=scores.device) >= lengths[:, None]
    empty = (lengths == 0)[:, None]
    p = scores.masked_fill(padding & ~empty, float("-inf")).log_softmax(1).exp()
    p = p.masked_fill(empty, 0.0)
    return torch.matmul(p.unsqueeze(1), states)[:, 0], p


@equivalent(ref.context)
def zero_in_the_place_of_nan(scores, states, lengths):
    padding = torch.arange(scores.shape[1], device=scores.device) >= lengths[:, None]
    p = torch.softmax(scores.masked_fill(padding, -torch.inf), dim=1).masked_fill(padding, 0)
    return (p[..., None] * states).sum(-2), p
