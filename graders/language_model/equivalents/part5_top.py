"""Other right top-k and top-p."""

import torch

from reference import language_model as ref
from softmark import equivalent


@equivalent(ref.top_k)
def ranks(logits, k):
    if k <= 0:
        raise ValueError("k must be positive")
    order = torch.sort(logits, dim=-1, descending=True, stable=True).indices
    return torch.where(order.argsort(dim=-1) < k, logits, -torch.inf)


@equivalent(ref.top_k)
def kept_by_index(logits, k):
    if k < 1:
        raise ValueError("k must be positive")
    k = min(k, logits.shape[-1])
    rows = logits.reshape(-1, logits.shape[-1])
    out = torch.full_like(rows, float("-inf"))
    for row, kept in zip(rows, out, strict=True):
        ids = sorted(range(len(row)), key=lambda v, row=row: (-row[v].item(), v))[:k]
        kept[ids] = row[ids]
    return out.view_as(logits)


@equivalent(ref.top_k)
def one_by_one(logits, k):
    if k < 1:
        raise ValueError("k must be positive")
    ahead = (logits[..., None, :] > logits[..., :, None]).sum(-1)
    same = logits[..., None, :] == logits[..., :, None]
    ahead = ahead + same.tril(-1).sum(-1)
    return logits.masked_fill(ahead >= k, -torch.inf)


@equivalent(ref.top_p)
def shifted_mask(logits, p):
    if p < 0 or p > 1:
        raise ValueError("p must be a probability")
    if p >= 1:
        return logits + 0
    ordered, order = torch.sort(logits, descending=True, stable=True, dim=-1)
    reached = ordered.softmax(-1).cumsum(-1) >= p
    remove = torch.zeros_like(reached)
    remove[..., 1:] = reached[..., :-1]
    ordered = ordered.masked_fill(remove, -torch.inf)
    return torch.empty_like(logits).scatter_(-1, order, ordered)


@equivalent(ref.top_p)
def token_by_token(logits, p):
    if not 0 <= p <= 1:
        raise ValueError("p must be a probability")
    rows = logits.reshape(-1, logits.shape[-1])
    out = rows.clone()
    for row, probs in zip(out, torch.softmax(rows, dim=-1).tolist(), strict=True):
        total, kept = 0.0, []
        for v in sorted(range(len(probs)), key=lambda v, probs=probs: (-probs[v], v)):
            if p < 1 and kept and total >= p:
                break
            kept.append(v)
            total += probs[v]
        row[[v for v in range(len(probs)) if v not in kept]] = -torch.inf
    return out.view(logits.shape)
