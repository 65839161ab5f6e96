"""Hidden tests of part 4: a step of softmax regression, its gradients by hand."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.building_blocks.inputs import BOTH_DTYPES, NAMES_OF_DTYPES, draw_examples
from reference import building_blocks as ref
from softmark import agree, agree_in_turn, confirm_reference, draw, well_behaved

SIZES = [(5, 3, 4), (3, 6, 2), (7, 2, 5), (4, 4, 4), (3, 3, 5), (3, 5, 3), (5, 3, 3), (40, 2, 3), (2, 65, 3)]


def draw_problem(N, d, C, dtype=torch.float64):
    """Draw X, y, W and b. No class has all the probability, so that no gradient vanishes."""
    X, W, b = draw("N d", "C d", "C", N=N, d=d, C=C, dtype=dtype)
    return X, draw_examples(N, C)[1], W / (2 * d**0.5), b / 2


def autograd_step(X, y, W, b, lr, decay):
    """Return what autograd makes of the loss and its penalty."""
    W, b = (value.clone().requires_grad_() for value in (W, b))
    loss = torch.nn.functional.cross_entropy(X @ W.T + b, y) + decay / 2 * (W**2).sum()
    dW, db = torch.autograd.grad(loss, (W, b))
    return (W - lr * dW).detach(), (b - lr * db).detach()


def check_step(student, *problem, lr=0.7, decay=0.0):
    """Check the student's step; the reference's is that of autograd."""
    inputs = *problem, lr, decay
    confirm_reference(
        lambda: ref.softmax_regression_step(*inputs), lambda: autograd_step(*inputs), f"autograd, {lr}, {decay}"
    )
    agree(student.softmax_regression_step, ref.softmax_regression_step, *inputs)


@number("4.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("d", "C"), [(3, 4), (4, 2), (3, 3), (1, 3), (4, 1)])
def test_one_example(student, d, C):
    """A step with one example, without decay"""
    problem = draw_problem(1, d, C)
    for lr in (1.0, 0.3):
        check_step(student, *problem, lr=lr)


@number("4.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("N", "d", "C"), SIZES)
def test_batch_of_examples(student, N, d, C):
    """A step with several examples, without decay"""
    check_step(student, *draw_problem(N, d, C))


@number("4.3")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("lr", "decay"), [(0.5, 0.1), (2.0, 3.0), (0.1, 1.0), (0.0, 0.5)])
def test_decay(student, lr, decay):
    """A step with decay, on the weight and not on the bias"""
    for N, d, C in (5, 3, 4), (1, 4, 2), (4, 4, 4):
        check_step(student, *draw_problem(N, d, C), lr=lr, decay=decay)


@number("4.4")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("dtype", BOTH_DTYPES, ids=NAMES_OF_DTYPES)
def test_step_far_out(student, dtype):
    """A step at logits as large as ±1000"""
    X, y, W, b = draw_problem(5, 3, 4, dtype)
    for scale in (300, 2000):
        agree(student.softmax_regression_step, ref.softmax_regression_step, scale * X, y, W, b, 0.5, 0.0)
        agree(student.softmax_regression_step, ref.softmax_regression_step, scale * X, y, W, b, 0.1, 0.0)


@number("4.5")
@weight(0.25)
@visibility("after_published")
def test_step_manners(student):
    """float32 stays float32, inputs stay as they were, any device will do, and so will any calls before"""
    first, larger, smaller = draw_problem(5, 3, 4), draw_problem(7, 6, 8), draw_problem(2, 1, 2)
    X, y, W, b = first
    well_behaved(student.softmax_regression_step, ref.softmax_regression_step, *first, 0.5, 0.1)
    calls = (*first, 0.5, 0.1), (*larger, 0.2, 0.0), (*smaller, 0.5, 0.3), (X, y, 3 * W, b, 0.5, 0.1)
    agree_in_turn(student.softmax_regression_step, ref.softmax_regression_step, *calls, (*first, 1.5, 0.0))
    for sizes in (1, 3, 4), (5, 1, 4), (5, 3, 1):
        problem = draw_problem(*sizes, torch.float32)
        agree(student.softmax_regression_step, ref.softmax_regression_step, *problem, 0.5, 0.1)
