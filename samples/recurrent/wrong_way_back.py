"""A sample submission: the way forward is right up to the gated step, and the way back forgets later steps.

The gated step exchanges z and 1 - z, the mean includes the padding, and the module of part 4 is not written.
"""

import torch


def rnn_step(x, h, W_x, W_h, b):
    return torch.tanh(x @ W_x.T + h @ W_h.T + b)


def joined(W_h, W_x):
    return torch.cat([W_h, W_x], dim=1)


def rnn(x, h0, W_x, W_h, b):
    H = len(W_h)
    h = torch.zeros(x.shape[1], H, dtype=x.dtype, device=x.device) if h0 is None else h0.expand(x.shape[1], H)
    output = []
    for x_t in x:
        h = rnn_step(x_t, h, W_x, W_h, b)
        output.append(h)
    return torch.stack(output), h


def gru_step(x, h, W_ih, W_hh, b_ih, b_hh):
    a = (x @ W_ih.T + b_ih).chunk(3, dim=-1)
    c = (h @ W_hh.T + b_hh).chunk(3, dim=-1)
    r, z = torch.sigmoid(a[0] + c[0]), torch.sigmoid(a[1] + c[1])
    n = torch.tanh(a[2] + r * c[2])
    return z * n + (1 - z) * h


def read_out(outputs, lengths, how):
    if how == "last":
        return outputs[lengths - 1, torch.arange(outputs.shape[1])]
    if how == "mean":
        return outputs.mean(dim=0)
    if how == "max":
        return torch.stack([outputs[:length, n].amax(dim=0) for n, length in enumerate(lengths)])
    raise ValueError(how)


def rnn_backward(x, h0, W_x, W_h, b, d_outputs, steps=None):
    T, N, _ = x.shape
    output, _ = rnn(x, h0, W_x, W_h, b)
    start = torch.zeros_like(output[0]) if h0 is None else h0.expand(N, -1)
    dx, dW_x, dW_h, db = (torch.zeros_like(v) for v in (x, W_x, W_h, b))
    for t in range(T - 1, -1, -1):
        dz = d_outputs[t] * (1 - output[t] ** 2)
        dx[t] = dz @ W_x
        dW_x += dz.T @ x[t]
        dW_h += dz.T @ (output[t - 1] if t > 0 else start)
        db += dz.sum(0)
    dh0 = dz @ W_h
    if h0 is None:
        return dx, None, dW_x, dW_h, db
    return dx, dh0 if h0.dim() == 2 else dh0.sum(0), dW_x, dW_h, db


def clip(gradients, c):
    return [None if g is None else g.clamp(-c, c) for g in gradients]


def state_jacobian(hs, W_h):
    J = torch.eye(len(W_h), dtype=hs.dtype, device=hs.device)
    for h in hs:
        J = torch.diag_embed(1 - h * h) @ W_h @ J
    return J
