"""Hidden tests of part 3: adding positions to tokens."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from reference import positional_encoding as ref
from softmark import agree, agree_in_turn, draw, gradients_agree, keeps_dtype, leaves_inputs, works_on_meta


def check_sum(student, X):
    agree(student.add_positions, ref.add_positions, X)


@number("3.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("n", "d"), [(12, 8), (13, 6), (1, 4)])
def test_one_sequence(student, n, d):
    """One sequence: p_t is added to token t"""
    check_sum(student, draw("n d", n=n, d=d))


@number("3.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [{"batch": 3, "n": 11, "d": 8}, {"batch": (2, 5), "n": 12, "d": 6}])
def test_batches(student, sizes):
    """One or two batch dimensions: every sequence gets the same positions"""
    check_sum(student, draw("batch n d", **sizes))


@number("3.3")
@weight(0.5)
@visibility("after_published")
def test_dtype_and_device(student):
    """The result has the dtype and the device of X"""
    X = draw("n d", n=11, d=6, dtype=torch.float32)
    check_sum(student, X)
    keeps_dtype(student.add_positions, X)
    works_on_meta(student.add_positions, X)


@number("3.4")
@weight(0.25)
@visibility("after_published")
def test_inputs_are_left_alone(student):
    """X is not changed, and the result is the same whatever was asked before"""
    X, larger, smaller = draw("n d", "1 m 9", "k 1", n=10, d=6, m=14, k=7)
    check_sum(student, X)
    leaves_inputs(student.add_positions, X)
    agree_in_turn(student.add_positions, ref.add_positions, [X], [larger], [smaller], [40 * X])


@number("3.5")
@weight(0.25)
@visibility("after_published")
def test_gradient_of_X(student):
    """Gradients flow to X"""
    X = draw("n d", n=10, d=8)
    check_sum(student, X)
    gradients_agree(student.add_positions, ref.add_positions, X)
    gradients_agree(student.add_positions, ref.add_positions, 40 * X)
