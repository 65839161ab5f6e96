"""Other right gates: by slices, by tanh alone, by the sigmoid alone."""

import math

import torch

from reference import lstm_gates as ref
from softmark import equivalent


@equivalent(ref.gates)
def by_slices(z):
    H = z.size(-1) // 4
    i, f = z[..., :H].sigmoid(), z[..., H : 2 * H].sigmoid()
    return i, f, z[..., 2 * H : 3 * H].tanh(), z[..., 3 * H :].sigmoid()


@equivalent(ref.gates)
def sigmoid_by_tanh(z):
    z_i, z_f, z_g, z_o = torch.tensor_split(z, 4, dim=-1)
    i, f, o = (0.5 + 0.5 * torch.tanh(0.5 * part) for part in (z_i, z_f, z_o))
    return i, f, torch.tanh(z_g), o


@equivalent(ref.gates)
def tanh_by_sigmoid(z):
    i, f, g, o = z.unflatten(-1, (4, -1)).unbind(dim=-2)
    return torch.sigmoid(i), torch.sigmoid(f), 2 * torch.sigmoid(2 * g) - 1, torch.sigmoid(o)


@equivalent(ref.gates)
def sigmoid_by_hand(z):
    i, f, g, o = z.split(z.shape[-1] // 4, dim=-1)
    return 1 / (1 + torch.exp(-i)), 1 / (1 + (-f).exp()), torch.tanh(g), 1.0 / (1.0 + math.e**-o)


@equivalent(ref.gates)
def all_sigmoids_at_once(z):
    H = z.shape[-1] // 4
    s = torch.sigmoid(z)
    return [s[..., :H], s[..., H : 2 * H], torch.tanh(z[..., 2 * H : 3 * H]), s[..., 3 * H :]]
