"""Other right gated steps."""

import torch
import torch.nn.functional as F

from reference import recurrent as ref
from softmark import equivalent


@equivalent(ref.gru_step)
def gru_step_with_slices(x, h, W_ih, W_hh, b_ih, b_hh):
    H = h.shape[-1]
    a, c = F.linear(x, W_ih, b_ih), F.linear(h, W_hh, b_hh)
    gates = torch.sigmoid(a[..., : 2 * H] + c[..., : 2 * H])
    r, z = gates[..., :H], gates[..., H:]
    n = torch.tanh(a[..., 2 * H :] + c[..., 2 * H :] * r)
    return n + z * (h - n)


@equivalent(ref.gru_step)
def gru_step_gate_by_gate(x, h, W_ih, W_hh, b_ih, b_hh):
    H = len(b_ih) // 3

    def part(k):
        rows = slice(k * H, (k + 1) * H)
        return x @ W_ih[rows].T + b_ih[rows], h @ W_hh[rows].T + b_hh[rows]

    r, z = torch.sigmoid(sum(part(0))), torch.sigmoid(sum(part(1)))
    of_x, of_h = part(2)
    return torch.lerp(torch.tanh(of_x + r * of_h), h, z)


@equivalent(ref.gru_step)
def gru_step_with_einsum(x, h, W_ih, W_hh, b_ih, b_hh):
    D, H = W_ih.shape[1], W_hh.shape[1]
    a = torch.einsum("...d,ghd->g...h", x, W_ih.view(3, H, D))
    c = torch.einsum("...k,ghk->g...h", h, W_hh.view(3, H, H))
    b_r, b_z, b_n = b_ih.view(3, H)
    d_r, d_z, d_n = b_hh.view(3, H)
    r = torch.sigmoid(a[0] + c[0] + b_r + d_r)
    keep_new = torch.sigmoid(-(a[1] + c[1] + b_z + d_z))
    return keep_new * torch.tanh(a[2] + b_n + r * (c[2] + d_n)) + (1 - keep_new) * h
