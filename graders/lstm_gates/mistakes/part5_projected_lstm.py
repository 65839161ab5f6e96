"""Wrong projections of the hidden state: what is projected, and where the projected state goes."""

import torch

from graders.lstm_gates.pieces import right_step, state_or_zeros
from reference import lstm_gates as ref
from softmark import mistake


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
