"""Right solutions of `lstm_gates` in other styles than the reference's; every one of them has full marks."""

import math

import torch
from torch import nn

from reference import lstm_gates as ref
from softmark.verdict import equivalent

# ------------------------------------------------------------------------------------------------------------
# Part 1: gate_inputs
# ------------------------------------------------------------------------------------------------------------


@equivalent(ref.gate_inputs)
def with_linear(x, h, W_ih, W_hh, b_ih, b_hh):
    return nn.functional.linear(x, W_ih, b_ih) + nn.functional.linear(h, W_hh, b_hh)


@equivalent(ref.gate_inputs)
def with_einsum(x, h, W_ih, W_hh, b_ih, b_hh):
    return torch.einsum("...d,kd->...k", x, W_ih) + torch.einsum("...h,kh->...k", h, W_hh) + b_ih + b_hh


@equivalent(ref.gate_inputs)
def with_fused_weights(x, h, W_ih, W_hh, b_ih, b_hh):
    both = torch.cat((h, x), dim=-1)
    return both @ torch.cat((W_hh, W_ih), dim=1).mT + (b_ih + b_hh)


@equivalent(ref.gate_inputs)
def gate_by_gate(x, h, W_ih, W_hh, b_ih, b_hh):
    H = b_ih.shape[0] // 4
    parts = []
    for k in range(4):
        rows = slice(k * H, (k + 1) * H)
        parts.append(x @ W_ih[rows].t() + b_ih[rows] + h @ W_hh[rows].t() + b_hh[rows])
    return torch.cat(parts, dim=-1)


@equivalent(ref.gate_inputs)
def with_columns(x, h, W_ih, W_hh, b_ih, b_hh):
    return (W_ih @ x.unsqueeze(-1) + W_hh @ h.unsqueeze(-1)).squeeze(-1) + (b_ih + b_hh)


@equivalent(ref.gate_inputs)
def with_flattened_batch(x, h, W_ih, W_hh, b_ih, b_hh):
    z = torch.addmm(b_ih, x.reshape(-1, x.shape[-1]), W_ih.t())
    z = z + torch.addmm(b_hh, h.reshape(-1, h.shape[-1]), W_hh.t())
    return z.reshape(*x.shape[:-1], -1)


# ------------------------------------------------------------------------------------------------------------
# Part 2: gates
# ------------------------------------------------------------------------------------------------------------


@equivalent(ref.gates)
def by_slices(z):
    H = z.size(-1) // 4
    i, f = z[..., :H].sigmoid(), z[..., H : 2 * H].sigmoid()
    return i, f, z[..., 2 * H : 3 * H].tanh(), z[..., 3 * H :].sigmoid()


@equivalent(ref.gates)
def sigmoid_by_tanh(z):
    z_i, z_f, z_g, z_o = torch.tensor_split(z, 4, dim=-1)
    i, f, o = (0.5 + 0.5 * torch.tanh(0.5 * part) for part in (z_i, z_f, z_o))
    return i, f, torch.tanh(z_g), o


@equivalent(ref.gates)
def tanh_by_sigmoid(z):
    i, f, g, o = z.unflatten(-1, (4, -1)).unbind(dim=-2)
    return torch.sigmoid(i), torch.sigmoid(f), 2 * torch.sigmoid(2 * g) - 1, torch.sigmoid(o)


@equivalent(ref.gates)
def sigmoid_by_hand(z):
    i, f, g, o = z.split(z.shape[-1] // 4, dim=-1)
    return 1 / (1 + torch.exp(-i)), 1 / (1 + (-f).exp()), torch.tanh(g), 1.0 / (1.0 + math.e**-o)


@equivalent(ref.gates)
def all_sigmoids_at_once(z):
    H = z.shape[-1] // 4
    s = torch.sigmoid(z)
    return [s[..., :H], s[..., H : 2 * H], torch.tanh(z[..., 2 * H : 3 * H]), s[..., 3 * H :]]


# ------------------------------------------------------------------------------------------------------------
# Part 3: next_state
# ------------------------------------------------------------------------------------------------------------


@equivalent(ref.next_state)
def with_addcmul(i, f, g, o, c):
    c_t = torch.addcmul(f * c, i, g)
    return torch.mul(o, c_t.tanh()), c_t


@equivalent(ref.next_state)
def in_place_on_own_tensors(i, f, g, o, c):
    c_t = c.clone()
    c_t *= f
    c_t += i * g
    h_t = torch.tanh(c_t)
    return h_t * o, c_t


# ------------------------------------------------------------------------------------------------------------
# Part 4: lstm
# ------------------------------------------------------------------------------------------------------------


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


# ------------------------------------------------------------------------------------------------------------
# Part 5: projected_lstm
# ------------------------------------------------------------------------------------------------------------


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


# ------------------------------------------------------------------------------------------------------------
# Part 6: LSTM
# ------------------------------------------------------------------------------------------------------------


@equivalent(ref.LSTM)
class OneParameterAtATime(nn.Module):
    """Names by setattr, states by index arithmetic, nn.functional.dropout."""

    def __init__(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
        super().__init__()
        self.H, self.L, self.R, self.p = hidden_size, num_layers, 1 + int(bidirectional), dropout
        for layer in range(self.L):
            width = input_size if layer == 0 else self.R * self.H
            for direction in range(self.R):
                end = f"_l{layer}" + ("_reverse" if direction == 1 else "")
                setattr(self, "weight_ih" + end, nn.Parameter(torch.zeros(4 * self.H, width)))
                setattr(self, "weight_hh" + end, nn.Parameter(torch.zeros(4 * self.H, self.H)))
                setattr(self, "bias_ih" + end, nn.Parameter(torch.zeros(4 * self.H)))
                setattr(self, "bias_hh" + end, nn.Parameter(torch.zeros(4 * self.H)))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -(self.H**-0.5), self.H**-0.5)

    def forward(self, x, state=None):
        if state is None:
            zeros = torch.zeros(self.L * self.R, x.size(1), self.H, dtype=x.dtype, device=x.device)
            state = (zeros, zeros)
        h_n, c_n = torch.empty_like(state[0]), torch.empty_like(state[1])
        for layer in range(self.L):
            if layer > 0:
                x = nn.functional.dropout(x, p=self.p, training=self.training)
            outputs = []
            for direction in range(self.R):
                row = layer * self.R + direction
                end = f"_l{layer}" + ("_reverse" if direction == 1 else "")
                w = [self.get_parameter(n + end) for n in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
                steps = torch.flip(x, dims=(0,)) if direction == 1 else x
                y, (h, c) = ref.lstm(steps, state[0][row], state[1][row], *w)
                outputs.append(torch.flip(y, dims=(0,)) if direction == 1 else y)
                h_n[row], c_n[row] = h, c
            x = torch.cat(outputs, dim=2)
        return x, (h_n, c_n)


@equivalent(ref.LSTM)
class DropoutByHand(nn.Module):
    """A mask drawn by hand, the backward direction by a loop over reversed time, own cell."""

    def __init__(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
        super().__init__()
        self.hidden_size, self.num_layers = hidden_size, num_layers
        self.p, self.bidirectional = dropout, bidirectional
        bound = 1.0 / math.sqrt(hidden_size)
        for layer in range(num_layers):
            in_size = input_size
            if layer > 0:
                in_size = 2 * hidden_size if bidirectional else hidden_size
            for suffix in ["", "_reverse"][: 2 if bidirectional else 1]:
                for name, shape in [
                    ("weight_ih", [4 * hidden_size, in_size]),
                    ("weight_hh", [4 * hidden_size, hidden_size]),
                    ("bias_ih", [4 * hidden_size]),
                    ("bias_hh", [4 * hidden_size]),
                ]:
                    value = (2 * torch.rand(shape) - 1) * bound
                    self.register_parameter(name + "_l" + str(layer) + suffix, nn.Parameter(value))

    def scan(self, x, h, c, suffix, order):
        weights = dict(self.named_parameters())
        outputs = [None] * len(x)
        for t in order:
            z = x[t] @ weights["weight_ih" + suffix].T + weights["bias_ih" + suffix]
            z = z + h @ weights["weight_hh" + suffix].T + weights["bias_hh" + suffix]
            i, f, g, o = z.chunk(4, -1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            outputs[t] = h
        return torch.stack(outputs), h, c

    def forward(self, x, state=None):
        T, N, _ = x.shape
        layers_h, layers_c = [], []
        rows = self.num_layers * (2 if self.bidirectional else 1)
        h0, c0 = state if state is not None else x.new_zeros(2, rows, N, self.hidden_size)
        for layer in range(self.num_layers):
            y, h, c = self.scan(x, h0[len(layers_h)], c0[len(layers_c)], f"_l{layer}", range(T))
            layers_h.append(h)
            layers_c.append(c)
            if self.bidirectional:
                start = h0[len(layers_h)], c0[len(layers_c)]
                back, h, c = self.scan(x, *start, f"_l{layer}_reverse", range(T - 1, -1, -1))
                layers_h.append(h)
                layers_c.append(c)
                y = torch.cat([y, back], dim=-1)
            x = y
            if self.training and self.p > 0 and layer + 1 < self.num_layers:
                x = x * torch.bernoulli(torch.full_like(x, 1 - self.p)) / (1 - self.p)
        return x, (torch.stack(layers_h), torch.stack(layers_c))


# ------------------------------------------------------------------------------------------------------------
# Part 7: lstm_step_backward
# ------------------------------------------------------------------------------------------------------------


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
