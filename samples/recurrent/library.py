"""A sample submission: the library and autograd do all the work that this homework teaches, which is not allowed.

Parts 1 and 5 are right.
"""

import torch
import torch.nn as nn


def rnn_step(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + h @ W_h.T + b)


def joined(W_h, W_x):
    return torch.cat([W_h, W_x], dim=1)


def rnn(x, h0, W_x, W_h, b):
    if h0 is None:
        h0 = x.new_zeros(len(b))
    h0 = h0.expand(1, x.shape[1], len(b)).contiguous()
    output, h = torch.rnn_tanh(x, h0, [W_x, W_h, b, 0 * b], True, 1, 0.0, False, False, False)
    return output, h[0]


def gru_step(x, h, W_ih, W_hh, b_ih, b_hh):
    cell = nn.GRUCell(x.shape[-1], h.shape[-1]).to(x.dtype)
    cell.load_state_dict({"weight_ih": W_ih, "weight_hh": W_hh, "bias_ih": b_ih, "bias_hh": b_hh})
    return cell(x, h)


class RNN(nn.RNN):
    """Nothing to add."""


def read_out(outputs, lengths, how):
    if how not in ("last", "mean", "max"):
        raise ValueError("how?")
    rows = [outputs[: int(length), n] for n, length in enumerate(lengths)]
    if how == "last":
        return torch.stack([row[-1] for row in rows])
    return torch.stack([row.mean(0) if how == "mean" else row.max(0).values for row in rows])


def rnn_backward(x, h0, W_x, W_h, b, d_outputs, steps=None):
    leaves = [v.clone().requires_grad_() for v in (x, W_x, W_h, b)]
    h, outputs = x.new_zeros(len(b)), []
    for x_t in leaves[0]:
        h = torch.tanh(x_t @ leaves[1].T + h @ leaves[2].T + leaves[3])
        outputs.append(h)
    torch.stack(outputs).backward(d_outputs)
    return tuple(leaf.grad for leaf in leaves)


def clip(gradients, c):
    parameters = [nn.Parameter(torch.zeros_like(g)) for g in gradients if g is not None]
    for parameter, g in zip(parameters, [g for g in gradients if g is not None]):
        parameter.grad = g.clone()
    torch.nn.utils.clip_grad_norm_(parameters, c)
    left = iter(parameters)
    return [None if g is None else next(left).grad for g in gradients]


def state_jacobian(hs, W_h):
    return torch.diag_embed(1 - hs[-1] ** 2) @ W_h
