"""A sample submission: the gates are read in another library's order; what builds on them keeps its marks.

The module of part 6 and the gradients of part 7 are not written.
"""

import torch


def gate_inputs(x, h, W_ih, W_hh, b_ih, b_hh):
    return x @ W_ih.T + b_ih + h @ W_hh.T + b_hh


def gates(z):
    z_i, z_f, z_o, z_g = z.chunk(4, dim=-1)
    return torch.sigmoid(z_i), torch.sigmoid(z_f), torch.tanh(z_g), torch.sigmoid(z_o)


def next_state(i, f, g, o, c):
    c_t = f * c + i * g
    return o * torch.tanh(c_t), c_t


def lstm(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    H = W_hh.shape[1]
    h = x.new_zeros(x.shape[1], H) if h0 is None else h0
    c = x.new_zeros(x.shape[1], H) if c0 is None else c0
    output = []
    for x_t in x:
        i, f, g, o = gates(gate_inputs(x_t, h, W_ih, W_hh, b_ih, b_hh))
        h, c = next_state(i, f, g, o, c)
        output.append(h)
    return torch.stack(output), (h, c)


def projected_lstm(x, h0, c0, W_ih, W_hh, b_ih, b_hh, W_hr):
    P, H = W_hr.shape
    h = x.new_zeros(x.shape[1], P) if h0 is None else h0
    c = x.new_zeros(x.shape[1], H) if c0 is None else c0
    output = []
    for x_t in x:
        i, f, g, o = gates(gate_inputs(x_t, h, W_ih, W_hh, b_ih, b_hh))
        h, c = next_state(i, f, g, o, c)
        h = h @ W_hr.T
        output.append(h)
    return torch.stack(output), (h, c)
