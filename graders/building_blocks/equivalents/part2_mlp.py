"""Other right multi-layer perceptrons."""

import torch

from reference import building_blocks as ref
from softmark import equivalent


@equivalent(ref.mlp)
def counted_layers(X, layers, g):
    for number, (W, b) in enumerate(layers):
        X = X @ W + b
        if number < len(layers) - 1:
            X = g(X)
    return X


@equivalent(ref.mlp)
def recursive(X, layers, g):
    def output(of):
        W, b = layers[of]
        return (X if of == 0 else g(output(of - 1))) @ W + b

    return output(len(layers) - 1)


@equivalent(ref.mlp)
def g_before_every_layer_but_the_first(X, layers, g):
    (W, b), *rest = layers
    Z = torch.matmul(X, W) + b
    for W, b in rest:
        Z = torch.einsum("...i,io->...o", g(Z), W) + b
    return Z


@equivalent(ref.mlp)
def linear_layers_of_the_library(X, layers, g):
    H = X
    for W, b in layers[:-1]:
        H = g(torch.nn.functional.linear(H, W.T, b))
    return torch.nn.functional.linear(H, layers[-1][0].T, layers[-1][1])


@equivalent(ref.mlp)
def with_part_1(X, layers, g):
    *hidden, (W_last, b_last) = layers
    for W, b in hidden:
        X = g(ref.linear(X, W.T, b))
    return ref.linear(X, W_last.T, b_last)


@equivalent(ref.mlp)
def row_by_row(X, layers, g):
    rows = []
    for x in X.reshape(-1, X.shape[-1]):
        for W, b in layers[:-1]:
            x = g(x @ W + b)
        rows.append(x @ layers[-1][0] + layers[-1][1])
    return torch.stack(rows).reshape(*X.shape[:-1], -1)
