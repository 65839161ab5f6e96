"""Hidden tests of part 5: one vector for a sequence."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.recurrent.inputs import padded
from reference import recurrent as ref
from softmark import agree, agree_in_turn, draw, gradients_agree, raises, to_float32, well_behaved

LENGTHS = [
    *((6, [4, 6, 1, 2], 3), (5, [2, 4, 3], 4), (3, [3, 3], 5), (4, [1, 1, 1], 2), (1, [1, 1, 1], 4)),
    *((5, [3], 2), (4, [2, 4, 1], 1), (3, [2, 3, 1], 3), (2, [1, 2, 2, 1, 1], 5), (1, [1], 1), (40, [7, 33], 2)),
]
"""T, the lengths and H: different, equal, all steps real, fewer real steps than T, sizes of 1, and long ones."""
parts_of_a_batch = pytest.mark.parametrize(("t", "lengths", "h"), LENGTHS)


@number("5.1")
@weight(0.5)
@visibility("after_published")
@parts_of_a_batch
def test_last(student, t, lengths, h):
    """The output of the last real step."""
    agree(student.read_out, ref.read_out, *padded(t, lengths, h), "last")


@number("5.2")
@weight(0.5)
@visibility("after_published")
@parts_of_a_batch
def test_mean(student, t, lengths, h):
    """The mean over the real steps only."""
    agree(student.read_out, ref.read_out, *padded(t, lengths, h), "mean")


@number("5.3")
@weight(0.5)
@visibility("after_published")
@parts_of_a_batch
def test_max(student, t, lengths, h):
    """The largest number of the real steps only, which may be negative."""
    outputs, lengths = padded(t, lengths, h)
    agree(student.read_out, ref.read_out, outputs, lengths, "max")
    agree(student.read_out, ref.read_out, -outputs.abs(), lengths, "max")


@number("5.4")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("how", ["last", "mean", "max"])
@pytest.mark.parametrize("padding", [0.0, 1e6, -1e6])
def test_padding(student, how, padding):
    """The padding has no influence, and it gets no gradient."""
    outputs, lengths = padded(5, [4, 5, 1], 2, padding)
    agree(student.read_out, ref.read_out, outputs, lengths, how)
    gradients_agree(student.read_out, ref.read_out, outputs, lengths, how)


@number("5.5")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("how", ["last", "mean", "max"])
def test_read_out_conduct(student, how):
    """Gradients pass, the dtype stays, any calls may come before, and another word for `how` is refused."""
    outputs, lengths = padded(5, [3, 5, 1], 4)
    gradients_agree(student.read_out, ref.read_out, outputs, lengths, how)
    gradients_agree(student.read_out, ref.read_out, 100 * outputs, lengths, how)
    well_behaved(student.read_out, ref.read_out, outputs, lengths, how)
    more, fewer = padded(8, [6, 2, 4, 7], 6), padded(2, [1], 1)
    others = (*more, how), (*fewer, how), (outputs, lengths.flip(0), how), (-100 * outputs, lengths, how)
    of_other_kinds = [(outputs, lengths, other) for other in ("last", "mean", "max") if other != how]
    agree_in_turn(student.read_out, ref.read_out, (outputs, lengths, how), *others, *of_other_kinds)
    for sizes in (3, [3, 2, 1], 3), (1, [1, 1], 2), (7, [5], 1):
        agree(student.read_out, ref.read_out, *to_float32(padded(*sizes)), how)
    raises(ValueError, student.read_out, outputs, lengths, how.upper())
    raises(ValueError, student.read_out, draw("2 1 3"), torch.tensor([2]), "sum")
