"""A sample submission: everything is right, with unbind and F.linear, and the step as one function of its own."""

import torch
import torch.nn as nn
import torch.nn.functional as F


def gate_inputs(x, h, W_ih, W_hh, b_ih, b_hh):
    return F.linear(x, W_ih, b_ih) + F.linear(h, W_hh, b_hh)


def gates(z):
    i, f, g, o = z.unflatten(-1, (4, -1)).unbind(-2)
    return i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()


def next_state(i, f, g, o, c):
    c = torch.addcmul(f * c, i, g)
    return o * c.tanh(), c


def run(x, h, c, weights, W_hr=None):
    steps = []
    for x_t in x:
        h, c = next_state(*gates(gate_inputs(x_t, h, *weights)), c)
        if W_hr is not None:
            h = F.linear(h, W_hr)
        steps.append(h)
    return torch.stack(steps), (h, c)


def zeros_if_none(state, x, width):
    return torch.zeros(x.shape[1], width, dtype=x.dtype, device=x.device) if state is None else state


def lstm(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    H = W_hh.shape[1]
    return run(x, zeros_if_none(h0, x, H), zeros_if_none(c0, x, H), (W_ih, W_hh, b_ih, b_hh))


def projected_lstm(x, h0, c0, W_ih, W_hh, b_ih, b_hh, W_hr):
    P, H = W_hr.shape
    return run(x, zeros_if_none(h0, x, P), zeros_if_none(c0, x, H), (W_ih, W_hh, b_ih, b_hh), W_hr)


class LSTM(nn.Module):
    def __init__(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
        super().__init__()
        self.layers, self.p, H = num_layers, dropout, hidden_size
        self.directions = ["", "_reverse"][: 1 + bidirectional]
        for k in range(num_layers):
            width = len(self.directions) * H if k else input_size
            for end in self.directions:
                self.new_parameter(f"weight_ih_l{k}{end}", H, 4 * H, width)
                self.new_parameter(f"weight_hh_l{k}{end}", H, 4 * H, H)
                self.new_parameter(f"bias_ih_l{k}{end}", H, 4 * H)
                self.new_parameter(f"bias_hh_l{k}{end}", H, 4 * H)

    def new_parameter(self, name, H, *shape):
        setattr(self, name, nn.Parameter((2 * torch.rand(shape) - 1) / H**0.5))

    def weights(self, end):
        return [getattr(self, f"{name}_l{end}") for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]

    def forward(self, x, state=None):
        finals = []
        for k in range(self.layers):
            if k:
                x = F.dropout(x, self.p, self.training)
            outputs = []
            for end in self.directions:
                h0, c0 = (None, None) if state is None else (part[len(finals)] for part in state)
                y, final = lstm(x.flip(0) if end else x, h0, c0, *self.weights(f"{k}{end}"))
                outputs.append(y.flip(0) if end else y)
                finals.append(final)
            x = torch.cat(outputs, dim=-1)
        h, c = zip(*finals)
        return x, (torch.stack(h), torch.stack(c))


def lstm_step_backward(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    i, f, g, o = gates(gate_inputs(x, h, W_ih, W_hh, b_ih, b_hh))
    _, c_t = next_state(i, f, g, o, c)
    t = c_t.tanh()
    dc_t = dc_t + dh_t * o * (1 - t * t)
    dz = torch.cat(
        [dc_t * g * i * (1 - i), dc_t * c * f * (1 - f), dc_t * i * (1 - g * g), dh_t * t * o * (1 - o)], dim=-1
    )
    db = dz.sum(0)
    return dz @ W_ih, dz @ W_hh, dc_t * f, dz.mT @ x, dz.mT @ h, db, db.clone()
