"""A sample submission: everything is right; counts are written as short formulas, experts are found by sorting."""

import torch


def rnn_cost(n, d, n_layers=1):
    return n_layers * n * 2 * d * d, n_layers + n - 1, n - 1, n * d * (n_layers + 1)


def conv_cost(n, d, k, n_layers=1, dilated=False):
    if k < 2:
        raise ValueError("no token sees another one")
    seen, dilation, path = 1, 1, 0
    while seen < n:
        seen += dilation * (k - 1)
        path += 1
        if dilated:
            dilation *= k
    return n_layers * n * k * d * d, n_layers, path, n * d * (n_layers + 1)


def attention_cost(n, d, n_heads=1, n_layers=1):
    if d % n_heads:
        raise ValueError("the heads do not fit")
    return n_layers * 2 * n * d * (2 * d + n), 4 * n_layers, int(n > 1), n_layers * n * (5 * d + n_heads * n)


def _linear(a, b):
    return a * b + b


def parameters(kind, **sizes):
    d = sizes["d"]
    if kind == "rnn":
        h = sizes["h"]
        return _linear(d, h) + _linear(h, h) + (sizes["n_layers"] - 1) * 2 * _linear(h, h)
    if kind == "lstm":
        return 4 * parameters("rnn", **sizes)
    if kind == "conv":
        return _linear(sizes["k"] * d, sizes["h"])
    if kind == "attention":
        return 4 * _linear(d, d)
    if kind == "feed_forward":
        return _linear(d, sizes["f"]) + _linear(sizes["f"], d)
    if kind == "block":
        return parameters("attention", d=d) + parameters("feed_forward", d=d, f=sizes["f"]) + 4 * d
    if kind == "gpt":
        block = parameters("block", d=d, f=4 * d)
        return (sizes["vocabulary"] + sizes["n"] + 2) * d + sizes["n_layers"] * block
    raise ValueError(f"what is a {kind}?")


def crossover(d, f=None):
    f = 4 * d if f is None else f
    return max(1, f - 2 * d + 1), d + 1


def route(X, W_router, k):
    if not 0 < k <= W_router.shape[1]:
        raise ValueError("k")
    scores, experts = (X @ W_router).sort(dim=-1, descending=True, stable=True)
    return experts[..., :k], scores[..., :k].softmax(dim=-1)


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
    common = parameters("attention", d=d) + 4 * d + d * n_experts
    expert = parameters("feed_forward", d=d, f=f)
    return n_layers * (common + n_experts * expert), n_layers * (common + k * expert)
