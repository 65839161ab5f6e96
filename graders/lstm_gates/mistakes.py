"""Wrong solutions of `lstm_gates`, each with one mistake and the words that name it to a student."""

import torch
from torch import nn

from reference import lstm_gates as ref
from softmark.verdict import mistake

# ------------------------------------------------------------------------------------------------------------
# Part 1: gate_inputs
# ------------------------------------------------------------------------------------------------------------


@mistake(
    ref.gate_inputs,
    id="L13",
    says="Your gates do not see the previous hidden state: the term with W_hh and h is missing.",
    hint="The equation of every gate has two products, one with x_t and one with h_{t-1}.",
)
def no_state(x, h, W_ih, W_hh, b_ih, b_hh):
    return x @ W_ih.T + b_ih + b_hh


@mistake(
    ref.gate_inputs,
    says="Your gates do not see the input: the term with W_ih and x is missing.",
    hint="The equation of every gate has two products, one with x_t and one with h_{t-1}.",
)
def no_input(x, h, W_ih, W_hh, b_ih, b_hh):
    return h @ W_hh.T + b_ih + b_hh


@mistake(
    ref.gate_inputs,
    id="L14",
    says="You left out the bias b_hh.",
    hint="Each of the two products has a bias of its own.",
)
def no_state_bias(x, h, W_ih, W_hh, b_ih, b_hh):
    return x @ W_ih.T + h @ W_hh.T + b_ih


@mistake(
    ref.gate_inputs,
    says="You left out the bias b_ih.",
    hint="Each of the two products has a bias of its own.",
)
def no_input_bias(x, h, W_ih, W_hh, b_ih, b_hh):
    return x @ W_ih.T + h @ W_hh.T + b_hh


@mistake(
    ref.gate_inputs,
    says="You left out both biases.",
    hint="Each of the two products has a bias of its own.",
)
def no_biases(x, h, W_ih, W_hh, b_ih, b_hh):
    return x @ W_ih.T + h @ W_hh.T


@mistake(
    ref.gate_inputs,
    id="L15",
    says="You added b_ih twice, once where b_hh belongs.",
    hint="Look at which bias goes with the product with h.",
)
def input_bias_twice(x, h, W_ih, W_hh, b_ih, b_hh):
    return x @ W_ih.T + b_ih + h @ W_hh.T + b_ih


@mistake(
    ref.gate_inputs,
    says="You added b_hh twice, once where b_ih belongs.",
    hint="Look at which bias goes with the product with x.",
)
def state_bias_twice(x, h, W_ih, W_hh, b_ih, b_hh):
    return x @ W_ih.T + b_hh + h @ W_hh.T + b_hh


@mistake(
    ref.gate_inputs,
    id="L18",
    says="You reshaped the weights to (in, out) instead of transposing them, which mixes their rows.",
    hint="Row k of W_ih belongs to output k; a reshape does not turn rows into columns.",
)
def weights_reshaped(x, h, W_ih, W_hh, b_ih, b_hh):
    from_x = x @ W_ih.reshape(x.shape[-1], -1) + b_ih
    from_h = h @ W_hh.reshape(h.shape[-1], -1) + b_hh
    return from_x + from_h


@mistake(
    ref.gate_inputs,
    id="R03",
    says="You stacked h above x, but the weights the other way round, so W_ih multiplies a part of h.",
    hint="When you join vectors and matrices, join both in the same order.",
)
def stacked_in_another_order(x, h, W_ih, W_hh, b_ih, b_hh):
    return torch.cat([h, x], dim=-1) @ torch.cat([W_ih, W_hh], dim=1).T + b_ih + b_hh


@mistake(
    ref.gate_inputs,
    id="L01",
    says="Your four blocks come out in the order i, f, o, g.",
    hint="The blocks of z have the order of the blocks of the weights: i, f, g, o.",
)
def blocks_ordered_ifog(x, h, W_ih, W_hh, b_ih, b_hh):
    z_i, z_f, z_g, z_o = (x @ W_ih.T + b_ih + h @ W_hh.T + b_hh).chunk(4, dim=-1)
    return torch.cat([z_i, z_f, z_o, z_g], dim=-1)


@mistake(
    ref.gate_inputs,
    says="You applied the sigmoids and the tanh already; this part asks for what goes into them.",
    hint="Leave the non-linearities to part 2.",
)
def activated_too_early(x, h, W_ih, W_hh, b_ih, b_hh):
    z_i, z_f, z_g, z_o = (x @ W_ih.T + b_ih + h @ W_hh.T + b_hh).chunk(4, dim=-1)
    return torch.cat([torch.sigmoid(z_i), torch.sigmoid(z_f), torch.tanh(z_g), torch.sigmoid(z_o)], dim=-1)


@mistake(
    ref.gate_inputs,
    id="L45",
    says="You added 1 to the inputs of the forget gate; some libraries do, these equations do not.",
    hint="Use the biases as they are given.",
)
def forget_bias_of_one(x, h, W_ih, W_hh, b_ih, b_hh):
    z_i, z_f, z_g, z_o = (x @ W_ih.T + b_ih + h @ W_hh.T + b_hh).chunk(4, dim=-1)
    return torch.cat([z_i, z_f + 1, z_g, z_o], dim=-1)


# ------------------------------------------------------------------------------------------------------------
# Part 2: gates
# ------------------------------------------------------------------------------------------------------------


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


# ------------------------------------------------------------------------------------------------------------
# Part 3: next_state
# ------------------------------------------------------------------------------------------------------------


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


# ------------------------------------------------------------------------------------------------------------
# Part 4: lstm
# ------------------------------------------------------------------------------------------------------------


def state_or_zeros(x, state, width):
    """The state before the first step: what is given, or zeros."""
    return x.new_zeros(x.shape[1], width) if state is None else state


def right_step(x_t, h, c, weights):
    """One right step."""
    return ref.next_state(*ref.gates(ref.gate_inputs(x_t, h, *weights)), c)


def right_run(x, h0, c0, *weights):
    """A whole sequence, right."""
    H = weights[1].shape[0] // 4
    h, c = state_or_zeros(x, h0, H), state_or_zeros(x, c0, H)
    output = []
    for x_t in x:
        h, c = right_step(x_t, h, c, weights)
        output.append(h)
    return torch.stack(output), (h, c)


@mistake(
    ref.lstm,
    id="R09",
    says="You start every step from the initial state, so nothing is remembered.",
    hint="The state after a step is the state before the next one.",
)
def state_not_carried(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    H = W_hh.shape[0] // 4
    output = []
    for x_t in x:
        h, c = right_step(x_t, state_or_zeros(x, h0, H), state_or_zeros(x, c0, H), (W_ih, W_hh, b_ih, b_hh))
        output.append(h)
    return torch.stack(output), (h, c)


@mistake(
    ref.lstm,
    id="L25",
    says="You carry c from step to step, but every step reads the initial h.",
    hint="Both h and c of a step go into the next one.",
)
def hidden_not_carried(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    H = W_hh.shape[0] // 4
    h_first, c = state_or_zeros(x, h0, H), state_or_zeros(x, c0, H)
    output = []
    for x_t in x:
        h, c = right_step(x_t, h_first, c, (W_ih, W_hh, b_ih, b_hh))
        output.append(h)
    return torch.stack(output), (h, c)


@mistake(
    ref.lstm,
    says="Your h stays the initial one: every step reads it, and you return it as the final state.",
    hint="Both h and c of a step go into the next one.",
)
def hidden_never_replaced(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    H = W_hh.shape[0] // 4
    h, c = state_or_zeros(x, h0, H), state_or_zeros(x, c0, H)
    output = []
    for x_t in x:
        h_new, c = right_step(x_t, h, c, (W_ih, W_hh, b_ih, b_hh))
        output.append(h_new)
    return torch.stack(output), (h, c)


@mistake(
    ref.lstm,
    says="You loop over the second axis of x as if it were time; here the first axis is time, the second the batch.",
    hint="x is (T, N, D): which of its axes does the loop have to run over?",
)
def second_axis_as_time(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    H = W_hh.shape[0] // 4
    h, c = state_or_zeros(x, h0, H), state_or_zeros(x, c0, H)
    output = []
    for x_t in x.unbind(1):
        h, c = right_step(x_t, h, c, (W_ih, W_hh, b_ih, b_hh))
        output.append(h)
    return torch.stack(output), (h, c)


@mistake(
    ref.lstm,
    says="You carry h from step to step, but every step reads the initial c.",
    hint="Both h and c of a step go into the next one.",
)
def cell_not_carried(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    H = W_hh.shape[0] // 4
    h, c_first = state_or_zeros(x, h0, H), state_or_zeros(x, c0, H)
    output = []
    for x_t in x:
        h, c = right_step(x_t, h, c_first, (W_ih, W_hh, b_ih, b_hh))
        output.append(h)
    return torch.stack(output), (h, c)


@mistake(
    ref.lstm,
    id="R42",
    says="You ignore both initial states and start from zeros.",
    hint="Zeros are only for a state that is None.",
)
def initial_state_ignored(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    return right_run(x, None, None, W_ih, W_hh, b_ih, b_hh)


@mistake(
    ref.lstm,
    says="You ignore h0 and start from zeros.",
    hint="Zeros are only for a state that is None.",
)
def initial_hidden_ignored(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    return right_run(x, None, c0, W_ih, W_hh, b_ih, b_hh)


@mistake(
    ref.lstm,
    says="You ignore c0 and start from zeros.",
    hint="Zeros are only for a state that is None.",
)
def initial_cell_ignored(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    return right_run(x, h0, None, W_ih, W_hh, b_ih, b_hh)


@mistake(
    ref.lstm,
    says="You use the initial states only if both are given.",
    hint="h0 and c0 may be None one without the other.",
)
def initial_states_both_or_none(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    if h0 is None or c0 is None:
        h0, c0 = None, None
    return right_run(x, h0, c0, W_ih, W_hh, b_ih, b_hh)


@mistake(
    ref.lstm,
    says="You exchanged the two initial states.",
    hint="h0 is the hidden state, c0 the cell state.",
)
def initial_states_exchanged(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    return right_run(x, c0, h0, W_ih, W_hh, b_ih, b_hh)


@mistake(
    ref.lstm,
    id="L42",
    says="You start from ones where the state is None.",
    hint="A state that is not given is zero.",
)
def ones_for_none(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    ones = x.new_ones(x.shape[1], W_hh.shape[0] // 4)
    h0 = ones if h0 is None else h0
    c0 = ones if c0 is None else c0
    return right_run(x, h0, c0, W_ih, W_hh, b_ih, b_hh)


@mistake(
    ref.lstm,
    id="L21",
    says="You do not fill in zeros where the initial state is None.",
    hint="h0 and c0 may be None: test for it before the first step.",
)
def none_not_filled_in(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    h, c = h0, c0
    output = []
    for x_t in x:
        h, c = right_step(x_t, h, c, (W_ih, W_hh, b_ih, b_hh))
        output.append(h)
    return torch.stack(output), (h, c)


@mistake(
    ref.lstm,
    id="L22",
    says="Your zero state is made in torch's default dtype on the CPU, not in those of x.",
    hint="Make new tensors from one you were given, so that dtype and device follow.",
)
def zeros_of_default_dtype(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    zeros = torch.zeros(x.shape[1], W_hh.shape[0] // 4)
    h0 = zeros if h0 is None else h0
    c0 = zeros if c0 is None else c0
    return right_run(x, h0, c0, W_ih, W_hh, b_ih, b_hh)


@mistake(
    ref.lstm,
    id="L26",
    says="The final state you return is that of the first step.",
    hint="h and c are those after the last step.",
)
def state_of_first_step(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    output, _ = right_run(x, h0, c0, W_ih, W_hh, b_ih, b_hh)
    _, state = right_run(x[:1], h0, c0, W_ih, W_hh, b_ih, b_hh)
    return output, state


@mistake(
    ref.lstm,
    says="You return the final state as (c, h).",
    hint="The order of the pair is h, c.",
)
def final_state_swapped(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    output, (h, c) = right_run(x, h0, c0, W_ih, W_hh, b_ih, b_hh)
    return output, (c, h)


@mistake(
    ref.lstm,
    id="R14",
    says="You return the final state first and the outputs second.",
    hint="The order is output, (h, c).",
)
def state_returned_first(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    output, state = right_run(x, h0, c0, W_ih, W_hh, b_ih, b_hh)
    return state, output


@mistake(
    ref.lstm,
    id="L27",
    says="Your final states have an additional axis in front.",
    hint="One layer's h and c are (N, H); the axis for layers comes with part 6.",
)
def layer_axis_added(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    output, (h, c) = right_run(x, h0, c0, W_ih, W_hh, b_ih, b_hh)
    return output, (h[None], c[None])


@mistake(
    ref.lstm,
    says="Your outputs are the cell states.",
    hint="What a step puts out is its hidden state.",
)
def cells_as_output(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    H = W_hh.shape[0] // 4
    h, c = state_or_zeros(x, h0, H), state_or_zeros(x, c0, H)
    output = []
    for x_t in x:
        h, c = right_step(x_t, h, c, (W_ih, W_hh, b_ih, b_hh))
        output.append(c)
    return torch.stack(output), (h, c)


@mistake(
    ref.lstm,
    says="Your outputs are one step late: you store h before the step instead of after it.",
    hint="output[0] is h_1, which has seen x[0].",
)
def output_one_step_late(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    H = W_hh.shape[0] // 4
    h, c = state_or_zeros(x, h0, H), state_or_zeros(x, c0, H)
    output = []
    for x_t in x:
        output.append(h)
        h, c = right_step(x_t, h, c, (W_ih, W_hh, b_ih, b_hh))
    return torch.stack(output), (h, c)


@mistake(
    ref.lstm,
    id="R45",
    says="Your outputs come in reverse order of time.",
    hint="output[0] belongs to the first step.",
)
def output_reversed(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    output, state = right_run(x, h0, c0, W_ih, W_hh, b_ih, b_hh)
    return output.flip(0), state


@mistake(
    ref.lstm,
    says="You read the sequence from its end to its beginning.",
    hint="Step t reads x[t], and t grows.",
)
def read_backwards(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    return right_run(x.flip(0), h0, c0, W_ih, W_hh, b_ih, b_hh)


@mistake(
    ref.lstm,
    id="R15",
    says="You stacked the outputs along the second axis, so time and batch are exchanged.",
    hint="The output is (T, N, H), time first.",
)
def stacked_on_axis_one(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    output, state = right_run(x, h0, c0, W_ih, W_hh, b_ih, b_hh)
    return output.transpose(0, 1), state


@mistake(
    ref.lstm,
    id="R07",
    says="You exchanged time and batch with a reshape, which mixes the sequences.",
    hint="A reshape does not exchange axes, and x is time first already.",
)
def axes_swapped_by_reshape(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    T, N, D = x.shape
    return right_run(x.reshape(N, T, D).transpose(0, 1), h0, c0, W_ih, W_hh, b_ih, b_hh)


@mistake(
    ref.lstm,
    id="L50",
    says="All sequences of the batch get the result of the last one.",
    hint="Look for a variable that a loop over the batch leaves behind.",
)
def last_sequence_for_all(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    output, (h, c) = right_run(x, h0, c0, W_ih, W_hh, b_ih, b_hh)
    return output[:, -1:].expand_as(output), (h[-1:].expand_as(h), c[-1:].expand_as(c))


@mistake(
    ref.lstm,
    says="Your sequences are computed one by one, in a loop over the batch.",
    hint="Each of your operations can work on all rows of x[t] at once.",
)
def loop_over_batch(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    outputs, hs, cs = [], [], []
    for n in range(x.shape[1]):
        h_n = None if h0 is None else h0[n : n + 1]
        c_n = None if c0 is None else c0[n : n + 1]
        output, (h, c) = right_run(x[:, n : n + 1], h_n, c_n, W_ih, W_hh, b_ih, b_hh)
        outputs.append(output)
        hs.append(h)
        cs.append(c)
    return torch.cat(outputs, dim=1), (torch.cat(hs), torch.cat(cs))


@mistake(
    ref.lstm,
    id="L17",
    says="You add the biases to the gates, after the σ or tanh.",
    hint="The biases stand inside the non-linearity: a gate lies between 0 and 1.",
)
def biases_after_activation(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    H = W_hh.shape[0] // 4
    h, c = state_or_zeros(x, h0, H), state_or_zeros(x, c0, H)
    output = []
    for x_t in x:
        z = ref.gate_inputs(x_t, h, W_ih, W_hh, torch.zeros_like(b_ih), torch.zeros_like(b_hh))
        i, f, g, o = (gate + b for gate, b in zip(ref.gates(z), (b_ih + b_hh).chunk(4), strict=True))
        h, c = ref.next_state(i, f, g, o, c)
        output.append(h)
    return torch.stack(output), (h, c)


@mistake(
    ref.lstm,
    id="R27",
    says="You cut the gradient between the steps, so no step learns from the later ones.",
    hint="Look for detach, .data, item or no_grad on the way from one step to the next.",
)
def detached_between_steps(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    H = W_hh.shape[0] // 4
    h, c = state_or_zeros(x, h0, H), state_or_zeros(x, c0, H)
    output = []
    for x_t in x:
        h, c = right_step(x_t, h.detach(), c.detach(), (W_ih, W_hh, b_ih, b_hh))
        output.append(h)
    return torch.stack(output), (h, c)


@mistake(
    ref.lstm,
    says="You overwrite the caller's h0 and c0 with the final state.",
    hint="Operations ending in an underscore and assignments to h[:] change the tensor you were given.",
)
def initial_state_overwritten(x, h0, c0, W_ih, W_hh, b_ih, b_hh):
    output, (h, c) = right_run(x, h0, c0, W_ih, W_hh, b_ih, b_hh)
    if h0 is not None:
        h0.data.copy_(h.data)
    if c0 is not None:
        c0.data.copy_(c.data)
    return output, (h, c)


# ------------------------------------------------------------------------------------------------------------
# Part 5: projected_lstm
# ------------------------------------------------------------------------------------------------------------


def unroll_projected(x, h0, c0, weights, W_hr, project):
    """The layer of part 5 with another projection: h = project(o, c)."""
    P, H = W_hr.shape
    h, c = state_or_zeros(x, h0, P), state_or_zeros(x, c0, H)
    output = []
    for x_t in x:
        i, f, g, o = ref.gates(ref.gate_inputs(x_t, h, *weights))
        h_wide, c = ref.next_state(i, f, g, o, c)
        h = project(h_wide, o, c)
        output.append(h)
    return torch.stack(output), (h, c)


@mistake(
    ref.projected_lstm,
    says="You reshaped W_hr instead of transposing it.",
    hint="Row p of W_hr makes feature p of the projected state.",
)
def projection_reshaped(x, h0, c0, W_ih, W_hh, b_ih, b_hh, W_hr):
    P, H = W_hr.shape
    weights = (W_ih, W_hh, b_ih, b_hh)
    return unroll_projected(x, h0, c0, weights, W_hr, lambda h_wide, o, c: h_wide @ W_hr.reshape(H, P))


@mistake(
    ref.projected_lstm,
    says="You projected the cell state instead of the hidden state.",
    hint="What is projected is o ⊙ tanh(c).",
)
def cell_projected(x, h0, c0, W_ih, W_hh, b_ih, b_hh, W_hr):
    weights = (W_ih, W_hh, b_ih, b_hh)
    return unroll_projected(x, h0, c0, weights, W_hr, lambda h_wide, o, c: c @ W_hr.T)


@mistake(
    ref.projected_lstm,
    says="You projected tanh(c) without the output gate.",
    hint="What is projected is the whole hidden state of part 3.",
)
def projected_without_output_gate(x, h0, c0, W_ih, W_hh, b_ih, b_hh, W_hr):
    weights = (W_ih, W_hh, b_ih, b_hh)
    return unroll_projected(x, h0, c0, weights, W_hr, lambda h_wide, o, c: torch.tanh(c) @ W_hr.T)


@mistake(
    ref.projected_lstm,
    says="You squashed the projected state with another tanh.",
    hint="The projection is linear and comes last.",
)
def tanh_after_projection(x, h0, c0, W_ih, W_hh, b_ih, b_hh, W_hr):
    weights = (W_ih, W_hh, b_ih, b_hh)
    return unroll_projected(x, h0, c0, weights, W_hr, lambda h_wide, o, c: torch.tanh(h_wide @ W_hr.T))


@mistake(
    ref.projected_lstm,
    says="You cut h to its first P features instead of projecting it: W_hr is never used.",
    hint="The projection is a product with W_hr.",
)
def cut_instead_of_projected(x, h0, c0, W_ih, W_hh, b_ih, b_hh, W_hr):
    weights = (W_ih, W_hh, b_ih, b_hh)
    return unroll_projected(x, h0, c0, weights, W_hr, lambda h_wide, o, c: h_wide[:, : W_hr.shape[0]])


@mistake(
    ref.projected_lstm,
    says="Your outputs are the hidden states before the projection.",
    hint="The outputs are P wide: they are what the next step reads.",
)
def unprojected_output(x, h0, c0, W_ih, W_hh, b_ih, b_hh, W_hr):
    P, H = W_hr.shape
    h, c = state_or_zeros(x, h0, P), state_or_zeros(x, c0, H)
    output = []
    for x_t in x:
        h_wide, c = right_step(x_t, h, c, (W_ih, W_hh, b_ih, b_hh))
        h = h_wide @ W_hr.T
        output.append(h_wide)
    return torch.stack(output), (h, c)


@mistake(
    ref.projected_lstm,
    says="You project the outputs only: the next step and the final state get h before the projection.",
    hint="W_hh is (4H, P): what does the next step read?",
)
def output_projected_only(x, h0, c0, W_ih, W_hh, b_ih, b_hh, W_hr):
    P, H = W_hr.shape
    h, c = state_or_zeros(x, h0, P), state_or_zeros(x, c0, H)
    output = []
    for x_t in x:
        h, c = right_step(x_t, h, c, (W_ih, W_hh, b_ih, b_hh))
        output.append(h @ W_hr.T)
    return torch.stack(output), (h, c)


@mistake(
    ref.projected_lstm,
    says="You project the cell state, too; it stays H wide.",
    hint="The equation of c_t is the one of part 3.",
)
def cell_projected_too(x, h0, c0, W_ih, W_hh, b_ih, b_hh, W_hr):
    P, H = W_hr.shape
    h, c = state_or_zeros(x, h0, P), state_or_zeros(x, c0, H)
    output = []
    for x_t in x:
        h, c = right_step(x_t, h, c, (W_ih, W_hh, b_ih, b_hh))
        h, c = h @ W_hr.T, c @ W_hr.T
        output.append(h)
    return torch.stack(output), (h, c)


@mistake(
    ref.projected_lstm,
    says="You return the last hidden state before its projection.",
    hint="h is P wide, like every output.",
)
def unprojected_state(x, h0, c0, W_ih, W_hh, b_ih, b_hh, W_hr):
    P, H = W_hr.shape
    h, c = state_or_zeros(x, h0, P), state_or_zeros(x, c0, H)
    output = []
    for x_t in x:
        h_wide, c = right_step(x_t, h, c, (W_ih, W_hh, b_ih, b_hh))
        h = h_wide @ W_hr.T
        output.append(h)
    return torch.stack(output), (h_wide, c)


@mistake(
    ref.projected_lstm,
    id="L25",
    says="Every step of yours reads the initial h instead of the projected h of the step before.",
    hint="The projected hidden state is what the next step reads.",
)
def projected_hidden_not_carried(x, h0, c0, W_ih, W_hh, b_ih, b_hh, W_hr):
    P, H = W_hr.shape
    h_first, c = state_or_zeros(x, h0, P), state_or_zeros(x, c0, H)
    output = []
    for x_t in x:
        h_wide, c = right_step(x_t, h_first, c, (W_ih, W_hh, b_ih, b_hh))
        h = h_wide @ W_hr.T
        output.append(h)
    return torch.stack(output), (h, c)


@mistake(
    ref.projected_lstm,
    id="R42",
    says="You ignore h0 and c0 and start from zeros.",
    hint="Zeros are only for a state that is None.",
)
def projected_initial_state_ignored(x, h0, c0, W_ih, W_hh, b_ih, b_hh, W_hr):
    weights = (W_ih, W_hh, b_ih, b_hh)
    return unroll_projected(x, None, None, weights, W_hr, lambda h_wide, o, c: h_wide @ W_hr.T)


@mistake(
    ref.projected_lstm,
    id="L33",
    says="Where a state is None, your zeros for h have the width of the cell.",
    hint="h is P wide and c is H wide.",
)
def zero_states_of_one_width(x, h0, c0, W_ih, W_hh, b_ih, b_hh, W_hr):
    H = W_hr.shape[1]
    weights = (W_ih, W_hh, b_ih, b_hh)
    return unroll_projected(x, state_or_zeros(x, h0, H), c0, weights, W_hr, lambda h_wide, o, c: h_wide @ W_hr.T)


# ------------------------------------------------------------------------------------------------------------
# Part 6: LSTM
# ------------------------------------------------------------------------------------------------------------

NAMES = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def parameters_of(self, k, suffix):
    """The four parameters of a layer and direction."""
    return [getattr(self, f"{name}_l{k}{suffix}") for name in NAMES]


def run_direction(self, k, suffix, x, h0, c0):
    """One layer in one direction, right."""
    if suffix == "":
        return ref.lstm(x, h0, c0, *parameters_of(self, k, suffix))
    y, state = ref.lstm(x.flip(0), h0, c0, *parameters_of(self, k, suffix))
    return y.flip(0), state


def row_of_state(self, k, suffix):
    """Which row of the states belongs to a layer and direction, right."""
    return k * len(self.suffixes) + self.suffixes.index(suffix)


def drop(self, x):
    """What happens between two layers, right."""
    return self.dropout(x)


def leave(self, x):
    """What happens before the first layer and after the last, right."""
    return x


def side_by_side(halves):
    """The two directions put together, right."""
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
    """The forward pass of part 6; what is right unless another piece is put in."""
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


def run_with_cells_below(self, k, suffix, x, h0, c0):
    y, state = run_direction(self, k, suffix, x, h0, c0)
    if k == self.num_layers - 1:
        return y, state
    steps = x if suffix == "" else x.flip(0)
    h, c, cells = h0, c0, []
    for t in range(len(steps)):
        _, (h, c) = ref.lstm(steps[t : t + 1], h, c, *parameters_of(self, k, suffix))
        cells.append(c)
    y = torch.stack(cells)
    return (y if suffix == "" else y.flip(0)), state


@mistake(
    ref.LSTM.forward,
    id="L29",
    says="Your upper layers read the cell states of the layer below.",
    hint="The input of layer 1 is the output of layer 0: its hidden states.",
)
def upper_layers_read_cells(self, x, state=None):
    return run_layers(self, x, state, run=run_with_cells_below)


def run_upper_layers_alike(self, k, suffix, x, h0, c0):
    return run_direction(self, min(k, 1), suffix, x, h0, c0)


@mistake(
    ref.LSTM.forward,
    id="R11",
    says="All your layers above layer 0 use the weights of layer 1.",
    hint="Every layer has parameters of its own; look at the names you read them by.",
)
def upper_layers_share_weights(self, x, state=None):
    return run_layers(self, x, state, run=run_upper_layers_alike)


@mistake(
    ref.LSTM.forward,
    id="L49",
    says="You run layer 0 only.",
    hint="num_layers says how many layers read one another's output.",
)
def first_layer_only(self, x, state=None):
    halves, h_n, c_n = [], [], []
    for row, suffix in enumerate(self.suffixes):
        h0, c0 = (None, None) if state is None else (state[0][row], state[1][row])
        y, (h, c) = run_direction(self, 0, suffix, x, h0, c0)
        halves.append(y)
        h_n.append(h)
        c_n.append(c)
    return torch.cat(halves, dim=-1), (torch.stack(h_n), torch.stack(c_n))


def first_row(self, k, suffix):
    return 0


@mistake(
    ref.LSTM.forward,
    says="All your layers and directions start from the first row of the initial state.",
    hint="h0 and c0 have one row for every layer and direction.",
)
def same_start_for_all(self, x, state=None):
    return run_layers(self, x, state, row=first_row)


def rows_by_direction(self, k, suffix):
    return self.suffixes.index(suffix) * self.num_layers + k


@mistake(
    ref.LSTM.forward,
    says="You read the initial states in the order first all forward layers, then all backward ones.",
    hint="The two directions of a layer stand next to each other.",
)
def initial_states_by_direction(self, x, state=None):
    return run_layers(self, x, state, row=rows_by_direction)


@mistake(
    ref.LSTM.forward,
    says="You return the final states in the order first all forward layers, then all backward ones.",
    hint="The two directions of a layer stand next to each other.",
)
def final_states_by_direction(self, x, state=None):
    output, (h, c) = run_layers(self, x, state)
    R = len(self.suffixes)
    rows = [k * R + r for r in range(R) for k in range(self.num_layers)]
    return output, (h[rows], c[rows])


@mistake(
    ref.LSTM.forward,
    id="R42",
    says="You ignore the initial state and start from zeros.",
    hint="Zeros are only for a state that is None.",
)
def module_ignores_state(self, x, state=None):
    return run_layers(self, x, None)


@mistake(
    ref.LSTM.forward,
    id="L27",
    says="Your h_n and c_n hold the last layer only.",
    hint="The final states have one row for every layer and direction.",
)
def final_states_of_last_layer(self, x, state=None):
    output, (h, c) = run_layers(self, x, state)
    return output, (h[-1], c[-1])


@mistake(
    ref.LSTM.forward,
    says="Your h_n and c_n hold one row only, that of the last layer and direction.",
    hint="The final states have one row for every layer and direction.",
)
def final_states_of_last_row(self, x, state=None):
    output, (h, c) = run_layers(self, x, state)
    return output, (h[-1:], c[-1:])


def row_of_layer(self, k, suffix):
    return k


@mistake(
    ref.LSTM.forward,
    says="Both directions of your layer k start from row k of the initial state.",
    hint="The two directions of a layer have a row each.",
)
def same_start_for_both_directions(self, x, state=None):
    return run_layers(self, x, state, row=row_of_layer)


def run_backward_over_the_batch(self, k, suffix, x, h0, c0):
    if suffix == "":
        return run_direction(self, k, suffix, x, h0, c0)
    y, state = ref.lstm(x.flip(1), h0, c0, *parameters_of(self, k, suffix))
    return y.flip(1), state


@mistake(
    ref.LSTM.forward,
    says="Your backward direction turns the batch round instead of time.",
    hint="x is (T, N, D): which axis is time?",
)
def batch_turned_round(self, x, state=None):
    return run_layers(self, x, state, run=run_backward_over_the_batch)


@mistake(
    ref.LSTM.forward,
    says="You return the final state as (c_n, h_n).",
    hint="The order of the pair is h_n, c_n.",
)
def module_swaps_states(self, x, state=None):
    output, (h, c) = run_layers(self, x, state)
    return output, (c, h)


def run_backward_unturned(self, k, suffix, x, h0, c0):
    if suffix == "":
        return run_direction(self, k, suffix, x, h0, c0)
    return ref.lstm(x.flip(0), h0, c0, *parameters_of(self, k, suffix))


@mistake(
    ref.LSTM.forward,
    id="L34",
    says="You did not turn the backward direction's outputs round again: output[t] holds another step's.",
    hint="The backward half of output[t] has seen x[t] and everything after it.",
)
def backward_outputs_not_turned(self, x, state=None):
    return run_layers(self, x, state, run=run_backward_unturned)


def run_both_forward(self, k, suffix, x, h0, c0):
    return ref.lstm(x, h0, c0, *parameters_of(self, k, suffix))


@mistake(
    ref.LSTM.forward,
    says="Your backward direction reads the sequence forward.",
    hint="The backward direction starts with the last step of x.",
)
def both_directions_forward(self, x, state=None):
    return run_layers(self, x, state, run=run_both_forward)


def run_with_last_output_as_state(self, k, suffix, x, h0, c0):
    y, (_, c) = run_direction(self, k, suffix, x, h0, c0)
    return y, (y[-1], c)


@mistake(
    ref.LSTM.forward,
    id="L35",
    says="Your backward direction's final h is its output at the last step of x, where it has just begun.",
    hint="The backward direction is done when it has read x[0].",
)
def backward_state_at_wrong_end(self, x, state=None):
    return run_layers(self, x, state, run=run_with_last_output_as_state)


def run_backward_with_forward_weights(self, k, suffix, x, h0, c0):
    if suffix == "":
        return run_direction(self, k, suffix, x, h0, c0)
    y, state = ref.lstm(x.flip(0), h0, c0, *parameters_of(self, k, ""))
    return y.flip(0), state


@mistake(
    ref.LSTM.forward,
    says="Your backward direction uses the weights of the forward one.",
    hint="The parameters whose names end in _reverse belong to the backward direction.",
)
def backward_uses_forward_weights(self, x, state=None):
    return run_layers(self, x, state, run=run_backward_with_forward_weights)


def backward_first(halves):
    return torch.cat(halves[::-1], dim=-1)


@mistake(
    ref.LSTM.forward,
    says="You put the backward half of the output before the forward half.",
    hint="Forward comes first.",
)
def halves_exchanged(self, x, state=None):
    return run_layers(self, x, state, join=backward_first)


@mistake(
    ref.LSTM.forward,
    id="L30",
    says="You apply dropout after the last layer, too.",
    hint="Dropout stands between layers.",
)
def dropout_after_last_layer(self, x, state=None):
    return run_layers(self, x, state, after=drop)


@mistake(
    ref.LSTM.forward,
    says="You apply dropout to the input of the first layer.",
    hint="Dropout stands between layers.",
)
def dropout_before_first_layer(self, x, state=None):
    return run_layers(self, x, state, before=drop)


def drop_always(self, x):
    return nn.functional.dropout(x, self.dropout.p, training=True)


@mistake(
    ref.LSTM.forward,
    says="Your dropout is active in evaluation, so the same input gives different outputs.",
    hint="A module knows from self.training whether it is being trained.",
)
def dropout_in_evaluation(self, x, state=None):
    return run_layers(self, x, state, between=drop_always)


@mistake(
    ref.LSTM.forward,
    says="Your layers are never trained with dropout.",
    hint="Between two layers, entries are dropped with the probability the constructor was given.",
)
def no_dropout(self, x, state=None):
    return run_layers(self, x, state, between=leave)


def drop_without_scale(self, x):
    if not self.training:
        return x
    return x * (torch.rand_like(x) >= self.dropout.p)


@mistake(
    ref.LSTM.forward,
    id="L31",
    says="What your dropout keeps is not divided by 1 - p.",
    hint="The mean of what passes must be the same in training and in evaluation.",
)
def dropout_not_scaled(self, x, state=None):
    return run_layers(self, x, state, between=drop_without_scale)


def keep_with_probability_p(self, x):
    if not self.training or self.dropout.p == 0:
        return x
    return x * (torch.rand_like(x) < self.dropout.p) / self.dropout.p


@mistake(
    ref.LSTM.forward,
    says="Your dropout keeps an entry with probability p instead of dropping it.",
    hint="dropout=0.1 drops one entry in ten.",
)
def dropout_inverted(self, x, state=None):
    return run_layers(self, x, state, between=keep_with_probability_p)


def drop_all_but_p(self, x):
    return nn.functional.dropout(x, 1 - self.dropout.p, self.training)


@mistake(
    ref.LSTM.forward,
    says="You pass 1 - dropout as the probability of dropping, so dropout=0 drops everything.",
    hint="dropout=0.1 drops one entry in ten.",
)
def dropout_of_one_minus_p(self, x, state=None):
    return run_layers(self, x, state, between=drop_all_but_p)


def drop_whole_features(self, x):
    if not self.training or self.dropout.p == 0:
        return x
    return x * (torch.rand_like(x[:1]) >= self.dropout.p) / (1 - self.dropout.p)


@mistake(
    ref.LSTM.forward,
    says="Your dropout draws one mask and uses it at every time step.",
    hint="δ_t has an index t: every entry of every step is drawn anew.",
)
def one_mask_for_all_steps(self, x, state=None):
    return run_layers(self, x, state, between=drop_whole_features)


def run_with_dropped_output(self, k, suffix, x, h0, c0):
    y, (h, c) = run_direction(self, k, suffix, x, h0, c0)
    if k < self.num_layers - 1:
        y = self.dropout(y)
        h = y[-1] if suffix == "" else y[0]
    return y, (h, c)


@mistake(
    ref.LSTM.forward,
    says="Your final states of the lower layers have been through dropout.",
    hint="Dropout stands on the way to the next layer, and the states do not take that way.",
)
def states_dropped(self, x, state=None):
    return run_layers(self, x, state, run=run_with_dropped_output, between=leave)


def detach(self, x):
    return self.dropout(x).detach()


@mistake(
    ref.LSTM.forward,
    says="You cut the gradient between the layers, so the lower layers learn nothing.",
    hint="Look for detach, .data or no_grad on the way from one layer to the next.",
)
def detached_between_layers(self, x, state=None):
    return run_layers(self, x, state, between=detach)


@mistake(
    ref.LSTM.forward,
    id="L23",
    says="You keep the final state in the module and start the next call from it.",
    hint="A call without a state starts from zeros, whatever was called before.",
)
def state_kept_between_calls(self, x, state=None):
    if state is None:
        state = getattr(self, "kept", None)
    output, self.kept = run_layers(self, x, state)
    return output, self.kept


def make_parameters(self, H, in_sizes, suffixes, start):
    """The parameters of part 6, drawn by start(shape)."""
    for k, in_size in enumerate(in_sizes):
        for suffix in suffixes:
            shapes = ((4 * H, in_size), (4 * H, H), (4 * H,), (4 * H,))
            for name, shape in zip(NAMES, shapes, strict=True):
                self.register_parameter(f"{name}_l{k}{suffix}", nn.Parameter(start(shape)))


def uniform(shape):
    """A start that is small and symmetric, whatever H."""
    return torch.rand(shape) * 0.2 - 0.1


def scaled_start(start, factor):
    return lambda shape: factor * start(shape)


def create(self, input_size, hidden_size, num_layers, dropout, bidirectional, start):
    """The constructor of part 6, with another way to draw the parameters."""
    self.num_layers = num_layers
    self.suffixes = ("", "_reverse") if bidirectional else ("",)
    self.dropout = nn.Dropout(dropout)
    above = hidden_size * len(self.suffixes)
    make_parameters(self, hidden_size, [input_size] + [above] * (num_layers - 1), self.suffixes, start)


@mistake(
    ref.LSTM.__init__,
    id="R17",
    says="You draw the parameters between 0 and 1, so all of them are positive and most far too large.",
    hint="The interval is symmetric around 0, and narrower the more units there are.",
)
def parameters_from_zero_to_one(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    create(self, input_size, hidden_size, num_layers, dropout, bidirectional, torch.rand)


@mistake(
    ref.LSTM.__init__,
    says="You draw between -1/H and 1/H: the square root is missing, so your parameters are far too small.",
    hint="The bound is one over the root of hidden_size.",
)
def bound_without_root(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    start = scaled_start(lambda shape: 2 * torch.rand(shape) - 1, 1 / hidden_size)
    create(self, input_size, hidden_size, num_layers, dropout, bidirectional, start)


@mistake(
    ref.LSTM.__init__,
    says="You draw the parameters between 0 and 1/√H, so none of them is negative.",
    hint="The interval is symmetric around 0.",
)
def parameters_from_zero_to_bound(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    start = scaled_start(torch.rand, hidden_size**-0.5)
    create(self, input_size, hidden_size, num_layers, dropout, bidirectional, start)


@mistake(
    ref.LSTM.__init__,
    says="You draw the parameters from a normal distribution with standard deviation 1/√H.",
    hint="The handout asks for a uniform distribution and says between which bounds.",
)
def normal_parameters_of_bound(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    start = scaled_start(torch.randn, hidden_size**-0.5)
    create(self, input_size, hidden_size, num_layers, dropout, bidirectional, start)


@mistake(
    ref.LSTM.__init__,
    says="Your biases start at zero; the handout draws them like the weights.",
    hint="Every entry of every parameter is drawn.",
)
def biases_start_at_zero(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    drawn = scaled_start(lambda shape: 2 * torch.rand(shape) - 1, hidden_size**-0.5)
    start = lambda shape: drawn(shape) if len(shape) == 2 else torch.zeros(shape)  # noqa: E731
    create(self, input_size, hidden_size, num_layers, dropout, bidirectional, start)


@mistake(
    ref.LSTM.__init__,
    says="You draw the parameters from a normal distribution.",
    hint="The handout asks for a uniform distribution and says between which bounds.",
)
def normal_parameters(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    create(self, input_size, hidden_size, num_layers, dropout, bidirectional, torch.randn)


@mistake(
    ref.LSTM.__init__,
    says="All your parameters start at zero, so all units stay alike.",
    hint="The handout asks for a uniform distribution and says between which bounds.",
)
def zero_parameters(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    create(self, input_size, hidden_size, num_layers, dropout, bidirectional, torch.zeros)


@mistake(
    ref.LSTM.__init__,
    says="Your weights are (in, out), those of PyTorch are (out, in).",
    hint="weight_ih_l0 has one row for every entry of z.",
)
def weights_in_out(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    create(self, input_size, hidden_size, num_layers, dropout, bidirectional, lambda shape: uniform(shape[::-1]))


@mistake(
    ref.LSTM.__init__,
    id="R43",
    says="Your layers have one bias each; those of PyTorch have two.",
    hint="Compare the names in your state_dict() with those in the table of the handout.",
)
def one_bias(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    create(self, input_size, hidden_size, num_layers, dropout, bidirectional, uniform)
    for name in [name for name, _ in self.named_parameters() if name.startswith("bias_hh")]:
        value = getattr(self, name).detach()
        delattr(self, name)
        setattr(self, name, torch.zeros_like(value))


@mistake(
    ref.LSTM.__init__,
    id="L33",
    says="Your upper layers of a bidirectional LSTM read H features; the layer below puts out 2H.",
    hint="Above layer 0, `in` depends on whether there are two directions.",
)
def upper_input_too_narrow(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    self.num_layers = num_layers
    self.suffixes = ("", "_reverse") if bidirectional else ("",)
    self.dropout = nn.Dropout(dropout)
    in_sizes = [input_size] + [hidden_size] * (num_layers - 1)
    make_parameters(self, hidden_size, in_sizes, self.suffixes, uniform)


@mistake(
    ref.LSTM.__init__,
    says="Your weights are plain tensors: the module does not know them, and no optimiser would train them.",
    hint="What is to be trained must be an nn.Parameter and an attribute of the module.",
)
def unregistered_tensors(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    create(self, input_size, hidden_size, num_layers, dropout, bidirectional, uniform)
    for name, value in list(self.named_parameters()):
        delattr(self, name)
        setattr(self, name, value.detach())


# ------------------------------------------------------------------------------------------------------------
# Part 7: lstm_step_backward
# ------------------------------------------------------------------------------------------------------------


def forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh):
    """The forward pass of the step: z, the gates and tanh(c_t)."""
    z = ref.gate_inputs(x, h, W_ih, W_hh, b_ih, b_hh)
    i, f, g, o = ref.gates(z)
    _, c_t = ref.next_state(i, f, g, o, c)
    return z, i, f, g, o, torch.tanh(c_t)


def from_gates(di, df, dg, do, i, f, g, o):
    """dz from the gradients of the gates, right."""
    return torch.cat([di * i * (1 - i), df * f * (1 - f), dg * (1 - g**2), do * o * (1 - o)], dim=-1)


def from_z(dz, dc, x, h, W_ih, W_hh):
    """All the results of part 7 from dz and dc, right."""
    return dz @ W_ih, dz @ W_hh, dc, dz.T @ x, dz.T @ h, dz.sum(dim=0), dz.sum(dim=0)


def backward_step(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    """Part 7, right."""
    _, i, f, g, o, tanh_c = forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh)
    dc_all = dc_t + dh_t * o * (1 - tanh_c**2)
    dz = from_gates(dc_all * g, dc_all * c, dc_all * i, dh_t * tanh_c, i, f, g, o)
    return from_z(dz, dc_all * f, x, h, W_ih, W_hh)


@mistake(
    ref.lstm_step_backward,
    id="L41",
    says="You took σ(1 - σ) of the pre-activation z instead of the gate.",
    hint="The derivative of the sigmoid is written with its output.",
)
def sigmoid_derivative_of_input(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    z, i, f, g, o, tanh_c = forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh)
    z_i, z_f, _, z_o = z.chunk(4, dim=-1)
    dc_all = dc_t + dh_t * o * (1 - tanh_c**2)
    dz = from_gates(dc_all * g, dc_all * c, dc_all * i, dh_t * tanh_c, z_i, z_f, g, z_o)
    return from_z(dz, dc_all * f, x, h, W_ih, W_hh)


@mistake(
    ref.lstm_step_backward,
    id="R22",
    says="You took 1 - tanh² of the pre-activation of g instead of g.",
    hint="The derivative of tanh is written with its output.",
)
def tanh_derivative_of_input(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    z, i, f, g, o, tanh_c = forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh)
    dc_all = dc_t + dh_t * o * (1 - tanh_c**2)
    dz = torch.cat(
        [
            dc_all * g * i * (1 - i),
            dc_all * c * f * (1 - f),
            dc_all * i * (1 - z.chunk(4, dim=-1)[2] ** 2),
            dh_t * tanh_c * o * (1 - o),
        ],
        dim=-1,
    )
    return from_z(dz, dc_all * f, x, h, W_ih, W_hh)


@mistake(
    ref.lstm_step_backward,
    says="You used the derivative of the sigmoid for g, which goes through tanh.",
    hint="One of the four gates has another non-linearity than the rest.",
)
def sigmoid_derivative_for_cell_gate(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    _, i, f, g, o, tanh_c = forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh)
    dc_all = dc_t + dh_t * o * (1 - tanh_c**2)
    di, df, dg, do = dc_all * g, dc_all * c, dc_all * i, dh_t * tanh_c
    dz = torch.cat([di * i * (1 - i), df * f * (1 - f), dg * g * (1 - g), do * o * (1 - o)], dim=-1)
    return from_z(dz, dc_all * f, x, h, W_ih, W_hh)


@mistake(
    ref.lstm_step_backward,
    says="You left out the derivatives of the non-linearities of the gates.",
    hint="Between a gate and its pre-activation there is a σ or a tanh.",
)
def no_gate_derivatives(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    _, i, f, g, o, tanh_c = forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh)
    dc_all = dc_t + dh_t * o * (1 - tanh_c**2)
    dz = torch.cat([dc_all * g, dc_all * c, dc_all * i, dh_t * tanh_c], dim=-1)
    return from_z(dz, dc_all * f, x, h, W_ih, W_hh)


@mistake(
    ref.lstm_step_backward,
    says="You left out the derivative of the tanh between c_t and h_t.",
    hint="h_t depends on c_t through a tanh.",
)
def no_derivative_of_tanh_c(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    _, i, f, g, o, tanh_c = forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh)
    dc_all = dc_t + dh_t * o
    dz = from_gates(dc_all * g, dc_all * c, dc_all * i, dh_t * tanh_c, i, f, g, o)
    return from_z(dz, dc_all * f, x, h, W_ih, W_hh)


@mistake(
    ref.lstm_step_backward,
    says="You took 1 - c_t² as the derivative of the tanh between c_t and h_t.",
    hint="The derivative of tanh is written with its output.",
)
def tanh_c_derivative_of_input(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    _, i, f, g, o, tanh_c = forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh)
    dc_all = dc_t + dh_t * o * (1 - (f * c + i * g) ** 2)
    dz = from_gates(dc_all * g, dc_all * c, dc_all * i, dh_t * tanh_c, i, f, g, o)
    return from_z(dz, dc_all * f, x, h, W_ih, W_hh)


@mistake(
    ref.lstm_step_backward,
    says="You left out dc_t, the gradient that reaches the cell state from later steps.",
    hint="c_t is used twice, by h_t and by the next step: the two gradients add.",
)
def later_steps_forgotten(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    return backward_step(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, torch.zeros_like(dc_t))


@mistake(
    ref.lstm_step_backward,
    says="You left out the gradient that reaches the cell state through h_t.",
    hint="c_t is used twice, by h_t and by the next step: the two gradients add.",
)
def way_through_h_forgotten(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    _, i, f, g, o, tanh_c = forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh)
    dz = from_gates(dc_t * g, dc_t * c, dc_t * i, dh_t * tanh_c, i, f, g, o)
    return from_z(dz, dc_t * f, x, h, W_ih, W_hh)


@mistake(
    ref.lstm_step_backward,
    says="You left out o on the way from h_t to c_t.",
    hint="Differentiate h_t = o ⊙ tanh(c_t) with respect to c_t.",
)
def output_gate_missing_in_cell(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    _, i, f, g, o, tanh_c = forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh)
    dc_all = dc_t + dh_t * (1 - tanh_c**2)
    dz = from_gates(dc_all * g, dc_all * c, dc_all * i, dh_t * tanh_c, i, f, g, o)
    return from_z(dz, dc_all * f, x, h, W_ih, W_hh)


@mistake(
    ref.lstm_step_backward,
    says="Your gradient of the output gate uses c_t instead of tanh(c_t).",
    hint="Differentiate h_t = o ⊙ tanh(c_t) with respect to o.",
)
def output_gate_without_tanh(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    _, i, f, g, o, tanh_c = forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh)
    dc_all = dc_t + dh_t * o * (1 - tanh_c**2)
    dz = from_gates(dc_all * g, dc_all * c, dc_all * i, dh_t * (f * c + i * g), i, f, g, o)
    return from_z(dz, dc_all * f, x, h, W_ih, W_hh)


@mistake(
    ref.lstm_step_backward,
    says="Your gradient of the forget gate uses the new cell state instead of the old one.",
    hint="Look at what f is multiplied with in the equation of c_t.",
)
def forget_gate_with_new_cell(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    _, i, f, g, o, tanh_c = forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh)
    dc_all = dc_t + dh_t * o * (1 - tanh_c**2)
    dz = from_gates(dc_all * g, dc_all * (f * c + i * g), dc_all * i, dh_t * tanh_c, i, f, g, o)
    return from_z(dz, dc_all * f, x, h, W_ih, W_hh)


@mistake(
    ref.lstm_step_backward,
    says="You exchanged the gradients of i and g.",
    hint="In i ⊙ g the derivative with respect to the one is the other.",
)
def input_and_cell_gate_exchanged(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    _, i, f, g, o, tanh_c = forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh)
    dc_all = dc_t + dh_t * o * (1 - tanh_c**2)
    dz = from_gates(dc_all * i, dc_all * c, dc_all * g, dh_t * tanh_c, i, f, g, o)
    return from_z(dz, dc_all * f, x, h, W_ih, W_hh)


@mistake(
    ref.lstm_step_backward,
    says="You return the gradient of c_t as that of c: the forget gate between them is missing.",
    hint="Differentiate c_t = f ⊙ c + i ⊙ g with respect to c.",
)
def old_cell_without_forget_gate(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    _, i, f, g, o, tanh_c = forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh)
    dc_all = dc_t + dh_t * o * (1 - tanh_c**2)
    dz = from_gates(dc_all * g, dc_all * c, dc_all * i, dh_t * tanh_c, i, f, g, o)
    return from_z(dz, dc_all, x, h, W_ih, W_hh)


@mistake(
    ref.lstm_step_backward,
    says="You exchanged the gradients of i and f.",
    hint="Look at what each gate is multiplied with in the equation of c_t.",
)
def input_and_forget_gate_exchanged(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    _, i, f, g, o, tanh_c = forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh)
    dc_all = dc_t + dh_t * o * (1 - tanh_c**2)
    dz = from_gates(dc_all * c, dc_all * g, dc_all * i, dh_t * tanh_c, i, f, g, o)
    return from_z(dz, dc_all * f, x, h, W_ih, W_hh)


@mistake(
    ref.lstm_step_backward,
    says="Your gradient of c takes only the dc_t you are given; what reaches c_t through h_t is missing there.",
    hint="c_t is used twice, by h_t and by the next step: the two gradients add.",
)
def old_cell_from_later_steps_only(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    dx, dh, _, *rest = backward_step(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t)
    _, _, f, _, _, _ = forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh)
    return dx, dh, dc_t * f, *rest


@mistake(
    ref.lstm_step_backward,
    says="Your gradient of W_hh uses the new hidden state instead of the old one.",
    hint="Look at what W_hh is multiplied with in the equation of z.",
)
def state_weight_with_new_hidden(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    _, i, f, g, o, tanh_c = forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh)
    dc_all = dc_t + dh_t * o * (1 - tanh_c**2)
    dz = from_gates(dc_all * g, dc_all * c, dc_all * i, dh_t * tanh_c, i, f, g, o)
    return from_z(dz, dc_all * f, x, o * tanh_c, W_ih, W_hh)


@mistake(
    ref.lstm_step_backward,
    id="R19",
    says="You added dh_t to the gradient of the previous hidden state.",
    hint="h_t and the h the step started from are different tensors; every way between them uses W_hh.",
)
def upstream_added_to_dh(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    dx, dh, *rest = backward_step(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t)
    return dx, dh + dh_t, *rest


@mistake(
    ref.lstm_step_backward,
    id="L01",
    says="You put the blocks of dz together in the order i, f, o, g.",
    hint="dz has the order of z.",
)
def dz_ordered_ifog(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    _, i, f, g, o, tanh_c = forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh)
    dc_all = dc_t + dh_t * o * (1 - tanh_c**2)
    dz = from_gates(dc_all * g, dc_all * c, dc_all * i, dh_t * tanh_c, i, f, g, o)
    dz_i, dz_f, dz_g, dz_o = dz.chunk(4, dim=-1)
    return from_z(torch.cat([dz_i, dz_f, dz_o, dz_g], dim=-1), dc_all * f, x, h, W_ih, W_hh)


@mistake(
    ref.lstm_step_backward,
    id="R23",
    says="You did not sum the gradients of the biases over the batch.",
    hint="A bias is shared by all sequences; its gradient has its shape.",
)
def biases_not_summed(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    _, i, f, g, o, tanh_c = forward_again(x, h, c, W_ih, W_hh, b_ih, b_hh)
    dc_all = dc_t + dh_t * o * (1 - tanh_c**2)
    dz = from_gates(dc_all * g, dc_all * c, dc_all * i, dh_t * tanh_c, i, f, g, o)
    return *from_z(dz, dc_all * f, x, h, W_ih, W_hh)[:5], dz, dz


@mistake(
    ref.lstm_step_backward,
    says="You averaged the gradients of weights and biases over the batch.",
    hint="The loss is given; whether it is a mean is not the step's business: the contributions add.",
)
def averaged_over_batch(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    gradients = backward_step(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t)
    return *gradients[:3], *(gradient / len(x) for gradient in gradients[3:])


@mistake(
    ref.lstm_step_backward,
    says="You averaged the gradients of the biases over the batch.",
    hint="The loss is given; whether it is a mean is not the step's business: the contributions add.",
)
def biases_averaged(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    gradients = backward_step(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t)
    return *gradients[:5], gradients[5] / len(x), gradients[6] / len(x)


@mistake(
    ref.lstm_step_backward,
    says="You averaged the gradients of the weights over the batch.",
    hint="The loss is given; whether it is a mean is not the step's business: the contributions add.",
)
def weights_averaged(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    gradients = backward_step(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t)
    return *gradients[:3], gradients[3] / len(x), gradients[4] / len(x), *gradients[5:]


@mistake(
    ref.lstm_step_backward,
    says="You shared one bias gradient between b_ih and b_hh.",
    hint="The two biases are added, so each of them receives the whole gradient.",
)
def bias_gradient_halved(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    gradients = backward_step(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t)
    return *gradients[:5], gradients[5] / 2, gradients[6] / 2


@mistake(
    ref.lstm_step_backward,
    says="Your weight gradients are the transposes of what they should be.",
    hint="A gradient has the shape of what it belongs to.",
)
def weight_gradients_transposed(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t):
    dx, dh, dc, dW_ih, dW_hh, *rest = backward_step(x, h, c, W_ih, W_hh, b_ih, b_hh, dh_t, dc_t)
    return dx, dh, dc, dW_ih.T, dW_hh.T, *rest
