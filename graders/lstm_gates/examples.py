"""The calls of the public worked examples; `softmark build` writes the reference's answers into the handout."""

import torch

from reference import lstm_gates as ref
from softmark import example, module_example, numbers


def halves(label, *shape):
    """Return numbers from -1 to 1, so that no gate is quite open or quite shut."""
    return numbers(label, *shape) / 2


def weights(D, H, P=None):
    """Return W_ih, W_hh, b_ih, b_hh of a layer."""
    return halves("W_ih", 4 * H, D), halves("W_hh", 4 * H, P or H), halves("b_ih", 4 * H), halves("b_hh", 4 * H)


FAR_OUT = torch.tensor([1000.0, -1000.0, -1000.0, 1000.0, 1000.0, -1000.0, -1000.0, 0.0], dtype=torch.float64)
STATE = halves("h0", 2, 3), halves("c0", 2, 3)
STATES = halves("h0", 2, 2, 2), halves("c0", 2, 2, 2)
LAYER = {"input_size": 3, "hidden_size": 2}

EXAMPLES = {
    "gate_inputs": example(ref.gate_inputs, numbers("x", 3), numbers("h", 2), *weights(3, 2)),
    "gate_inputs, a batch": example(ref.gate_inputs, numbers("x", 3, 4), numbers("h", 3, 5), *weights(4, 2, 5)),
    "gates": example(ref.gates, numbers("z", 8)),
    "gates, a batch": example(ref.gates, numbers("z", 3, 8)),
    "gates, far out": example(ref.gates, FAR_OUT),
    "next_state": example(ref.next_state, *(halves(name, 2, 3) for name in "ifgoc")),
    "lstm": example(ref.lstm, numbers("x", 4, 2, 2), *STATE, *weights(2, 3)),
    "lstm, from zero": example(ref.lstm, numbers("x", 3, 2, 2), None, None, *weights(2, 3)),
    "projected_lstm": example(
        ref.projected_lstm, numbers("x", 3, 2, 3), halves("h0", 2, 2), halves("c0", 2, 3), *weights(3, 3, 2),
        halves("W_hr", 2, 3),
    ),
    "LSTM": module_example(ref.LSTM, LAYER, numbers("x", 3, 2, 3)),
    "LSTM, two layers": module_example(ref.LSTM, {**LAYER, "num_layers": 2}, numbers("x", 3, 2, 3), STATES),
    "LSTM, both directions": module_example(ref.LSTM, {**LAYER, "bidirectional": True}, numbers("x", 4, 2, 3), STATES),
    "lstm_step_backward": example(
        ref.lstm_step_backward, numbers("x", 3, 2), halves("h", 3, 2), halves("c", 3, 2), *weights(2, 2),
        halves("dh", 3, 2), halves("dc", 3, 2),
    ),
}  # fmt: skip
