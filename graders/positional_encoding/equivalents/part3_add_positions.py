"""Other right ways to add the positions to the tokens."""

import torch

from reference import positional_encoding as ref
from softmark import equivalent


@equivalent(ref.add_positions)
def type_as(X):
    return ref.sinusoidal(X.size(-2), X.size(-1)).type_as(X) + X


@equivalent(ref.add_positions)
def expanded_and_added(X):
    P = ref.sinusoidal(*X.shape[-2:]).to(X)
    return torch.add(X, P.expand(X.shape))


@equivalent(ref.add_positions)
def on_a_copy(X):
    Y = X.clone()
    Y += ref.sinusoidal(X.shape[-2], X.shape[-1]).to(X.device, X.dtype)
    return Y


@equivalent(ref.add_positions)
def added_in_float64(X):
    P = ref.sinusoidal(*X.shape[-2:]).to(X.device)
    return (X.double() + P).to(X.dtype)


@equivalent(ref.add_positions)
def flattened_batch(X):
    n, d = X.shape[-2:]
    Y = X.reshape(-1, n, d) + ref.sinusoidal(n, d).to(X)[None]
    return Y.view(X.shape)
