"""Other right gradients of a step."""

import torch

from reference import lstm_gates as ref
from softmark import equivalent


@equivalent(ref.lstm_step_backward)
def gate_by_gate_backward(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    i, f, g, o = ref.gates(ref.gate_inputs(x, h, W_ih, W_hh, b_ih, b_hh))
    h_t, c_t = ref.next_state(i, f, g, o, c)
    s = torch.tanh(c_t)
    d = dc_t + o * dh_t * (1 - s) * (1 + s)
    dz = {"i": d * g * (i - i * i), "f": d * c * (f - f * f), "g": d * i * (1 - g * g)}
    dz["o"] = dh_t * h_t * (1 - o)
    W_x, W_h = W_ih.chunk(4), W_hh.chunk(4)
    dx = sum(dz[k] @ W_x[n] for n, k in enumerate("ifgo"))
    dh = sum(dz[k] @ W_h[n] for n, k in enumerate("ifgo"))
    dW_ih = torch.cat([torch.einsum("nh,nd->hd", dz[k], x) for k in "ifgo"])
    dW_hh = torch.cat([torch.einsum("nh,nk->hk", dz[k], h) for k in "ifgo"])
    db = torch.cat([dz[k].sum(0) for k in "ifgo"])
    return dx, dh, d * f, dW_ih, dW_hh, db, db


@equivalent(ref.lstm_step_backward)
def backward_over_the_batch(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    z_i, z_f, z_g, z_o = (x @ W_ih.T + h @ W_hh.T + b_ih + b_hh).chunk(4, dim=1)
    i, f, g, o = z_i.sigmoid(), z_f.sigmoid(), z_g.tanh(), z_o.sigmoid()
    c_t = f * c + i * g
    d = dc_t + dh_t * o / torch.cosh(c_t) ** 2
    dz = torch.cat(
        [
            d * g * z_i.sigmoid() * (-z_i).sigmoid(),
            d * c * z_f.sigmoid() * (-z_f).sigmoid(),
            d * i * (1 - g.square()),
            dh_t * c_t.tanh() * z_o.sigmoid() * (-z_o).sigmoid(),
        ],
        dim=1,
    )
    dW_ih, dW_hh, db = torch.zeros_like(W_ih), torch.zeros_like(W_hh), torch.zeros_like(b_ih)
    for n in range(x.shape[0]):
        dW_ih += torch.outer(dz[n], x[n])
        dW_hh += torch.outer(dz[n], h[n])
        db += dz[n]
    return [dz @ W_ih, dz @ W_hh, d * f, dW_ih, dW_hh, db, db.clone()]
