"""The calls of the public worked examples; `softmark build` writes the reference's answers into the handout."""

import torch

from reference import lstm_gates as ref
from softmark import example, module_example, numbers


def weights(D, H, P=None):
    """Return W_ih, W_hh, b_ih, b_hh of a layer."""
    return (
        numbers("W_ih", 4 * H, D, most=1),
        numbers("W_hh", 4 * H, P or H, most=1),
        numbers("b_ih", 4 * H, most=1),
        numbers("b_hh", 4 * H, most=1),
    )


FAR_OUT = torch.tensor([1000.0, -1000.0, -1000.0, 1000.0, 1000.0, -1000.0, -1000.0, 0.0], dtype=torch.float64)
STATE = numbers("h0", 2, 3, most=1), numbers("c0", 2, 3, most=1)
STATES = numbers("h0", 2, 2, 2, most=1), numbers("c0", 2, 2, 2, most=1)
LAYER = {"input_size": 3, "hidden_size": 2}

EXAMPLES = {
    "gate_inputs": example(ref.gate_inputs, numbers("x", 3), numbers("h", 2), *weights(3, 2)),
    "gate_inputs, a batch": example(ref.gate_inputs, numbers("x", 3, 4), numbers("h", 3, 5), *weights(4, 2, 5)),
    "gates": example(ref.gates, numbers("z", 8)),
    "gates, a batch": example(ref.gates, numbers("z", 3, 8)),
    "gates, far out": example(ref.gates, FAR_OUT),
    "next_state": example(ref.next_state, *(numbers(name, 2, 3, most=1) for name in "ifgoc")),
    "lstm": example(ref.lstm, numbers("x", 4, 2, 2), *STATE, *weights(2, 3)),
    "lstm, from zero": example(ref.lstm, numbers("x", 3, 2, 2), None, None, *weights(2, 3)),
    "projected_lstm": example(
        ref.projected_lstm,
        numbers("x", 3, 2, 3), numbers("h0", 2, 2, most=1), numbers("c0", 2, 3, most=1), *weights(3, 3, 2),
        numbers("W_hr", 2, 3, most=1),
    ),
    "LSTM": module_example(ref.LSTM, LAYER, numbers("x", 3, 2, 3)),
    "LSTM, two layers": module_example(ref.LSTM, {**LAYER, "num_layers": 2}, numbers("x", 3, 2, 3), STATES),
    "LSTM, both directions": module_example(ref.LSTM, {**LAYER, "bidirectional": True}, numbers("x", 4, 2, 3), STATES),
    "lstm_step_backward": example(
        ref.lstm_step_backward,
        numbers("x", 3, 2), numbers("h", 3, 2, most=1), numbers("c", 3, 2, most=1), *weights(2, 2),
        numbers("dh", 3, 2, most=1), numbers("dc", 3, 2, most=1),
    ),
}  # fmt: skip
