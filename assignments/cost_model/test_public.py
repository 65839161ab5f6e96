"""Public tests: what a layer costs. Run them with `softmark check`.

The answers are in examples.json: small sizes, and what is right for them. Some parts are compared with PyTorch as well.
The hidden tests look in more places; the handout says everything that they ask for.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number
from torch import nn

from softmark import agree, draw, keeps_dtype, leaves_inputs, lend, raises


def experts(e, rows):
    """Experts without weights: each of them makes something else of a row."""
    return (0.5 + e) * rows + rows * rows.flip(-1) / (4 + rows.abs())


def numel(module):
    return sum(parameter.numel() for parameter in module.parameters())


def require_gradients(gradients):
    for name, gradient in gradients.items():
        assert gradient is not None, f"no gradient reaches {name}"


# Part 1: rnn_cost, conv_cost, attention_cost ----------------------------------------------------------------


def one_count(function):
    """Return a function that gives one of the four counts, by its place."""

    def count(place, *sizes):
        counts = function(*sizes)
        assert isinstance(counts, tuple | list), "the answer is no tuple"
        assert len(counts) == 4, f"the answer has {len(counts)} counts, expected 4"
        return counts[place]

    return count


@number("1.1")
@pytest.mark.parametrize("name", ["rnn_cost", "rnn_cost, layers"])
def test_multiply_adds_of_rnn(student, example, name):
    """Recurrent layers: the multiply-adds."""
    example(one_count(student.rnn_cost), f"{name}: multiply-adds")


@number("1.2")
@pytest.mark.parametrize("name", ["rnn_cost", "rnn_cost, layers"])
def test_serial_steps_of_rnn(student, example, name):
    """Recurrent layers: the serial steps."""
    example(one_count(student.rnn_cost), f"{name}: serial steps")


@number("1.3")
@pytest.mark.parametrize("name", ["rnn_cost", "rnn_cost, layers"])
def test_longest_path_of_rnn(student, example, name):
    """Recurrent layers: the longest path."""
    example(one_count(student.rnn_cost), f"{name}: longest path")


@number("1.4")
@pytest.mark.parametrize("name", ["rnn_cost", "rnn_cost, layers"])
def test_kept_of_rnn(student, example, name):
    """Recurrent layers: the numbers that are kept."""
    example(one_count(student.rnn_cost), f"{name}: kept")


@number("1.5")
@pytest.mark.parametrize("name", ["conv_cost", "conv_cost, layers", "conv_cost, dilated"])
def test_multiply_adds_of_conv(student, example, name):
    """Convolutions: the multiply-adds."""
    example(one_count(student.conv_cost), f"{name}: multiply-adds")


@number("1.6")
@pytest.mark.parametrize("name", ["conv_cost", "conv_cost, layers", "conv_cost, dilated"])
def test_serial_steps_of_conv(student, example, name):
    """Convolutions: the serial steps."""
    example(one_count(student.conv_cost), f"{name}: serial steps")


@number("1.7")
@pytest.mark.parametrize("name", ["conv_cost", "conv_cost, layers", "conv_cost, dilated"])
def test_longest_path_of_conv(student, example, name):
    """Convolutions: the longest path."""
    example(one_count(student.conv_cost), f"{name}: longest path")


@number("1.8")
@pytest.mark.parametrize("name", ["conv_cost", "conv_cost, layers", "conv_cost, dilated"])
def test_kept_of_conv(student, example, name):
    """Convolutions: the numbers that are kept."""
    example(one_count(student.conv_cost), f"{name}: kept")


@number("1.9")
@pytest.mark.parametrize("name", ["attention_cost", "attention_cost, heads"])
def test_multiply_adds_of_attention(student, example, name):
    """Attention: the multiply-adds."""
    example(one_count(student.attention_cost), f"{name}: multiply-adds")


@number("1.10")
@pytest.mark.parametrize("name", ["attention_cost", "attention_cost, heads"])
def test_serial_steps_of_attention(student, example, name):
    """Attention: the serial steps."""
    example(one_count(student.attention_cost), f"{name}: serial steps")


@number("1.11")
@pytest.mark.parametrize("name", ["attention_cost", "attention_cost, heads"])
def test_longest_path_of_attention(student, example, name):
    """Attention: the longest path."""
    example(one_count(student.attention_cost), f"{name}: longest path")


@number("1.12")
@pytest.mark.parametrize("name", ["attention_cost", "attention_cost, heads"])
def test_kept_of_attention(student, example, name):
    """Attention: the numbers that are kept."""
    example(one_count(student.attention_cost), f"{name}: kept")


@number("1.13")
def test_one_token(student):
    """One token has no path to another one."""
    agree(student.rnn_cost(1, 3), (18, 1, 0, 6))
    agree(student.conv_cost(1, 3, 2), (18, 1, 0, 6))
    agree(student.attention_cost(1, 3), (42, 4, 0, 16))


@number("1.14")
def test_sizes_that_do_not_fit(student):
    """Heads that cannot share the width are refused, and so is a kernel that sees no other token."""
    raises(ValueError, student.attention_cost, 3, 10, 4)
    raises(ValueError, student.conv_cost, 3, 10, 1)


# Part 2: parameters -----------------------------------------------------------------------------------------


@number("2.1")
@pytest.mark.parametrize("kind", ["rnn", "lstm", "conv", "attention", "feed_forward", "block", "gpt"])
def test_parameters(student, example, kind):
    """The parameters of a layer or a model."""
    example(student.parameters, f"parameters, {kind}")


@number("2.2")
def test_as_in_pytorch(student):
    """The modules of PyTorch have as many parameters."""
    agree(student.parameters("rnn", d=6, h=4, n_layers=2), numel(nn.RNN(6, 4, 2)))
    agree(student.parameters("lstm", d=6, h=4, n_layers=2), numel(nn.LSTM(6, 4, 2)))
    agree(student.parameters("conv", d=6, h=4, k=3), numel(nn.Conv1d(6, 4, 3)))
    agree(student.parameters("attention", d=6, n_heads=2), numel(nn.MultiheadAttention(6, 2)))
    agree(student.parameters("block", d=6, f=10, n_heads=2), numel(nn.TransformerEncoderLayer(6, 2, 10)))


@number("2.3")
def test_unknown_kind(student):
    """A kind that is not in the table is refused."""
    raises(ValueError, student.parameters, "perceptron", d=6)


# Part 3: crossover ------------------------------------------------------------------------------------------


@number("3.1")
@pytest.mark.parametrize("name", ["crossover", "crossover, f", "crossover, a small f"])
def test_crossover(student, example, name):
    """The first length at which attention does more."""
    example(student.crossover, name)


# Part 4: route ----------------------------------------------------------------------------------------------


@number("4.1")
@pytest.mark.parametrize("name", ["route", "route, a batch"])
def test_route(student, example, name):
    """The experts with the highest scores, and softmax over their scores."""
    example(student.route, name)


@number("4.2")
def test_equal_scores(student, example):
    """Of equal scores, the smaller number goes first."""
    example(student.route, "route, ties")


@number("4.3")
def test_route_manners(student, example):
    """Large scores, gradients, and a k that is too large."""
    example(student.route, "route, large scores")
    X, W_router = draw("n d", "d E", n=3, d=4, E=5)
    require_gradients({"X": student.route.vjp((X, W_router, 2), {}, (None, draw("n k", n=3, k=2))).args[0]})
    keeps_dtype(student.route, X, W_router, 2)
    leaves_inputs(student.route, X, W_router, 2)
    raises(ValueError, student.route, X, W_router, 6)


# Part 5: mixture --------------------------------------------------------------------------------------------


@number("5.1")
@pytest.mark.parametrize("name", ["mixture", "mixture, a batch"])
def test_mixture(student, example, name):
    """The weighted sum of what the experts of each token return."""
    example(student.mixture, name, experts)


@number("5.2")
def test_calls(student):
    """Each expert that has tokens is called once, and an expert without tokens is not called."""
    X, W_router = torch.tensor([[1.0], [2.0], [-1.0]]), torch.tensor([[0.0, 2.0, -1.0, 1.0]])
    own = student.mixture(X, W_router, lend(experts, calls=2), 1)
    agree(own, torch.cat([experts(1, X[:2]), experts(2, X[2:])]).double())


@number("5.3")
def test_mixture_manners(student):
    """Gradients reach the tokens and the router; the inputs stay as they were."""
    inputs = *draw("n d", "d E", n=5, d=3, E=4), lend(experts, calls=20), 2
    X, W_router, *_ = student.mixture.vjp(inputs, {}, draw("n d", n=5, d=3)).args
    require_gradients({"X": X, "W_router": W_router})
    keeps_dtype(student.mixture, *inputs)
    leaves_inputs(student.mixture, *inputs)


# Part 6: active_parameters ----------------------------------------------------------------------------------


@number("6.1")
def test_active_parameters(student, example):
    """The parameters that exist, and those that a token meets."""
    example(student.active_parameters, "active_parameters")


@number("6.2")
def test_one_expert(student):
    """If there is one expert, a token meets everything."""
    exist, met = student.active_parameters(4, 6, 1, 1, 3)
    agree(met, exist)
