"""Right positional encodings written in other ways, each of which must earn all 20 points: part 1, the angles."""

import torch

from reference import positional_encoding as ref
from softmark import equivalent


@equivalent(ref.angles)
def exp_of_log(n, d):
    import math

    step = -math.log(10000.0) / d
    omega = torch.exp(torch.arange(0, d, 2, dtype=torch.float64) * step)
    return torch.arange(n, dtype=torch.float64).unsqueeze(1) * omega


@equivalent(ref.angles)
def outer_product(n, d):
    t = torch.arange(n).double()
    omega = torch.pow(torch.tensor(10000.0, dtype=torch.float64), -torch.arange(0, d, 2).double() / d)
    return torch.outer(t, omega)


@equivalent(ref.angles)
def einsum_of_powers(n, d):
    i = torch.arange((d + 1) // 2, dtype=torch.float64)
    return torch.einsum("t,i->ti", torch.arange(n, dtype=torch.float64), 1e4 ** (-2.0 * i / d))


@equivalent(ref.angles)
def nested_loops(n, d):
    A = torch.zeros(n, (d + 1) // 2, dtype=torch.float64)
    for t in range(n):
        for i in range((d + 1) // 2):
            A[t, i] = t / 10000 ** (2 * i / d)
    return A


@equivalent(ref.angles)
def list_of_lists(n, d):
    rows = [[t / 10000 ** (j / d) for j in range(0, d, 2)] for t in range(n)]
    return torch.tensor(rows, dtype=torch.float64)


@equivalent(ref.angles)
def every_second_of_full_width(n, d):
    j = torch.arange(d, dtype=torch.float64)
    full = torch.arange(n, dtype=torch.float64)[:, None] / 10000 ** (2 * (j // 2) / d)
    return full[:, ::2]


@equivalent(ref.angles)
def logspace(n, d):
    pairs = (d + 1) // 2
    wavelength = torch.logspace(0, 8 * (pairs - 1) / d, pairs, base=10.0, dtype=torch.float64)
    return torch.arange(n, dtype=torch.float64).view(-1, 1) / wavelength


@equivalent(ref.angles)
def with_numpy(n, d):
    import numpy as np

    t, i = np.meshgrid(np.arange(n), np.arange((d + 1) // 2), indexing="ij")
    return torch.from_numpy(t / np.power(10000.0, 2 * i / d))


@equivalent(ref.angles)
def float32_as_in_many_tutorials(n, d):
    import math

    position = torch.arange(n).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
    return position * div_term


@equivalent(ref.angles)
def float32_powers_of_integers(n, d):
    i = torch.arange((d + 1) // 2)
    return torch.arange(n)[:, None] / 10000 ** (2 * i / d)


@equivalent(ref.angles)
def summed_up(n, d):
    omega = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return torch.cumsum(omega.expand(n, -1), dim=0) - omega
