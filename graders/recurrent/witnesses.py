"""PyTorch's answers, which the reference must agree with: if it did not, that would be the graders' error."""

import torch
from torch import nn

from reference import recurrent as ref


def torch_gru_step(x, h, *weights):
    """Return the step of PyTorch's own cell with these weights, for any batch dimensions."""
    cell = nn.GRUCell(x.shape[-1], h.shape[-1]).double()
    cell.load_state_dict(dict(zip(cell.state_dict(), weights, strict=True)))
    rows = cell(x.reshape(-1, x.shape[-1]), h.reshape(-1, h.shape[-1]))
    return rows.reshape(h.shape).detach()


def torch_rnn(x, h0, W_x, W_h, b):
    """Return the outputs and the last state of PyTorch's own layer with these weights; h0 may be shared."""
    layer = nn.RNN(W_x.shape[1], W_x.shape[0]).double()
    layer.load_state_dict(dict(zip(layer.state_dict(), (W_x, W_h, b, 0 * b), strict=True)))
    h0 = None if h0 is None else h0.expand(1, x.shape[1], -1).contiguous()
    output, h_n = layer(x, h0)
    return output.detach(), h_n[0].detach()


def autograd_backward(x, h0, W_x, W_h, b, d_outputs, steps=None):
    """Return the gradients of part 6: each output's by itself, from the state that its last steps began with."""
    leaves = [None if value is None else value.clone().requires_grad_() for value in (x, h0, W_x, W_h, b)]
    own_x, start, *weights = leaves
    output, _ = ref.rnn(x, h0, W_x, W_h, b)
    T = len(x)
    loss = 0.0
    for t in range(T):
        first = max(0, t + 1 - (T if steps is None else steps))
        state = start if first == 0 else output[first - 1]
        loss = loss + (ref.rnn(own_x[first : t + 1], state, *weights)[1] * d_outputs[t]).sum()
    asked = [value for value in leaves if value is not None]
    found = iter(torch.autograd.grad(loss, asked))
    return tuple(None if value is None else next(found) for value in leaves)
