"""Hidden tests of part 3: adding positions to tokens."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.positional_encoding.sizes import batch as batch_of
from reference import positional_encoding as ref
from softmark import agree, agree_in_turn, draw, gradients_agree, keeps_dtype, leaves_inputs, works_on_meta

BATCHES = [(3, 11, 8), ((2, 5), 12, 6), (5, 5, 6), (6, 5, 6), (4, 4, 4), (1, 7, 5), ((2, 2), 5, 3), ((4, 3), 3, 4)]
BATCHES += [((1, 1), 1, 2), (33, 2, 3), (2, 65, 4)]


def combinations():
    """Yield tokens in which conditions meet."""
    for row in range(20):
        dtype = torch.float32 if row % 8 < 4 else torch.float64
        n, d = [1, 2, 4, 7, 40][row % 5], [2, 3, 4, 7][row % 4]
        yield draw("batch n d", batch=batch_of(row), n=n, d=d, dtype=dtype)


def check_sum(student, X):
    agree(student.add_positions, ref.add_positions, X)


@number("3.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(
    ("n", "d"), [(12, 8), (13, 6), (1, 4), (9, 5), (7, 7), (4, 8), (65, 3), (101, 6), (3, 66), (32, 12)]
)
def test_one_sequence(student, n, d):
    """One sequence: p_t is added to token t"""
    check_sum(student, draw("n d", n=n, d=d))


@number("3.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("batch", "n", "d"), BATCHES)
def test_batches(student, batch, n, d):
    """One or two batch dimensions, of any sizes: every sequence gets the same positions"""
    check_sum(student, draw("batch n d", batch=batch, n=n, d=d))


@number("3.3")
@weight(0.5)
@visibility("after_published")
def test_dtype_and_device(student):
    """The result has the dtype and the device of X"""
    check_sum(student, draw("batch n d", batch=2, n=9, d=5, dtype=torch.float32))
    X = draw("n d", n=11, d=6, dtype=torch.float32)
    keeps_dtype(student.add_positions, X)
    check_sum(student, X)
    works_on_meta(student.add_positions, X)


@number("3.4")
@weight(0.25)
@visibility("after_published")
def test_inputs_are_left_alone(student):
    """X is not changed, and earlier calls make no difference"""
    X, larger, smaller = draw("n d", "1 m 9", "k 1", n=10, d=6, m=14, k=7)
    check_sum(student, X)
    leaves_inputs(student.add_positions, X)
    agree_in_turn(student.add_positions, ref.add_positions, [X], [larger], [smaller], [40 * X])
    one_is_large = X * torch.where(torch.arange(6) == 2, 1e4, 1.0)
    for numbers in (one_is_large, torch.zeros(3, 5, 4), X.abs(), -X.abs(), X / 1000):
        check_sum(student, numbers)
    for tokens in combinations():
        check_sum(student, tokens)


@number("3.5")
@weight(0.25)
@visibility("after_published")
def test_gradient_of_X(student):
    """Gradients flow to X, whatever its sizes are"""
    X = draw("n d", n=10, d=8)
    check_sum(student, X)
    gradients_agree(student.add_positions, ref.add_positions, X)
    gradients_agree(student.add_positions, ref.add_positions, 40 * X)
    for tokens in combinations():
        gradients_agree(student.add_positions, ref.add_positions, tokens)
