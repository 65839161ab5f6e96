"""Other right ways to write parts 4 and 5."""

import torch

from reference import cost_model as ref
from softmark import equivalent


@equivalent(ref.route)
def sorted_scores(X, W_router, k):
    """Sort values and places together, and write the softmax out."""
    if k < 1 or k > W_router.size(1):
        raise ValueError("k")
    scores, order = torch.sort(X @ W_router, dim=-1, descending=True, stable=True)
    E = torch.exp(scores[..., :k] - scores[..., :1])
    return order[..., :k], E / E.sum(-1, keepdim=True)


@equivalent(ref.route)
def one_after_the_other(X, W_router, k):
    """Take the first of the largest scores k times."""
    S = torch.einsum("...d,de->...e", X, W_router)
    n_experts = S.shape[-1]
    if k not in range(1, n_experts + 1):
        raise ValueError("no such number of experts")
    places = torch.arange(n_experts, device=S.device)
    free, chosen = torch.ones_like(S, dtype=torch.bool), []
    for _ in range(k):
        best = S.masked_fill(~free, -torch.inf).amax(-1, keepdim=True)
        first = torch.where(free & (best == S), places, n_experts).amin(-1, keepdim=True)
        free = free & (places != first)
        chosen.append(first)
    chosen = torch.cat(chosen, -1)
    return chosen, torch.log_softmax(torch.take_along_dim(S, chosen, -1), -1).exp()


@equivalent(ref.route)
def masked(X, W_router, k):
    """Block the other experts before softmax."""
    S = X @ W_router
    if not 0 < k <= S.shape[-1]:
        raise ValueError(k)
    chosen = (-S).argsort(dim=-1, stable=True)[..., :k]
    kept = torch.full_like(S, -torch.inf).scatter(-1, chosen, S.gather(-1, chosen))
    return chosen, kept.softmax(-1).gather(-1, chosen)


@equivalent(ref.mixture)
def with_masks(X, W_router, experts, k):
    """Pick the rows of an expert with a mask."""
    chosen, weights = ref.route(X, W_router, k)
    Y = torch.zeros_like(X)
    for e in range(W_router.shape[1]):
        here = chosen == e
        mask = here.any(-1)
        if mask.any():
            share = (weights * here).sum(-1)[mask]
            made = torch.zeros_like(X)
            made[mask] = share[..., None] * experts(e, X[mask].reshape(-1, X.shape[-1])).reshape(X[mask].shape)
            Y = Y + made
    return Y


@equivalent(ref.mixture)
def sorted_by_expert(X, W_router, experts, k):
    """Sort all pairs of token and expert by expert, and cut the rows into runs."""
    chosen, weights = ref.route(X, W_router, k)
    rows = X.reshape(-1, X.shape[-1]).repeat_interleave(k, dim=0)
    order = chosen.flatten().argsort(stable=True)
    used, counts = chosen.flatten()[order].unique_consecutive(return_counts=True)
    runs = rows[order].split(counts.tolist())
    made = torch.cat([experts(e, run) for e, run in zip(used.tolist(), runs, strict=True)])
    back = made[order.argsort()].reshape(*X.shape[:-1], k, X.shape[-1])
    return (weights.unsqueeze(-1) * back).sum(-2)


@equivalent(ref.mixture)
def token_lists(X, W_router, experts, k):
    """Note the tokens of each expert in lists, and add the results token by token."""
    chosen, weights = ref.route(X, W_router, k)
    tokens = X.reshape(-1, X.shape[-1])
    lists = {}
    for t, ids in enumerate(chosen.reshape(-1, k).tolist()):
        for j, e in enumerate(ids):
            lists.setdefault(e, []).append((t, j))
    sums = [torch.zeros_like(token) for token in tokens]
    for e, places in lists.items():
        made = experts(e, torch.stack([tokens[t] for t, _ in places]))
        for (t, j), y in zip(places, made, strict=True):
            sums[t] = sums[t] + weights.reshape(-1, k)[t, j] * y
    return torch.stack(sums).reshape(X.shape)
