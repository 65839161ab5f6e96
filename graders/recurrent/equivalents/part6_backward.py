"""Other right ways back through time."""

import torch

from reference import recurrent as ref
from softmark import equivalent


@equivalent(ref.rnn_backward)
def backward_output_by_output(x, h0, W_x, W_h, b, d_outputs, steps=None):
    T, N, _ = x.shape
    first = torch.zeros(N, len(b), dtype=x.dtype, device=x.device) if h0 is None else h0 + x.new_zeros(N, len(b))
    states = [first]
    for x_t in x:
        states.append(torch.tanh(x_t @ W_x.T + states[-1] @ W_h.T + b))
    dx, dh0, dW_x, dW_h, db = (torch.zeros_like(value) for value in (x, first, W_x, W_h, b))
    for t in range(T):
        dh = d_outputs[t]
        for s in range(t, -1 if steps is None else max(-1, t - steps), -1):
            dz = dh - dh * states[s + 1].square()
            dx[s] += dz @ W_x
            dW_x += torch.einsum("nh,nd->hd", dz, x[s])
            dW_h += torch.einsum("nh,nk->hk", dz, states[s])
            db += dz.sum(0)
            dh = dz @ W_h
            if s == 0:
                dh0 += dh
    if h0 is None:
        dh0 = None
    elif h0.dim() == 1:
        dh0 = dh0.sum(0)
    return dx, dh0, dW_x, dW_h, db


@equivalent(ref.rnn_backward)
def backward_with_ages(x, h0, W_x, W_h, b, d_outputs, steps=None):
    output = ref.rnn(x, h0, W_x, W_h, b)[0]
    slopes = (1 + output) * (1 - output)
    start = torch.zeros_like(output[0]) if h0 is None else h0.expand_as(output[0])
    before = torch.cat([start[None], output[:-1]])
    waiting, dz = [], [None] * len(x)
    for t in range(len(x) - 1, -1, -1):
        waiting.insert(0, d_outputs[t])
        if steps is not None and len(waiting) > steps:
            waiting.pop()
        waiting = [dh * slopes[t] for dh in waiting]
        dz[t] = torch.stack(waiting).sum(0)
        waiting = [dh @ W_h for dh in waiting]
    dz = torch.stack(dz)
    dh0 = None if h0 is None else sum(waiting)
    dh0 = dh0.sum(0) if h0 is not None and h0.ndim == 1 else dh0
    return [
        dz @ W_x,
        dh0,
        torch.tensordot(dz, x, ([0, 1], [0, 1])),
        torch.einsum("tnh,tnk->hk", dz, before),
        dz.sum((0, 1)),
    ]


@equivalent(ref.rnn_backward)
def backward_in_two_ways(x, h0, W_x, W_h, b, d_outputs, steps=None):
    T, N, D = x.shape
    output, _ = ref.rnn(x, h0, W_x, W_h, b)
    dz = torch.zeros_like(output)
    reached = torch.zeros_like(output[0])
    for t in range(T):  # where does the gradient of output t go?
        dh, gone = d_outputs[t], 0
        while gone <= t and (steps is None or gone < steps):
            at = t - gone
            back = dh * (1 - output[at] * output[at])
            dz[at] = dz[at] + back
            dh, gone = back.mm(W_h), gone + 1
        reached = reached + dh if gone == t + 1 else reached
    first = output.new_zeros(1, N, len(b)) if h0 is None else h0.expand(1, N, len(b))
    flat = dz.reshape(T * N, -1)
    before = torch.cat((first, output))[:-1].reshape(T * N, -1)
    sums = flat.T @ x.reshape(T * N, D), flat.T @ before, flat.sum(0)
    if h0 is None:
        return dz @ W_x, None, *sums
    return dz @ W_x, reached if h0.dim() > 1 else reached.sum(0), *sums
