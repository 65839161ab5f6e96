"""Wrong gradients of a step, from dz on: those of the weights, the biases and the previous hidden state."""

import torch

from graders.lstm_gates.pieces import backward_step, forward_again, from_gates, from_z
from reference import lstm_gates as ref
from softmark import mistake


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
