"""Public tests: the LSTM gate equations. Run them with `softmark check`.

The numbers are in examples.json: small inputs, and the right answers to them. Sequences are compared with PyTorch's own
`nn.LSTM` as well. The hidden tests look in more places; the handout says everything that they ask for.
"""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number
from torch import nn

from softmark import agree, draw, gradients_agree, keeps_dtype, leaves_inputs, ops_independent_of, repeatable

# Part 1: gate_inputs ----------------------------------------------------------------------------------------


@number("1.1")
def test_gate_inputs(student, example):
    """The four pre-activations of one step."""
    example(student.gate_inputs, "gate_inputs")


@number("1.2")
def test_gate_inputs_batch(student, example):
    """A batch, with a hidden state of another width than the cell's."""
    example(student.gate_inputs, "gate_inputs, a batch")


# Part 2: gates ----------------------------------------------------------------------------------------------


@number("2.1")
@pytest.mark.parametrize("name", ["gates", "gates, a batch"])
def test_gates(student, example, name):
    """Three sigmoids and a tanh."""
    example(student.gates, name)


@number("2.2")
def test_gates_far_out(student, example):
    """Pre-activations of ±1000 give gates of 0, 1 or -1."""
    example(student.gates, "gates, far out")


@number("2.3")
def test_gates_manners(student):
    """The dtype stays, and the pre-activations stay as they were."""
    z = draw("n z", n=3, z=8)
    keeps_dtype(student.gates, z)
    leaves_inputs(student.gates, z)


# Part 3: next_state -----------------------------------------------------------------------------------------


@number("3.1")
def test_next_state(student, example):
    """The new hidden state, then the new cell state."""
    example(student.next_state, "next_state")


@number("3.2")
def test_next_state_manners(student):
    """Gates and cell state stay as they were, and a second call gives the same."""
    inputs = draw(*["n h"] * 5, n=3, h=2)
    leaves_inputs(student.next_state, *inputs)
    repeatable(student.next_state, *inputs)


# Part 4: lstm -----------------------------------------------------------------------------------------------


def pytorch_lstm(*sizes, **options):
    """PyTorch's own, with weights and biases that are not small."""
    theirs = nn.LSTM(*sizes, **options).double()
    theirs.load_state_dict({name: draw(" ".join(map(str, p.shape))) for name, p in theirs.named_parameters()})
    return theirs


@number("4.1")
def test_lstm(student, example):
    """A short sequence."""
    example(student.lstm, "lstm")


@number("4.2")
def test_lstm_from_zero(student, example):
    """Without a state to begin with."""
    example(student.lstm, "lstm, from zero")


@number("4.3")
def test_lstm_and_library(student):
    """PyTorch's own LSTM says the same; either state may be None. The inputs stay as they were."""
    theirs = pytorch_lstm(4, 3)
    weights = theirs.state_dict().values()
    x, h0, c0 = draw("t n d", "1 n h", "1 n h", t=6, n=2, d=4, h=3)
    output, (h, c) = theirs(x, (h0, torch.zeros_like(c0)))
    agree(student.lstm(x, h0[0], None, *weights), (output, (h[0], c[0])))
    leaves_inputs(student.lstm, x, h0[0], c0[0], *weights)


@number("4.4")
def test_lstm_without_loop_over_the_batch(student):
    """All sequences of the batch take a step together."""
    x, h0, c0 = draw("t n d", "n h", "n h", t=2, n=9, d=4, h=3)
    weights = pytorch_lstm(4, 3).state_dict().values()
    few, many = (x[:, :2], h0[:2], c0[:2], *weights), (x, h0, c0, *weights)
    ops_independent_of("the number of sequences", student.lstm, few, many)


# Part 5: projected_lstm -------------------------------------------------------------------------------------


@number("5.1")
def test_projected_lstm(student, example):
    """A short sequence with a projected hidden state."""
    example(student.projected_lstm, "projected_lstm")


@number("5.2")
def test_projected_lstm_and_library(student):
    """PyTorch's own LSTM with proj_size says the same, without a state to begin with."""
    theirs = pytorch_lstm(4, 5, proj_size=3)
    x = draw("t n d", t=6, n=2, d=4)
    output, (h, c) = theirs(x)
    agree(student.projected_lstm(x, None, None, *theirs.state_dict().values()), (output, (h[0], c[0])))


# Part 6: LSTM -----------------------------------------------------------------------------------------------


@number("6.1")
def test_module(student, example):
    """One layer, one direction."""
    example(student.LSTM, "LSTM")


@number("6.2")
def test_module_layers(student, example):
    """Two layers."""
    example(student.LSTM, "LSTM, two layers")


@number("6.3")
def test_module_directions(student, example):
    """Both directions."""
    example(student.LSTM, "LSTM, both directions")


@number("6.4")
def test_module_and_library(student):
    """PyTorch's own LSTM with the same weights says the same, and has the same gradients."""
    theirs = pytorch_lstm(4, 3, num_layers=2, bidirectional=True)
    own = student.LSTM(4, 3, num_layers=2, bidirectional=True)
    own.load_state_dict(theirs.state_dict())
    x, h0, c0 = draw("t n d", "4 n h", "4 n h", t=5, n=2, d=4, h=3)
    agree(own, theirs, x, (h0, c0))
    gradients_agree(own, theirs, x)


@number("6.5")
def test_module_dropout(student):
    """Dropout acts between the layers in training, not after the last one, and not in evaluation."""
    x = draw("t n d", t=7, n=5, d=4, dtype=torch.float32)
    one, two = student.LSTM(4, 9, dropout=0.5), student.LSTM(4, 9, num_layers=2, dropout=0.5)
    agree(one(x), one.eval()(x))
    trained = two(x)[0]
    assert not torch.allclose(trained, two.eval()(x)[0]), "there is no dropout in training"
    repeatable(two, x)


@number("6.6")
def test_module_begins_small(student):
    """The parameters begin between -1/√H and 1/√H, and not all alike."""
    for name, value in student.LSTM(4, 25).parameters().items():
        assert 0.05 < float(value.abs().max()) <= 0.2, f"{name} begins with up to {float(value.abs().max()):.3g}"


# Part 7: lstm_step_backward ---------------------------------------------------------------------------------


@number("7.1")
def test_backward(student, example):
    """All gradients of one step."""
    example(student.lstm_step_backward, "lstm_step_backward")


@number("7.2")
def test_backward_and_autograd(student):
    """Autograd through PyTorch's own LSTM cell says the same."""
    cell = nn.LSTMCell(3, 4).double()
    cell.load_state_dict({name: draw(" ".join(map(str, p.shape))) for name, p in cell.named_parameters()})
    x, h, c, dh_t, dc_t = draw("n d", "n h", "n h", "n h", "n h", n=2, d=3, h=4)
    inputs = [tensor.requires_grad_() for tensor in (x.clone(), h.clone(), c.clone())]
    h_t, c_t = cell(inputs[0], (inputs[1], inputs[2]))
    wanted = torch.autograd.grad((h_t * dh_t).sum() + (c_t * dc_t).sum(), [*inputs, *cell.parameters()])
    agree(student.lstm_step_backward(x, h, c, *cell.state_dict().values(), dh_t, dc_t), wanted)
