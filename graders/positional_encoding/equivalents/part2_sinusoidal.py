"""Other right ways to write the sinusoidal table."""

import torch

from reference import positional_encoding as ref
from softmark import equivalent


@equivalent(ref.sinusoidal)
def stack_and_flatten(n, d):
    A = ref.angles(n, d)
    return torch.stack([A.sin(), A.cos()], dim=-1).flatten(start_dim=1)[:, :d]


@equivalent(ref.sinusoidal)
def sine_with_phase(n, d):
    phase = torch.arange(d, dtype=torch.float64) % 2 * (torch.pi / 2)
    return torch.sin(ref.angles(n, d).repeat_interleave(2, dim=1)[:, :d] + phase)


@equivalent(ref.sinusoidal)
def float32_table(n, d):
    A = ref.angles(n, d).float()
    P = torch.zeros(n, d)
    P[:, 0::2] = torch.sin(A)
    P[:, 1::2] = torch.cos(A)[:, : P[:, 1::2].shape[1]]
    return P


@equivalent(ref.sinusoidal)
def complex_exponential(n, d):
    A = ref.angles(n, d)
    Z = torch.polar(torch.ones_like(A), torch.pi / 2 - A)  # sin A + i cos A
    return torch.view_as_real(Z).reshape(n, -1)[:, :d]


@equivalent(ref.sinusoidal)
def where_column_is_odd(n, d):
    A = torch.repeat_interleave(ref.angles(n, d), 2, dim=-1)[:, :d]
    return torch.where(torch.arange(d) % 2 == 1, torch.cos(A), torch.sin(A))


@equivalent(ref.sinusoidal)
def concatenate_and_permute(n, d):
    A = ref.angles(n, d)
    halves = torch.cat([torch.sin(A), torch.cos(A)], dim=1)
    order = torch.arange(halves.shape[1]).view(2, -1).T.reshape(-1)
    return halves[:, order][:, :d]


@equivalent(ref.sinusoidal)
def row_by_row_with_math(n, d):
    import math

    P = torch.zeros(n, d, dtype=torch.float64)
    for t in range(n):
        for j in range(d):
            angle = t / 10000 ** ((j - j % 2) / d)
            P[t, j] = math.cos(angle) if j % 2 else math.sin(angle)
    return P


@equivalent(ref.sinusoidal)
def wider_table_cut(n, d):
    A = ref.angles(n, d)
    P = torch.zeros(n, d + d % 2, dtype=torch.float64)
    P[:, 0::2], P[:, 1::2] = A.sin(), A.cos()
    return P[:, :d].contiguous()
