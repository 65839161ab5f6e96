"""The calls of the public worked examples; `softmark build` writes the reference's answers into the handout."""

import torch

from reference import recurrent as ref
from softmark import example, module_example, numbers


def step_weights(D, H):
    """Return W_x, W_h and b of the network."""
    return numbers("W_x", H, D, most=1), numbers("W_h", H, H, most=1), numbers("b", H, most=1)


def gated_weights(D, H):
    """Return W_ih, W_hh, b_ih and b_hh of a gated step."""
    return (
        numbers("W_ih", 3 * H, D, most=1),
        numbers("W_hh", 3 * H, H, most=1),
        numbers("b_ih", 3 * H, most=1),
        numbers("b_hh", 3 * H, most=1),
    )


SEQUENCE = numbers("x", 4, 2, 3), numbers("h0", 2, 2, most=1), *step_weights(3, 2)
X, H0, *WEIGHTS = SEQUENCE
LAYER = {"input_size": 3, "hidden_size": 2}
OUTPUTS, LENGTHS = numbers("outputs", 4, 3, 2) - 3, torch.tensor([2, 4, 1])
GRADIENTS = [numbers("first", 2, 3), None, numbers("second", 2)]

EXAMPLES = {
    "rnn_step": example(ref.rnn_step, numbers("x", 3), numbers("h", 2, most=1), *step_weights(3, 2)),
    "rnn_step, a batch": example(ref.rnn_step, numbers("x", 3, 2), numbers("h", 3, 4, most=1), *step_weights(2, 4)),
    "joined": example(ref.joined, numbers("W_h", 2, 2), numbers("W_x", 2, 3)),
    "rnn": example(ref.rnn, *SEQUENCE),
    "rnn, from zero": example(ref.rnn, X, None, *WEIGHTS),
    "rnn, a learned state": example(ref.rnn, X, H0[0].clone(), *WEIGHTS),
    "gru_step": example(ref.gru_step, numbers("x", 3), numbers("h", 2, most=1), *gated_weights(3, 2)),
    "gru_step, a batch": example(ref.gru_step, numbers("x", 3, 2), numbers("h", 3, 4, most=1), *gated_weights(2, 4)),
    "RNN": module_example(ref.RNN, LAYER, numbers("x", 3, 2, 3)),
    "RNN, relu": module_example(ref.RNN, {**LAYER, "nonlinearity": "relu"}, numbers("x", 3, 2, 3)),
    "RNN, two layers": module_example(
        ref.RNN, {**LAYER, "num_layers": 2}, numbers("x", 3, 2, 3), numbers("h", 2, 2, 2, most=1)
    ),
    "RNN, both directions": module_example(
        ref.RNN, {**LAYER, "bidirectional": True}, numbers("x", 4, 2, 3), numbers("h", 2, 2, 2, most=1)
    ),
    "RNN, batch first": module_example(
        ref.RNN, {**LAYER, "batch_first": True}, numbers("x", 2, 4, 3), numbers("h", 1, 2, 2, most=1)
    ),
    "read_out, last": example(ref.read_out, OUTPUTS, LENGTHS, "last"),
    "read_out, mean": example(ref.read_out, OUTPUTS, LENGTHS, "mean"),
    "read_out, max": example(ref.read_out, OUTPUTS, LENGTHS, "max"),
    "rnn_backward": example(ref.rnn_backward, *SEQUENCE, numbers("d_outputs", 4, 2, 2)),
    "rnn_backward, two steps": example(ref.rnn_backward, *SEQUENCE, numbers("d_outputs", 4, 2, 2), steps=2),
    "rnn_backward, a learned state": example(
        ref.rnn_backward, X, H0[0].clone(), *WEIGHTS, numbers("d_outputs", 4, 2, 2)
    ),
    "clip": example(ref.clip, GRADIENTS, 1.5),
    "clip, small gradients": example(ref.clip, GRADIENTS, 100.0),
    "state_jacobian": example(ref.state_jacobian, numbers("hs", 3, 2, 3, most=1), numbers("W", 3, 3, most=1)),
}
