"""A sample submission: it counts flops, with a logarithm and a division, and takes softmax over all experts."""

import math

import torch


def rnn_cost(n, d, n_layers=1):
    return 4 * n_layers * n * d**2, n * n_layers, n, n_layers * n * d


def conv_cost(n, d, k, n_layers=1, dilated=False):
    if k == 1:
        raise ValueError("the kernel is too small")
    path = math.ceil(math.log(n) / math.log(k)) if dilated else math.ceil(n / k)
    return 2 * n_layers * n * k * d**2, n_layers, path, n_layers * n * d


def attention_cost(n, d, n_heads=1, n_layers=1):
    if d % n_heads:
        raise ValueError("the heads do not fit")
    return n_layers * (8 * n * d**2 + 4 * n**2 * d), 4 * n_layers, 1, n_layers * (5 * n * d + n_heads * n**2)


def parameters(kind, **sizes):
    d = sizes["d"]
    f = sizes.get("f", 4 * d)
    if kind in ("rnn", "lstm"):
        h, later = sizes["h"], sizes["n_layers"] - 1
        return (4 if kind == "lstm" else 1) * (h * (d + h + 1) + later * h * (2 * h + 1))
    if kind == "conv":
        return sizes["h"] * (sizes["k"] * d + 1)
    attention, feed_forward = 4 * d * (d + 1), 2 * d * f + d + f
    if kind == "attention":
        return attention
    if kind == "feed_forward":
        return feed_forward
    if kind == "block":
        return attention + feed_forward + 4 * d
    if kind == "gpt":
        blocks = sizes["n_layers"] * (attention + feed_forward + 4 * d)
        return (sizes["vocabulary"] + sizes["n"] + 2) * d + blocks
    raise ValueError(kind)


def crossover(d, f=None):
    f = f or 4 * d
    return max(1, f - 2 * d + 1), d + 1


def route(X, W_router, k):
    if not 0 < k <= W_router.shape[1]:
        raise ValueError("k")
    weights = torch.softmax(X @ W_router, dim=-1)
    experts = torch.argsort(weights, dim=-1, descending=True, stable=True)[..., :k]
    return experts, weights.gather(-1, experts)


def mixture(X, W_router, experts, k):
    chosen, weights = route(X, W_router, k)
    result = torch.zeros_like(X)
    for e in chosen.unique().tolist():
        mine = (chosen == e).any(dim=-1)
        made = torch.zeros_like(X)
        made[mine] = experts(e, X[mine].reshape(-1, X.shape[-1])).reshape(X[mine].shape)
        result = result + (weights * (chosen == e)).sum(dim=-1, keepdim=True) * made
    return result


def active_parameters(d, f, n_experts, k, n_layers):
    common = 4 * d * (d + 1) + 4 * d + d * n_experts
    expert = 2 * d * f + d + f
    return n_layers * (common + n_experts * expert), n_layers * (common + k * expert)
