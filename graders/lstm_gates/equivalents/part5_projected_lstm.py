"""Other right projections of the hidden state."""

import torch

from reference import lstm_gates as ref
from softmark import equivalent


@equivalent(ref.projected_lstm)
def step_by_step_with_lstm(x, h0, c0, W_ih, W_hh, b_ih, b_hh, W_hr):
    h = x.new_zeros(x.shape[1], W_hr.shape[0]) if h0 is None else h0
    c = x.new_zeros(x.shape[1], W_hr.shape[1]) if c0 is None else c0
    output = []
    for t in range(x.shape[0]):
        _, (wide, c) = ref.lstm(x[t : t + 1], h, c, W_ih, W_hh, b_ih, b_hh)
        h = torch.einsum("nh,ph->np", wide, W_hr)
        output.append(h)
    return torch.stack(output), (h, c)


@equivalent(ref.projected_lstm)
def with_projection_folded_into_weights(x, h0, c0, W_ih, W_hh, b_ih, b_hh, W_hr):
    P, H = W_hr.shape
    h = torch.zeros(x.shape[1], P).to(x) if h0 is None else h0
    c = torch.zeros(x.shape[1], H).to(x) if c0 is None else c0
    W_hh_r = W_hh @ W_hr
    from_h = h @ W_hh.T
    output = []
    for t in range(x.shape[0]):
        i, f, g, o = ref.gates(x[t] @ W_ih.T + b_ih + from_h + b_hh)
        wide, c = ref.next_state(i, f, g, o, c)
        from_h = wide @ W_hh_r.T
        output.append(wide)
    output = torch.stack(output) @ W_hr.T
    return output, (output[-1], c)
