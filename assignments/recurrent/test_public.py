"""Public tests: recurrent networks. Run them with `softmark check`.

The numbers are in examples.json: small inputs, and the right answers to them. Much is compared with PyTorch's own
`nn.RNN`, `nn.GRUCell` and autograd as well. The hidden tests look in more places; the handout says everything that they
ask for.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number
from torch import nn

from softmark import (
    agree,
    draw,
    gradients_agree,
    keeps_dtype,
    leaves_inputs,
    ops_independent_of,
    raises,
    repeatable,
)

# Part 1: rnn_step and joined --------------------------------------------------------------------------------


@number("1.1")
@pytest.mark.parametrize("name", ["rnn_step", "rnn_step, a batch"])
def test_step(student, example, name):
    """One step, without and with a batch."""
    example(student.rnn_step, name)


@number("1.2")
def test_joined(student, example):
    """The two weights as one matrix, h first."""
    example(student.joined, "joined")


@number("1.3")
def test_step_manners(student):
    """The dtype stays, and the inputs stay as they were."""
    inputs = draw("2 n d", "2 n h", "h d", "h h", "h", n=3, d=4, h=5)
    keeps_dtype(student.rnn_step, *inputs)
    leaves_inputs(student.rnn_step, *inputs)


# Part 2: rnn ------------------------------------------------------------------------------------------------


def with_random_weights(module):
    """Give a module of PyTorch's weights and biases that are not small."""
    module.double().load_state_dict({name: draw(" ".join(map(str, p.shape))) for name, p in module.named_parameters()})
    return module


@number("2.1")
@pytest.mark.parametrize("name", ["rnn", "rnn, from zero", "rnn, a learned state"])
def test_rnn(student, example, name):
    """A short sequence, with a state for each sequence, with none, and with one for all of them."""
    example(student.rnn, name)


@number("2.2")
def test_rnn_and_library(student):
    """PyTorch's own network says the same. The inputs stay as they were."""
    theirs = with_random_weights(nn.RNN(4, 3))
    W_x, W_h, b_ih, b_hh = theirs.state_dict().values()
    x, h0 = draw("t n d", "1 n h", t=6, n=2, d=4, h=3)
    output, h_n = theirs(x, h0)
    agree(student.rnn(x, h0[0], W_x, W_h, b_ih + b_hh), (output, h_n[0]))
    leaves_inputs(student.rnn, x, h0[0], W_x, W_h, b_ih)


@number("2.3")
def test_rnn_gradients(student):
    """Gradients reach everything that went in, through all steps."""
    x, h0, W_x, W_h, b = draw("t n d", "h", "h d", "h h", "h", t=3, n=2, d=4, h=5)

    def by_hand(x, h0, W_x, W_h, b):
        h, outputs = h0.expand(2, 5), []
        for x_t in x:
            h = (x_t @ W_x.T + h @ W_h.T + b).tanh()
            outputs.append(h)
        return torch.stack(outputs), h

    gradients_agree(student.rnn, by_hand, x, h0, W_x, W_h, b)


@number("2.4")
def test_rnn_without_loop_over_the_batch(student):
    """All sequences of the batch take a step together."""
    x, h0, *weights = draw("t n d", "n h", "h d", "h h", "h", t=2, n=9, d=4, h=3)
    few, many = (x[:, :2], h0[:2], *weights), (x, h0, *weights)
    ops_independent_of("the number of sequences", student.rnn, few, many)


# Part 3: gru_step -------------------------------------------------------------------------------------------


@number("3.1")
@pytest.mark.parametrize("name", ["gru_step", "gru_step, a batch"])
def test_gru_step(student, example, name):
    """One step with gates, without and with a batch."""
    example(student.gru_step, name)


@number("3.2")
def test_gru_step_and_library(student):
    """PyTorch's own cell says the same, far from zero, too; any number of batch dimensions will do."""
    cell = with_random_weights(nn.GRUCell(4, 3))
    weights = cell.state_dict().values()
    x, h = draw("6 4", "6 3")
    for scale in (1, 1000):
        agree(student.gru_step(scale * x, h, *weights), cell(scale * x, h))
    both = student.gru_step(x.reshape(2, 3, 4), h.reshape(2, 3, 3), *weights)
    agree(both, cell(x, h).reshape(2, 3, 3))
    leaves_inputs(student.gru_step, x, h, *weights)


# Part 4: RNN ------------------------------------------------------------------------------------------------


@number("4.1")
@pytest.mark.parametrize("name", ["RNN", "RNN, relu", "RNN, two layers", "RNN, both directions", "RNN, batch first"])
def test_module(student, example, name):
    """One layer, another non-linearity, two layers, both directions, the batch first."""
    example(student.RNN, name)


@number("4.2")
def test_module_and_library(student):
    """PyTorch's own network with the same weights says the same, and has the same gradients."""
    for directions in (2, 1):
        options = {"num_layers": 2, "bidirectional": directions == 2, "nonlinearity": "relu"}
        theirs = with_random_weights(nn.RNN(4, 3, **options))
        own = student.RNN(4, 3, **options)
        own.load_state_dict(theirs.state_dict())
        x, h0 = draw("t n d", "k n h", t=5, n=2, d=4, h=3, k=2 * directions)
        agree(own, theirs, x, h0)
        agree(own, theirs, x)
        gradients_agree(own, theirs, x)


@number("4.3")
def test_module_dropout(student):
    """Dropout acts between the layers in training, not after the last one, and not in evaluation."""
    x = draw("t n d", t=7, n=5, d=4, dtype=torch.float32)
    one, two = student.RNN(4, 9, dropout=0.5), student.RNN(4, 9, num_layers=2, dropout=0.5)
    agree(one(x), one.eval()(x))
    trained = two(x)[0]
    assert not torch.allclose(trained, two.eval()(x)[0]), "there is no dropout in training"
    repeatable(two, x)


@number("4.4")
def test_module_begins_small(student):
    """The parameters begin between -1/√H and 1/√H, and not all alike."""
    for name, value in student.RNN(4, 25).parameters().items():
        assert 0.05 < float(value.abs().max()) <= 0.2, f"{name} begins with up to {float(value.abs().max()):.3g}"


# Part 5: read_out -------------------------------------------------------------------------------------------


@number("5.1")
@pytest.mark.parametrize("how", ["last", "mean", "max"])
def test_read_out(student, example, how):
    """Sequences of different lengths; all numbers of some units are negative."""
    example(student.read_out, f"read_out, {how}")


@number("5.2")
@pytest.mark.parametrize("how", ["last", "mean", "max"])
def test_padding_has_no_influence(student, how):
    """Other numbers in the padding change nothing, and there is no other word."""
    outputs, lengths = draw("t n h", t=4, n=3, h=2), torch.tensor([2, 3, 1])
    padding = torch.arange(4)[:, None, None] >= lengths[:, None]
    first, second = (student.read_out(outputs.masked_fill(padding, fill), lengths, how) for fill in (0.0, 1000.0))
    agree(second, first)
    leaves_inputs(student.read_out, outputs, lengths, how)
    raises(ValueError, student.read_out, outputs, lengths, "first")


# Part 6: rnn_backward ---------------------------------------------------------------------------------------


@number("6.1")
@pytest.mark.parametrize("name", ["rnn_backward", "rnn_backward, a learned state"])
def test_backward(student, example, name):
    """All gradients of a short sequence."""
    example(student.rnn_backward, name)


@number("6.2")
def test_truncated_backward(student, example):
    """The gradient of an output goes back through two steps at most."""
    example(student.rnn_backward, "rnn_backward, two steps")


@number("6.3")
@pytest.mark.parametrize("given", [True, False], ids=["given", "none"])
def test_backward_and_autograd(student, given):
    """Autograd through PyTorch's own network says the same."""
    theirs = with_random_weights(nn.RNN(3, 4))
    W_x, W_h, b, no_bias = theirs.parameters()
    x, h0, d_outputs = draw("t n d", "1 n h", "t n h", t=5, n=2, d=3, h=4)
    no_bias.data.zero_()
    leaves = [x.clone().requires_grad_(), h0.clone().requires_grad_()] if given else [x.clone().requires_grad_()]
    output, _ = theirs(*leaves)
    dx, *rest = torch.autograd.grad(output, [*leaves, W_x, W_h, b], d_outputs)
    wanted = (dx, rest[0][0], *rest[1:]) if given else (dx, None, *rest)
    inputs = x, h0[0] if given else None, W_x.detach(), W_h.detach(), b.detach(), d_outputs
    agree(student.rnn_backward(*inputs), wanted)
    agree(student.rnn_backward(*inputs, steps=5), wanted)
    leaves_inputs(student.rnn_backward, *inputs)


# Part 7: clip and state_jacobian ----------------------------------------------------------------------------


@number("7.1")
@pytest.mark.parametrize("name", ["clip", "clip, small gradients"])
def test_clip(student, example, name):
    """Gradients with a norm above and below c; one is None."""
    example(student.clip, name)


@number("7.2")
def test_clip_manners(student):
    """There may be nothing to clip, tiny gradients are clipped, too, and those that were given stay as they were."""
    agree(student.clip([], 1.0), [])
    agree(student.clip([None], 1.0), [None])
    tiny = torch.tensor([3e-7, 4e-7], dtype=torch.float64)
    agree(student.clip([tiny], 1e-7), [tiny / 5])
    leaves_inputs(student.clip, [draw("3 4"), None, draw("5")], 0.1)


@number("7.3")
def test_state_jacobian(student, example):
    """The derivatives of the last state with respect to the first, for each sequence."""
    example(student.state_jacobian, "state_jacobian")
