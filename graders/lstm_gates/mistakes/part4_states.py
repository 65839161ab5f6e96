"""Wrong sequences, the state: where it starts, how it goes from step to step, and what is returned of it."""

import torch

from graders.lstm_gates.pieces import right_run, right_step, state_or_zeros
from reference import lstm_gates as ref
from softmark import mistake


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
