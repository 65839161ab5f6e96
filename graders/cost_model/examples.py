"""The calls of the public worked examples; `softmark build` writes the reference's answers into the handout."""

import torch

from graders.cost_model.counts import attention_count, conv_count, rnn_count
from graders.cost_model.lent import experts
from reference import cost_model as ref
from softmark import example, lend, numbers

TIED = torch.tensor([[0.5, 1.0, 0.5, 1.0, -2.0], [3.0, -1.0, 3.0, 3.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0]])
LARGE = 1000 * torch.tensor([[1.0, 0.5, 0.999], [-1.0, -0.998, -0.999]])


def mixed(X, W_router, calls, k):
    """Return the example of a mixture that may call experts so often."""
    return example(ref.mixture, X, W_router, lend(experts, calls=calls), k)


COUNTS = ("multiply-adds", "serial steps", "longest path", "kept")


def counted(name, count, *sizes):
    """Return an example for each of the four counts."""
    return {f"{name}: {words}": example(count, place, *sizes) for place, words in enumerate(COUNTS)}


EXAMPLES = {
    **counted("rnn_cost", rnn_count, 17, 19),
    **counted("rnn_cost, layers", rnn_count, 19, 17, 5),
    **counted("conv_cost", conv_count, 16, 19, 4),
    **counted("conv_cost, layers", conv_count, 19, 17, 6, 5),
    **counted("conv_cost, dilated", conv_count, 216, 17, 6, 3, True),
    **counted("attention_cost", attention_count, 17, 19),
    **counted("attention_cost, heads", attention_count, 19, 51, 17, 5),
    "parameters, rnn": example(ref.parameters, "rnn", d=17, h=23, n_layers=4),
    "parameters, lstm": example(ref.parameters, "lstm", d=17, h=23, n_layers=4),
    "parameters, conv": example(ref.parameters, "conv", d=17, h=23, k=6),
    "parameters, attention": example(ref.parameters, "attention", d=51, n_heads=17),
    "parameters, feed_forward": example(ref.parameters, "feed_forward", d=17, f=23),
    "parameters, block": example(ref.parameters, "block", d=51, f=23, n_heads=17),
    "parameters, gpt": example(ref.parameters, "gpt", vocabulary=31, n=19, d=51, n_heads=17, n_layers=4),
    "crossover": example(ref.crossover, 17),
    "crossover, f": example(ref.crossover, 17, 91),
    "crossover, a small f": example(ref.crossover, 17, 23),
    "route": example(ref.route, numbers("X", 3, 4), numbers("W_router", 4, 6), 3),
    "route, a batch": example(ref.route, numbers("X", 2, 3, 4), numbers("W_router", 4, 5), 2),
    "route, ties": example(ref.route, TIED.double(), torch.eye(5, dtype=torch.float64), 2),
    "route, large scores": example(ref.route, LARGE.double(), torch.eye(3, dtype=torch.float64), 2),
    "mixture": mixed(numbers("X", 4, 3), numbers("W_router", 3, 5), 30, 2),
    "mixture, a batch": mixed(numbers("X", 2, 3, 4), numbers("W_router", 4, 3), 30, 1),
    "active_parameters": example(ref.active_parameters, 17, 23, 13, 3, 4),
}
