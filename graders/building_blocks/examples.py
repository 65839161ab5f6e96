"""The calls of the public worked examples; `softmark build` writes the reference's answers into the handout."""

import torch

from reference import building_blocks as ref
from softmark import example, numbers

CLASSES = torch.tensor([2, 0, 1, 2])
FAR_BELOW = torch.tensor([-1000.0, -800.0, 3.0]).double()
FAR_ABOVE = torch.tensor([1000.0, 800.0, -3.0]).double()
BEHIND = torch.tensor([[0.5, -0.3, -900.0], [-2.0, -950.0, 1.0]]).double()
TALL = torch.tensor([[1000.0, 998.0, 999.0], [-1000.0, -1001.0, -1000.5], [1000.0, -1000.0, 3.0], [1.0, 2.0, 3.0]])


def layer(label, d_in, d_out):
    """Return W and b of a layer of part 2."""
    return numbers(f"W{label}", d_in, d_out), numbers(f"b{label}", d_out)


EXAMPLES = {
    "linear": example(ref.linear, numbers("x", 4), numbers("W", 3, 4), numbers("b", 3)),
    "linear, a square weight": example(ref.linear, numbers("X", 2, 3), numbers("W", 3, 3), numbers("b", 3)),
    "linear, a batch": example(ref.linear, numbers("X", 2, 3, 4), numbers("W", 2, 4), numbers("b", 2)),
    "mlp": example(ref.mlp, numbers("X", 2, 3), [layer(1, 3, 4), layer(2, 4, 2)], torch.relu),
    "mlp, square weights": example(ref.mlp, numbers("X", 2, 3), [layer(1, 3, 3), layer(2, 3, 3)], torch.tanh),
    "mlp, two hidden layers": example(
        ref.mlp, numbers("X", 2, 3), [layer(1, 3, 4), layer(2, 4, 2), layer(3, 2, 3)], torch.tanh
    ),
    "mlp, no hidden layer": example(ref.mlp, numbers("X", 2, 3), [layer(1, 3, 2)], torch.tanh),
    "squared_loss": example(ref.squared_loss, numbers("p", 4), numbers("y", 4)),
    "squared_loss, several numbers": example(ref.squared_loss, numbers("p", 4, 3), numbers("y", 4, 3)),
    "logistic_loss": example(ref.logistic_loss, numbers("z", 5), torch.tensor([1, 0, 0, 1, 1])),
    "logistic_loss, far below": example(ref.logistic_loss, FAR_BELOW, torch.tensor([1, 0, 1])),
    "logistic_loss, far above": example(ref.logistic_loss, FAR_ABOVE, torch.tensor([1, 1, 0])),
    "softmax_loss": example(ref.softmax_loss, numbers("logits", 4, 3), CLASSES),
    "softmax_loss, far behind": example(ref.softmax_loss, BEHIND, torch.tensor([2, 1])),
    "softmax_loss, far out": example(ref.softmax_loss, TALL.double(), torch.tensor([2, 0, 0, 2])),
    "softmax_regression_step": example(
        ref.softmax_regression_step, numbers("X", 4, 2), CLASSES, numbers("W", 3, 2), numbers("b", 3), 0.5, 0.0
    ),
    "softmax_regression_step, decay": example(
        ref.softmax_regression_step, numbers("X", 4, 2), CLASSES, numbers("W", 3, 2), numbers("b", 3), 0.5, 0.3
    ),
    "conv2d": example(ref.conv2d, numbers("X", 4, 5, 1), numbers("K", 2, 2, 1, 1), numbers("b", 1), 1, 0),
    "conv2d, channels": example(ref.conv2d, numbers("X", 4, 3, 2), numbers("K", 2, 2, 2, 3), numbers("b", 3), 1, 0),
    "conv2d, stride": example(ref.conv2d, numbers("X", 6, 5, 1), numbers("K", 2, 2, 1, 1), numbers("b", 1), 3, 0),
    "conv2d, padding": example(ref.conv2d, numbers("X", 3, 4, 1), numbers("K", 3, 3, 1, 1), numbers("b", 1), 2, 1),
    "conv2d, a batch": example(ref.conv2d, numbers("X", 2, 3, 4, 1), numbers("K", 2, 2, 1, 2), numbers("b", 2), 1, 0),
    "max_pool": example(ref.max_pool, numbers("X", 4, 6, 2), 2),
    "max_pool, something left over": example(ref.max_pool, numbers("Z", 5, 7, 1) - 3, 3),
    "max_pool, a batch": example(ref.max_pool, numbers("X", 2, 4, 2, 2), 2),
    "causal_conv1d": example(ref.causal_conv1d, numbers("X", 5, 2), numbers("K", 3, 2, 3), numbers("b", 3), 1),
    "causal_conv1d, dilation": example(
        ref.causal_conv1d, numbers("X", 6, 1), numbers("K", 3, 1, 2), numbers("b", 2), 2
    ),
    "causal_conv1d, a batch": example(
        ref.causal_conv1d, numbers("X", 2, 4, 2), numbers("K", 2, 2, 2), numbers("b", 2), 1
    ),
    "receptive_field": example(ref.receptive_field, [4, 2, 3], [1, 3, 2]),
    "receptive_field, no layer": example(ref.receptive_field, [], []),
}
