"""A sample submission: parts 1 to 3 are right, and part 6 hands everything to nn.LSTM, which is not allowed."""

import torch
import torch.nn as nn


def gate_inputs(x, h, W_ih, W_hh, b_ih, b_hh):
    return torch.cat([x, h], dim=-1) @ torch.cat([W_ih, W_hh], dim=1).T + b_ih + b_hh


def gates(z):
    H = z.shape[-1] // 4
    squashed = torch.sigmoid(z)
    return squashed[..., :H], squashed[..., H : 2 * H], torch.tanh(z[..., 2 * H : 3 * H]), squashed[..., 3 * H :]


def next_state(i, f, g, o, c):
    c = f * c + i * g
    return o * torch.tanh(c), c


class LSTM(nn.LSTM):
    """Nothing to add."""
