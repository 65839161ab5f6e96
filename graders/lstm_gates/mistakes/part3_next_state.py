"""Wrong next states: what is kept, what is written, and what is shown of it."""

import torch

from reference import lstm_gates as ref
from softmark import mistake


@mistake(
    ref.next_state,
    id="L07",
    says="You left out the tanh around the cell state in h.",
    hint="The hidden state always lies between -1 and 1.",
)
def no_tanh_on_cell(i, f, g, o, c):
    c_t = f * c + i * g
    return o * c_t, c_t


@mistake(
    ref.next_state,
    id="L09",
    says="You added the input gate to g instead of multiplying the two.",
    hint="A gate says how much of something passes: it multiplies.",
)
def input_gate_added(i, f, g, o, c):
    c_t = f * c + i + g
    return o * torch.tanh(c_t), c_t


@mistake(
    ref.next_state,
    id="L10",
    says="You multiplied g with the forget gate; the input gate is never used.",
    hint="Look at which gate decides what is written.",
)
def forget_gate_on_both(i, f, g, o, c):
    c_t = f * c + f * g
    return o * torch.tanh(c_t), c_t


@mistake(
    ref.next_state,
    id="L11",
    says="You used 1 - f as the input gate; the input gate i is never used.",
    hint="The two gates of this cell are not coupled.",
)
def coupled_gates(i, f, g, o, c):
    c_t = f * c + (1 - f) * g
    return o * torch.tanh(c_t), c_t


@mistake(
    ref.next_state,
    says="You left out the forget gate: the old cell state is kept whole.",
    hint="Both terms of the new cell state have a gate.",
)
def nothing_forgotten(i, f, g, o, c):
    c_t = c + i * g
    return o * torch.tanh(c_t), c_t


@mistake(
    ref.next_state,
    says="You left out the input gate: g is written whole.",
    hint="Both terms of the new cell state have a gate.",
)
def everything_written(i, f, g, o, c):
    c_t = f * c + g
    return o * torch.tanh(c_t), c_t


@mistake(
    ref.next_state,
    id="L02",
    says="You exchanged the input gate and the forget gate.",
    hint="The forget gate belongs to the old cell state, the input gate to g.",
)
def gates_exchanged(i, f, g, o, c):
    c_t = i * c + f * g
    return o * torch.tanh(c_t), c_t


@mistake(
    ref.next_state,
    says="Your forget gate works the wrong way round: f = 1 must keep the old cell state.",
    hint="The old cell state is multiplied by f itself.",
)
def forget_gate_inverted(i, f, g, o, c):
    c_t = (1 - f) * c + i * g
    return o * torch.tanh(c_t), c_t


@mistake(
    ref.next_state,
    says="You wrote the new cell state only from g; the old one is lost.",
    hint="The new cell state is a sum of two terms.",
)
def old_cell_lost(i, f, g, o, c):
    c_t = i * g
    return o * torch.tanh(c_t), c_t


@mistake(
    ref.next_state,
    says="You computed h from the old cell state.",
    hint="h_t shows the cell state after the update.",
)
def hidden_from_old_cell(i, f, g, o, c):
    c_t = f * c + i * g
    return o * torch.tanh(c), c_t


@mistake(
    ref.next_state,
    id="L19",
    says="You return the cell state first and the hidden state second.",
    hint="The order of the tuple is h, c.",
)
def cell_returned_first(i, f, g, o, c):
    c_t = f * c + i * g
    return c_t, o * torch.tanh(c_t)


@mistake(
    ref.next_state,
    says="You put the output gate inside the tanh.",
    hint="First tanh of the cell state, then the gate.",
)
def output_gate_inside_tanh(i, f, g, o, c):
    c_t = f * c + i * g
    return torch.tanh(o * c_t), c_t


@mistake(
    ref.next_state,
    says="You left out the output gate: the whole cell state is shown.",
    hint="h_t is gated, too.",
)
def no_output_gate(i, f, g, o, c):
    c_t = f * c + i * g
    return torch.tanh(c_t), c_t


@mistake(
    ref.next_state,
    says="You used a sigmoid on the cell state in h, so h can never be negative.",
    hint="Look at the non-linearity in the equation of h_t.",
)
def sigmoid_on_cell(i, f, g, o, c):
    c_t = f * c + i * g
    return o * torch.sigmoid(c_t), c_t


@mistake(
    ref.next_state,
    says="You applied tanh to g again; the g you are given has been through it.",
    hint="i, f, g and o come in finished.",
)
def tanh_of_cell_gate_again(i, f, g, o, c):
    c_t = f * c + i * torch.tanh(g)
    return o * torch.tanh(c_t), c_t


@mistake(
    ref.next_state,
    says="You applied the sigmoid to the gates again; the gates you are given have been through it.",
    hint="i, f, g and o come in finished.",
)
def sigmoids_again(i, f, g, o, c):
    c_t = torch.sigmoid(f) * c + torch.sigmoid(i) * g
    return torch.sigmoid(o) * torch.tanh(c_t), c_t


@mistake(
    ref.next_state,
    says="You keep tanh of the cell state as the cell state.",
    hint="The tanh belongs to h only: c is carried on as it is, and it may be larger than 1.",
)
def cell_squashed(i, f, g, o, c):
    c_t = torch.tanh(f * c + i * g)
    return o * c_t, c_t


@mistake(
    ref.next_state,
    id="L46",
    says="You clamp the cell state to the interval from -1 to 1.",
    hint="A cell state has no bounds.",
)
def cell_clamped(i, f, g, o, c):
    c_t = (f * c + i * g).clamp(-1, 1)
    return o * torch.tanh(c_t), c_t
