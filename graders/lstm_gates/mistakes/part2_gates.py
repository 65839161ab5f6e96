"""Wrong gates: blocks read in another order, other non-linearities, and sigmoids that overflow."""

import torch
from torch import nn

from reference import lstm_gates as ref
from softmark import mistake


@mistake(
    ref.gates,
    id="L01",
    says="You read the blocks in the order i, f, o, g, so g and o are exchanged.",
    hint="The third block belongs to g, the fourth to o.",
)
def read_as_ifog(z):
    z_i, z_f, z_o, z_g = z.chunk(4, dim=-1)
    return torch.sigmoid(z_i), torch.sigmoid(z_f), torch.tanh(z_g), torch.sigmoid(z_o)


@mistake(
    ref.gates,
    id="L02",
    says="You exchanged the input gate and the forget gate.",
    hint="The first block belongs to i, the second to f, and they are returned in that order, too.",
)
def read_as_figo(z):
    z_f, z_i, z_g, z_o = z.chunk(4, dim=-1)
    return torch.sigmoid(z_i), torch.sigmoid(z_f), torch.tanh(z_g), torch.sigmoid(z_o)


@mistake(
    ref.gates,
    id="L03",
    says="You read the blocks in the order o, i, f, g.",
    hint="The order of the blocks is i, f, g, o.",
)
def read_as_oifg(z):
    z_o, z_i, z_f, z_g = z.chunk(4, dim=-1)
    return torch.sigmoid(z_i), torch.sigmoid(z_f), torch.tanh(z_g), torch.sigmoid(z_o)


@mistake(
    ref.gates,
    says="You read the blocks in the order i, g, f, o, as some other libraries pack them.",
    hint="The order of the blocks is i, f, g, o.",
)
def read_as_igfo(z):
    z_i, z_g, z_f, z_o = z.chunk(4, dim=-1)
    return torch.sigmoid(z_i), torch.sigmoid(z_f), torch.tanh(z_g), torch.sigmoid(z_o)


@mistake(
    ref.gates,
    says="Your gates are right, but you return them in the order i, f, o, g.",
    hint="The tuple has the order i, f, g, o.",
)
def returned_as_ifog(z):
    z_i, z_f, z_g, z_o = z.chunk(4, dim=-1)
    return torch.sigmoid(z_i), torch.sigmoid(z_f), torch.sigmoid(z_o), torch.tanh(z_g)


@mistake(
    ref.gates,
    says="You took every fourth entry of z for a gate; a gate's entries stand next to each other.",
    hint="z consists of four blocks of H entries, not of H groups of four.",
)
def interleaved(z):
    z_i, z_f, z_g, z_o = z.unflatten(-1, (z.shape[-1] // 4, 4)).unbind(-1)
    return torch.sigmoid(z_i), torch.sigmoid(z_f), torch.tanh(z_g), torch.sigmoid(z_o)


@mistake(
    ref.gates,
    id="L05",
    says="You sent g through the sigmoid, so nothing negative can ever be written to the cell.",
    hint="One of the four gates has another non-linearity than the rest.",
)
def sigmoid_cell_gate(z):
    return torch.sigmoid(z).chunk(4, dim=-1)


@mistake(
    ref.gates,
    id="L06",
    says="You sent o through tanh, so the output gate becomes negative.",
    hint="An output gate lies between 0 and 1.",
)
def tanh_output_gate(z):
    z_i, z_f, z_g, z_o = z.chunk(4, dim=-1)
    return torch.sigmoid(z_i), torch.sigmoid(z_f), torch.tanh(z_g), torch.tanh(z_o)


@mistake(
    ref.gates,
    says="You sent all four gates through tanh.",
    hint="A gate that says how much lies between 0 and 1; only one of the four says what.",
)
def tanh_everywhere(z):
    return torch.tanh(z).chunk(4, dim=-1)


@mistake(
    ref.gates,
    says="You left g as it is, without tanh.",
    hint="The cell gate lies between -1 and 1.",
)
def linear_cell_gate(z):
    z_i, z_f, z_g, z_o = z.chunk(4, dim=-1)
    return torch.sigmoid(z_i), torch.sigmoid(z_f), z_g, torch.sigmoid(z_o)


@mistake(
    ref.gates,
    says="You sent g through a ReLU, so nothing negative can ever be written to the cell.",
    hint="The cell gate lies between -1 and 1.",
)
def relu_cell_gate(z):
    z_i, z_f, z_g, z_o = z.chunk(4, dim=-1)
    return torch.sigmoid(z_i), torch.sigmoid(z_f), torch.relu(z_g), torch.sigmoid(z_o)


@mistake(
    ref.gates,
    says="You cut z into blocks but applied no non-linearity.",
    hint="Three of the blocks need a sigmoid, one needs tanh.",
)
def no_activation(z):
    return z.chunk(4, dim=-1)


@mistake(
    ref.gates,
    id="L47",
    says="You used a piecewise linear (hard) sigmoid.",
    hint="σ is the logistic function, which is nowhere linear.",
)
def hard_sigmoids(z):
    z_i, z_f, z_g, z_o = z.chunk(4, dim=-1)
    hard = nn.functional.hardsigmoid
    return hard(z_i), hard(z_f), torch.tanh(z_g), hard(z_o)


@mistake(
    ref.gates,
    says="Your sigmoid is twice as steep as the logistic function.",
    hint="If you write σ with tanh, look at the argument of the tanh.",
)
def steep_sigmoids(z):
    z_i, z_f, z_g, z_o = z.chunk(4, dim=-1)
    i, f, o = ((1 + torch.tanh(part)) / 2 for part in (z_i, z_f, z_o))
    return i, f, torch.tanh(z_g), o


@mistake(
    ref.gates,
    says="Your sigmoids are those of -z: open where they should be closed.",
    hint="σ(z) grows with z; look at the sign in the exponent.",
)
def sigmoids_of_minus_z(z):
    z_i, z_f, z_g, z_o = z.chunk(4, dim=-1)
    return torch.sigmoid(-z_i), torch.sigmoid(-z_f), torch.tanh(z_g), torch.sigmoid(-z_o)


@mistake(
    ref.gates,
    id="L45",
    says="You added 1 to the forget gate's input, a trick some libraries use; the equations here do not.",
    hint="The forget gate is σ of its block and nothing else.",
)
def forget_gate_shifted(z):
    z_i, z_f, z_g, z_o = z.chunk(4, dim=-1)
    return torch.sigmoid(z_i), torch.sigmoid(z_f + 1), torch.tanh(z_g), torch.sigmoid(z_o)


@mistake(
    ref.gates,
    says="Your sigmoid overflows for large z and gives NaN.",
    hint="exp of a large number is inf, and inf/inf is NaN; torch has functions that do not overflow.",
)
def overflowing_sigmoids(z):
    z_i, z_f, z_g, z_o = z.chunk(4, dim=-1)
    i, f, o = (torch.exp(part) / (1 + torch.exp(part)) for part in (z_i, z_f, z_o))
    return i, f, torch.tanh(z_g), o


@mistake(
    ref.gates,
    says="Your tanh overflows for large z and gives NaN.",
    hint="exp of a large number is inf, and inf/inf is NaN; torch has functions that do not overflow.",
)
def overflowing_tanh(z):
    z_i, z_f, z_g, z_o = z.chunk(4, dim=-1)
    g = (torch.exp(z_g) - torch.exp(-z_g)) / (torch.exp(z_g) + torch.exp(-z_g))
    return torch.sigmoid(z_i), torch.sigmoid(z_f), g, torch.sigmoid(z_o)
