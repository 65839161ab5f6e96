"""Wrong sequences, the outputs: of which step and which sequence they are, and what a step puts out."""

import torch

from graders.lstm_gates.pieces import right_run, right_step, state_or_zeros
from reference import lstm_gates as ref
from softmark import mistake


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
