"""A sample submission: the forget gate and one bias are left out, and every sequence starts from zeros."""

import torch


def gate_inputs(x, h, W_ih, W_hh, b_ih, b_hh):
    return x @ W_ih.T + h @ W_hh.T + b_ih


def gates(z):
    i, f, g, o = z.chunk(4, dim=-1)
    return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)


def next_state(i, f, g, o, c):
    c_t = c + i * g
    return o * torch.tanh(c_t), c_t


def lstm(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    h = c = torch.zeros(x.shape[1], W_hh.shape[1], dtype=x.dtype)
    output = []
    for t in range(x.shape[0]):
        h, c = next_state(*gates(gate_inputs(x[t], h, W_ih, W_hh, b_ih, b_hh)), c)
        output.append(h)
    return torch.stack(output), (h, c)


def projected_lstm(x, h0, c0, W_ih, W_hh, b_ih, b_hh, W_hr):
    raise NotImplementedError("part 5: projected_lstm")


def lstm_step_backward(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    raise NotImplementedError("part 7: lstm_step_backward")
