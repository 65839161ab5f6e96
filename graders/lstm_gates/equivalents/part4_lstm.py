"""Other right sequences, some without the functions of one step."""

import torch
from torch import nn

from reference import lstm_gates as ref
from softmark import equivalent


@equivalent(ref.lstm)
def into_an_empty_tensor(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    T, N, H = x.size(0), x.size(1), W_hh.size(1)
    h = h0 if h0 is not None else torch.zeros(N, H, dtype=x.dtype, device=x.device)
    c = c0 if c0 is not None else torch.zeros(N, H, dtype=x.dtype, device=x.device)
    output = torch.empty(T, N, H, dtype=x.dtype, device=x.device)
    for t in range(T):
        h, c = ref.next_state(*ref.gates(ref.gate_inputs(x[t], h, W_ih, W_hh, b_ih, b_hh)), c)
        output[t] = h
    return output, (h, c)


@equivalent(ref.lstm)
def inputs_of_all_steps_first(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    H = W_hh.shape[-1]
    if h0 is None:
        h0 = x.new_zeros((x.shape[1], H))
    if c0 is None:
        c0 = torch.zeros_like(h0)
    h, c = h0, c0
    steps = []
    for from_x in (x @ W_ih.T + (b_ih + b_hh)).unbind(0):
        i, f, g, o = (from_x + h @ W_hh.T).chunk(4, dim=1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        steps.append(h.unsqueeze(0))
    return torch.cat(steps, dim=0), (h, c)


@equivalent(ref.lstm)
def gate_by_gate_over_time(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    W_ii, W_if, W_ig, W_io = W_ih.chunk(4)
    W_hi, W_hf, W_hg, W_ho = W_hh.chunk(4)
    b_i, b_f, b_g, b_o = (b_ih + b_hh).chunk(4)
    h = x.new_zeros(x.shape[1], W_hi.shape[0]) if h0 is None else h0
    c = x.new_zeros(x.shape[1], W_hi.shape[0]) if c0 is None else c0
    hs = []
    for x_t in x:
        i = torch.sigmoid(x_t @ W_ii.T + h @ W_hi.T + b_i)
        f = torch.sigmoid(x_t @ W_if.T + h @ W_hf.T + b_f)
        g = torch.tanh(x_t @ W_ig.T + h @ W_hg.T + b_g)
        o = torch.sigmoid(x_t @ W_io.T + h @ W_ho.T + b_o)
        c = f * c + i * g
        h = o * torch.tanh(c)
        hs.append(h)
    output = torch.stack(hs, dim=0)
    return output, (output[-1], c)


@equivalent(ref.lstm)
def with_linear_modules(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    zeros = 0 * x[0, :, :1].expand(-1, W_hh.shape[1])
    state = (zeros if h0 is None else h0, zeros if c0 is None else c0)
    output = []
    for t in range(x.shape[0]):
        z = nn.functional.linear(x[t], W_ih, b_ih) + nn.functional.linear(state[0], W_hh, b_hh)
        i, f, g, o = torch.split(z, W_hh.shape[1], dim=-1)
        c = f.sigmoid() * state[1] + i.sigmoid() * g.tanh()
        state = (o.sigmoid() * c.tanh(), c)
        output += [state[0]]
    return torch.stack(output), state
