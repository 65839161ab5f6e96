"""Hidden tests of part 1: windows of a text."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.language_model.inputs import some_ids, some_starts
from reference import language_model as ref
from softmark import agree, agree_in_turn, leaves_inputs, raises, repeatable, works_on_meta

SIZES = [(20, 4, 3), (9, 1, 5), (5, 4, 1), (2, 1, 1), (140, 33, 2), (8, 3, 8), (300, 100, 4), (15, 7, 7), (12, 6, 2)]
"""L, context and N."""


def some_windows(length, context, n):
    """Return a text, a length of windows, and starts."""
    return some_ids(500, length), context, some_starts(length - context - 1, n)


@number("1.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_windows_at_starts(student, sizes):
    """Each window begins at its start, and the target of each token is the token after it."""
    agree(student.windows, ref.windows, *some_windows(*sizes))


@number("1.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("context", [1, 2, 3, 5, 33])
def test_windows_one_after_the_other(student, context):
    """Without starts: one window after the other, as many as have all of their targets."""
    for length in range(context + 1, 3 * context + 3, 1 + context // 4):
        agree(student.windows, ref.windows, some_ids(500, length), context)
    for length in (2 * context, 2 * context + 1, 3 * context):
        agree(student.windows, ref.windows, some_ids(500, length + 1), context, None)


@number("1.3")
@weight(0.5)
@visibility("after_published")
def test_windows_outside_of_the_text(student):
    """A window or a target beyond the text raises ValueError, and so does a text that is too short."""
    ids = some_ids(500, 12)
    agree(student.windows, ref.windows, ids, 4, torch.tensor([7, 0]))
    for starts in ([0, 8], [9, 0], [-1, 2], [3, 30], [-8]):
        raises(ValueError, student.windows, ids, 4, torch.tensor(starts))
    agree(student.windows, ref.windows, ids, 11)
    for context in (12, 13, 40):
        raises(ValueError, student.windows, ids, context)
        raises(ValueError, student.windows, ids, context, torch.tensor([0]))


@number("1.4")
@weight(0.5)
@visibility("after_published")
def test_windows_conduct(student):
    """No input is changed, any device will do, and any calls may come before."""
    inputs = some_windows(20, 4, 3)
    agree(student.windows, ref.windows, *inputs)
    for check in (leaves_inputs, repeatable, works_on_meta):
        check(student.windows, *inputs)
        check(student.windows, *inputs[:2])
    others = some_windows(31, 6, 5), some_windows(7, 2, 1), (inputs[0], 4), (inputs[0], 3, inputs[2])
    agree_in_turn(student.windows, ref.windows, inputs, *others, some_windows(20, 4, 3), (inputs[0], 7))
    agree(student.windows, ref.windows, inputs[0], 4)
    agree(student.windows, ref.windows, inputs[0], 4, torch.tensor([5, 5, 2, 5]))
