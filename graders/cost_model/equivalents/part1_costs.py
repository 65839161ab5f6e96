"""Other right ways to write part 1."""

from reference import cost_model as ref
from softmark import equivalent


@equivalent(ref.rnn_cost)
def closed_form(n, d, n_layers=1):
    return 2 * n_layers * n * d**2, n + n_layers - 1, n - 1, (n_layers + 1) * n * d


@equivalent(ref.rnn_cost)
def layer_by_layer(n, d, n_layers=1):
    """Add up the layers, and give a list."""
    counts = [0, n - 1, n - 1, n * d]
    for _ in range(n_layers):
        counts[0] += n * (d * d + d * d)
        counts[1] += 1
        counts[3] += n * d
    return counts


@equivalent(ref.rnn_cost)
def with_dictionary(n, d, n_layers=1):
    """Collect the counts by name."""
    cost = {"matrices": 2, "cells": n * n_layers}
    cost["multiply_adds"] = cost["matrices"] * cost["cells"] * pow(d, 2)
    cost["kept"] = d * (cost["cells"] + n)
    return cost["multiply_adds"], n - 1 + n_layers, max(n - 1, 0), cost["kept"]


@equivalent(ref.conv_cost)
def conv_closed_form(n, d, k, n_layers=1, dilated=False):
    if k < 2:
        raise ValueError("a kernel has at least two tokens")
    moves, left = 0, n - 1
    if not dilated:
        moves = (left + k - 2) // (k - 1)
    while dilated and k**moves < n:
        moves += 1
    return n * k * d**2 * n_layers, n_layers, moves, n * d * (1 + n_layers)


@equivalent(ref.conv_cost)
def in_a_loop(n, d, k, n_layers=1, dilated=False):
    """Stack layers until the last output sees everything: the reach grows by (k - 1) dilation."""
    if k < 2:
        raise ValueError("a kernel has at least two tokens")
    seen, dilation, moves = 1, 1, 0
    while seen < n:
        seen += (k - 1) * dilation
        dilation *= k if dilated else 1
        moves += 1
    kept = sum(n * d for _ in range(n_layers + 1))
    return sum(n * k * d * d for _ in range(n_layers)), n_layers, moves, kept


@equivalent(ref.conv_cost)
def divided(n, d, k, n_layers=1, dilated=False):
    """Divide what is left by k until one token is left, rounded up each time."""
    if k < 2:
        raise ValueError("a kernel has at least two tokens")
    left, moves = n, 0
    while left > 1:
        left = -(-left // k) if dilated else max(left - (k - 1), 1)
        moves += 1
    return k * n * n_layers * d * d, n_layers, moves, (n_layers + 1) * d * n


@equivalent(ref.attention_cost)
def attention_closed_form(n, d, n_heads=1, n_layers=1):
    if d % n_heads:
        raise ValueError("the heads do not fit")
    return n_layers * (4 * n * d**2 + 2 * n**2 * d), 4 * n_layers, int(n > 1), n_layers * (5 * n * d + n_heads * n**2)


@equivalent(ref.attention_cost)
def product_by_product(n, d, n_heads=1, n_layers=1):
    """List the products as (rows, inner, columns), how often each is made, and in which step."""
    width, rest = divmod(d, n_heads)
    if rest:
        raise ValueError(f"{n_heads} heads do not share {d} features")
    products = [
        (3, (n, d, d)),
        (n_heads, (n, width, n)),
        (n_heads, (n, n, width)),
        (1, (n, d, d)),
    ]
    work = sum(times * a * b * c for times, (a, b, c) in products)
    kept = n * d + 3 * n * n_heads * width + n_heads * n * n + n * n_heads * width
    return work * n_layers, len(products) * n_layers, 0 if n == 1 else 1, kept * n_layers


@equivalent(ref.attention_cost)
def head_by_head(n, d, n_heads=1, n_layers=1):
    """Go through layers and heads."""
    if n_heads * (d // n_heads) != d:
        raise ValueError("d is no multiple of n_heads")
    work = kept = steps = 0
    for _ in range(n_layers):
        work += 4 * n * d * d
        kept += 2 * n * d
        steps += 4
        for _ in range(n_heads):
            work += 2 * n * n * (d // n_heads)
            kept += 3 * n * (d // n_heads) + n * n
    return work, steps, 1 if n > 1 else 0, kept
