"""Other right sequences."""

import torch

from reference import recurrent as ref
from softmark import equivalent


@equivalent(ref.rnn)
def rnn_with_inputs_first(x, h0, W_x, W_h, b):
    from_x = x @ W_x.T + b
    h = torch.zeros_like(from_x[0])
    if h0 is not None:
        h = h + h0
    output = torch.empty_like(from_x)
    for t, z in enumerate(from_x.unbind(0)):
        h = torch.tanh(z + torch.matmul(h, W_h.t()))
        output[t] = h
    return output, h


@equivalent(ref.rnn)
def rnn_with_a_list_of_states(x, h0, W_x, W_h, b):
    T, N = x.size(0), x.size(1)
    H = b.numel()
    if h0 is None:
        h0 = torch.zeros(H, dtype=x.dtype, device=x.device)
    if h0.ndim == 1:
        h0 = h0.unsqueeze(0).repeat(N, 1)
    states = [h0]
    for t in range(T):
        states.append(ref.rnn_step(x[t], states[-1], W_x, W_h, b))
    return torch.stack(states[1:], dim=0), states[-1]


@equivalent(ref.rnn)
def rnn_by_recursion(x, h0, W_x, W_h, b):
    h = torch.zeros(x.shape[1], len(b)).to(x) if h0 is None else h0
    first = ref.rnn_step(x[0], h.broadcast_to(x.shape[1], len(b)), W_x, W_h, b)
    if len(x) == 1:
        return first[None], first
    output, last = rnn_by_recursion(x[1:], first, W_x, W_h, b)
    return torch.cat([first[None], output]), last
