"""Right pieces of parts 4 to 7: a wrong solution is made of them, with one piece exchanged."""

import torch

from reference import lstm_gates as ref


def state_or_zeros(x, state, width):
    """Return the state before the first step: the given one, or zeros."""
    return x.new_zeros(x.shape[1], width) if state is None else state


def right_step(x_t, h, c, weights):
    """Take one step."""
    return ref.next_state(*ref.gates(ref.gate_inputs(x_t, h, *weights)), c)


def right_run(x, h0, c0, *weights):
    """Run a whole sequence."""
    H = weights[1].shape[0] // 4
    h, c = state_or_zeros(x, h0, H), state_or_zeros(x, c0, H)
    output = []
    for x_t in x:
        h, c = right_step(x_t, h, c, weights)
        output.append(h)
    return torch.stack(output), (h, c)


NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def parameters_of(self, k, suffix):
    """Return the four parameters of a layer and direction."""
    return [getattr(self, f"{name}_l{k}{suffix}") for name in NAMES]


def run_direction(self, k, suffix, x, h0, c0):
    """Run one layer in one direction."""
    if suffix == "":
        return ref.lstm(x, h0, c0, *parameters_of(self, k, suffix))
    y, state = ref.lstm(x.flip(0), h0, c0, *parameters_of(self, k, suffix))
    return y.flip(0), state


def row_of_state(self, k, suffix):
    """Return the row of the states that belongs to a layer and direction."""
    return k * len(self.suffixes) + self.suffixes.index(suffix)


def drop(self, x):
    """Apply dropout between two layers."""
    return self.dropout(x)


def leave(self, x):
    """Leave the input as it is, before the first layer and after the last."""
    return x


def side_by_side(halves):
    """Put the two directions together."""
    return torch.cat(halves, dim=-1)


def run_layers(
    self,
    x,
    state,
    run=run_direction,
    row=row_of_state,
    before=leave,
    between=drop,
    after=leave,
    join=side_by_side,
):
    """Run the forward pass of part 6, right unless another piece is put in."""
    h_n, c_n = [], []
    x = before(self, x)
    for k in range(self.num_layers):
        halves = []
        for suffix in self.suffixes:
            r = row(self, k, suffix)
            h0, c0 = (None, None) if state is None else (state[0][r], state[1][r])
            y, (h, c) = run(self, k, suffix, x, h0, c0)
            halves.append(y)
            h_n.append(h)
            c_n.append(c)
        x = join(halves)
        x = between(self, x) if k < self.num_layers - 1 else after(self, x)
    return x, (torch.stack(h_n), torch.stack(c_n))


def forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh):
    """Return z, the gates and tanh(c_t) of the step's forward pass."""
    z = ref.gate_inputs(x, h, W_ih, W_hh, b_ih, b_hh)
    i, f, g, o = ref.gates(z)
    _, c_t = ref.next_state(i, f, g, o, c)
    return z, i, f, g, o, torch.tanh(c_t)


def from_gates(di, df, dg, do, i, f, g, o):
    """Return dz, given the gradients of the gates."""
    return torch.cat([di * i * (1 - i), df * f * (1 - f), dg * (1 - g**2), do * o * (1 - o)], dim=-1)


def from_z(dz, dc, x, h, W_ih, W_hh):
    """Return all results of part 7, given dz and dc."""
    return dz @ W_ih, dz @ W_hh, dc, dz.T @ x, dz.T @ h, dz.sum(dim=0), dz.sum(dim=0)


def backward_step(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    """Run part 7."""
    _, i, f, g, o, tanh_c = forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh)
    dc_all = dc_t + dh_t * o * (1 - tanh_c**2)
    dz = from_gates(dc_all * g, dc_all * c, dc_all * i, dh_t * tanh_c, i, f, g, o)
    return from_z(dz, dc_all * f, x, h, W_ih, W_hh)
