"""Public tests: building blocks. Run them with `softmark check`.

The numbers are in examples.json: small inputs, and the right answers to them. The rest are properties that every right
solution has. The hidden tests look in more places; the handout says everything that they ask for.
"""

import pytest
import torch
import torch.nn.functional as F
from gradescope_utils.autograder_utils.decorators import number

from softmark import (
    agree,
    batch_independent,
    causal,
    draw,
    draw_integers,
    gradients_agree,
    keeps_dtype,
    leaves_inputs,
    lend,
    raises,
    repeatable,
    works_on_meta,
)


def require_gradients(function, *args):
    """Check that a gradient arrives at every real argument."""
    value = function(*args)
    gradients = function.vjp(args, {}, draw("shape", shape=tuple(value.shape))).args
    for position, (argument, gradient) in enumerate(zip(args, gradients, strict=True), start=1):
        if isinstance(argument, torch.Tensor) and argument.is_floating_point():
            assert gradient is not None, f"no gradient reaches argument {position}"


def require_manners(function, *args):
    """Check dtypes, inputs, a second call and the device."""
    for check in (keeps_dtype, leaves_inputs, repeatable, works_on_meta):
        check(function, *args)


# Part 1: linear ---------------------------------------------------------------------------------------------


@number("1.1")
@pytest.mark.parametrize("name", ["linear", "linear, a square weight", "linear, a batch"])
def test_linear(student, example, name):
    """y = W x + b for every row."""
    example(student.linear, name)


@number("1.2")
def test_linear_manners(student):
    """The dtype and the device stay, inputs stay as they were, and gradients arrive."""
    inputs = draw("n d_in", "d_out d_in", "d_out", n=2, d_in=4, d_out=3)
    require_manners(student.linear, *inputs)
    require_gradients(student.linear, *inputs)


# Part 2: mlp ------------------------------------------------------------------------------------------------


@number("2.1")
@pytest.mark.parametrize("name", ["mlp", "mlp, square weights", "mlp, two hidden layers", "mlp, no hidden layer"])
def test_mlp(student, example, name):
    """Linear layers with g between them."""
    example(student.mlp, name)


@number("2.2")
def test_mlp_batch(student):
    """Every row of a batch passes through the network as if it were alone."""
    X, W1, b1, W2, b2 = draw("2 4 3", "3 5", "5", "5 2", "2")
    layers = [(W1, b1), (W2, b2)]
    alone = [[student.mlp(x, layers, lend_tanh()) for x in rows] for rows in X]
    agree(student.mlp(X, layers, lend_tanh()), torch.stack([torch.stack(rows) for rows in alone]))


def lend_tanh():
    """Return the function that stands between the layers."""
    return lend(torch.tanh, calls=100)


# Part 3: losses ---------------------------------------------------------------------------------------------


@number("3.1")
@pytest.mark.parametrize("name", ["squared_loss", "squared_loss, several numbers"])
def test_squared_loss(student, example, name):
    """The squares are summed for each example, and their mean is over the batch."""
    example(student.squared_loss, name)


@number("3.2")
def test_squared_loss_shapes(student):
    """Different shapes raise ValueError, equal ones do not."""
    student.squared_loss(*draw("4 1", "4 1"))
    raises(ValueError, student.squared_loss, *draw("4", "4 1"))


@number("3.3")
@pytest.mark.parametrize("name", ["logistic_loss", "logistic_loss, far below", "logistic_loss, far above"])
def test_logistic_loss(student, example, name):
    """The loss of logistic regression, from logits, also from large ones."""
    example(student.logistic_loss, name)


@number("3.4")
@pytest.mark.parametrize("name", ["softmax_loss", "softmax_loss, far behind", "softmax_loss, far out"])
def test_softmax_loss(student, example, name):
    """The loss of softmax regression, from logits, also from large ones."""
    example(student.softmax_loss, name)


@number("3.5")
def test_loss_shapes(student):
    """Classes of another shape raise ValueError."""
    y = draw_integers(0, 2, "4")
    student.logistic_loss(draw("4"), y)
    raises(ValueError, student.logistic_loss, draw("4"), y.unsqueeze(-1))
    student.softmax_loss(draw("4 2"), y)
    raises(ValueError, student.softmax_loss, draw("4 2"), y.unsqueeze(-1))


@number("3.6")
def test_loss_manners(student):
    """The dtype and the device stay, inputs stay as they were, and gradients arrive, from large logits and from 0, too."""
    z, of_z = torch.tensor([-1000.0, 1000.0, 0.0, 0.5]).double(), torch.tensor([1, 0, 1, 0])
    gradients_agree(
        student.logistic_loss, lambda z, y: F.binary_cross_entropy_with_logits(z, y.to(z.dtype)), z, of_z
    )
    y = draw_integers(0, 2, "4")
    inputs = {"squared_loss": draw("4 3", "4 3"), "logistic_loss": (draw("4"), y), "softmax_loss": (draw("4 2"), y)}
    for name, args in inputs.items():
        require_manners(getattr(student, name), *args)
        require_gradients(getattr(student, name), *args)


# Part 4: softmax_regression_step ----------------------------------------------------------------------------


@number("4.1")
@pytest.mark.parametrize("name", ["softmax_regression_step", "softmax_regression_step, decay"])
def test_step(student, example, name):
    """A step downhill; the decay is on the weight only."""
    example(student.softmax_regression_step, name)


@number("4.2")
def test_step_manners(student):
    """The dtype and the device stay, and inputs stay as they were."""
    X, W, b = draw("5 3", "4 3", "4")
    require_manners(student.softmax_regression_step, X, draw_integers(0, 4, "5"), W, b, 0.1, 0.2)


# Part 5: conv2d ---------------------------------------------------------------------------------------------


@number("5.1")
@pytest.mark.parametrize("name", ["conv2d", "conv2d, channels", "conv2d, stride", "conv2d, padding", "conv2d, a batch"])
def test_conv2d(student, example, name):
    """The kernel slides over the picture."""
    example(student.conv2d, name)


@number("5.2")
def test_conv2d_manners(student):
    """The dtype and the device stay, inputs stay as they were, gradients arrive, and pictures do not mix."""
    inputs = *draw("2 4 5 2", "3 3 2 3", "3"), 2, 1
    require_manners(student.conv2d, *inputs)
    require_gradients(student.conv2d, *inputs)
    batch_independent(student.conv2d, *inputs)


# Part 6: max_pool -------------------------------------------------------------------------------------------


@number("6.1")
@pytest.mark.parametrize("name", ["max_pool", "max_pool, something left over", "max_pool, a batch"])
def test_max_pool(student, example, name):
    """The largest number of every patch and channel."""
    example(student.max_pool, name)


@number("6.2")
def test_max_pool_manners(student):
    """The dtype and the device stay, the picture stays as it was, and a gradient arrives."""
    X = draw("2 5 4 3")
    require_manners(student.max_pool, X, 2)
    require_gradients(student.max_pool, X, 2)


# Part 7: causal_conv1d and receptive_field ------------------------------------------------------------------


@number("7.1")
@pytest.mark.parametrize("name", ["causal_conv1d", "causal_conv1d, dilation", "causal_conv1d, a batch"])
def test_causal_conv1d(student, example, name):
    """An output is made of its own token and of earlier ones."""
    example(student.causal_conv1d, name)


@number("7.2")
def test_causal_conv1d_manners(student):
    """No output looks ahead, the dtype and the device stay, inputs stay as they were, and gradients arrive."""
    inputs = *draw("2 7 2", "3 2 4", "4"), 2
    causal(student.causal_conv1d, *inputs)
    require_manners(student.causal_conv1d, *inputs)
    require_gradients(student.causal_conv1d, *inputs)


@number("7.3")
@pytest.mark.parametrize("name", ["receptive_field", "receptive_field, no layer"])
def test_receptive_field(student, example, name):
    """The number of tokens that one output sees."""
    example(student.receptive_field, name)


@number("7.4")
def test_receptive_field_refuses(student):
    """Lists of different lengths raise ValueError."""
    student.receptive_field([2, 2], [1, 2])
    raises(ValueError, student.receptive_field, [2, 2], [1])
