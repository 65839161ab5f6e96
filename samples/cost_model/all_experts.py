"""A sample submission: parts 4 to 6 only; every expert works on every token, and equal scores are in no order."""

import torch


def route(X, W_router, k):
    if not 1 <= k <= W_router.shape[1]:
        raise ValueError("k")
    best = torch.topk(X @ W_router, k, dim=-1)
    return best.indices, torch.softmax(best.values, dim=-1)


def mixture(X, W_router, experts, k):
    chosen, weights = route(X, W_router, k)
    rows = X.reshape(-1, X.shape[-1])
    made = torch.stack([experts(e, rows).reshape(X.shape) for e in range(W_router.shape[1])], dim=-2)
    places = chosen.unsqueeze(-1).expand(*chosen.shape, X.shape[-1])
    return (weights.unsqueeze(-1) * made.gather(-2, places)).sum(dim=-2)


def active_parameters(d, f, n_experts, k, n_layers):
    attention, norms, router = 4 * d * d + 4 * d, 4 * d, d * n_experts
    expert = 2 * d * f + f + d
    rest = attention + norms
    return n_layers * (rest + router + n_experts * expert), n_layers * (rest + k * expert)
