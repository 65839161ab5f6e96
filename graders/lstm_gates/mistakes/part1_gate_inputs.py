"""Wrong inputs of the gates.

Here and in the files of the other parts: wrong solutions of `lstm_gates`, each with one mistake and the words that name
it to a student.
"""

import torch

from reference import lstm_gates as ref
from softmark import mistake


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
