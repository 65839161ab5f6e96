"""Wrong gradients of a step, up to dz: those of the cell states and of the gates."""

import torch

from graders.lstm_gates.pieces import backward_step, forward_again, from_gates, from_z
from reference import lstm_gates as ref
from softmark import mistake


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
