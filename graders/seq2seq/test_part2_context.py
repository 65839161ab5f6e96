"""Hidden tests of part 2: the context. First without padding, then with padding that must not matter."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.seq2seq.inputs import SIZES, some_lengths
from reference import seq2seq as ref
from softmark import agree, agree_at_extremes, agree_in_turn, draw, gradients_agree, rows_sum_to_one, well_behaved

WITH_PADDING = [(3, 5, 4), (2, 7, 3), (4, 4, 4), (5, 3, 3), (1, 1, 2), (3, 2, 1), (2, 40, 3), (1, 100, 2), (17, 3, 2)]


def context_inputs(n, s, c):
    """Draw scores and states, with the lengths of sentences of which some are shorter."""
    return *draw("n s", "n s c", n=n, s=s, c=c), some_lengths(n, s)


@number("2.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_context_without_padding(student, sizes):
    """The softmax of the scores, and the average of the states with these weights: all tokens are real."""
    n, s, c, *_ = sizes
    scores, states = draw("n s", "n s c", n=n, s=s, c=c)
    agree(student.context, ref.context, 2 * scores, states, torch.full((n,), s))


@number("2.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", WITH_PADDING, ids=str)
def test_context_with_padding(student, sizes):
    """Only the real tokens of each sentence have weights."""
    scores, states, lengths = context_inputs(*sizes)
    agree(student.context, ref.context, scores, states, lengths)
    rows_sum_to_one(student.context, scores, states, lengths, output=1)
    agree(student.context, ref.context, scores, states, lengths.flip(0))


@number("2.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [(3, 5, 4), (2, 7, 3), (4, 6, 1)], ids=str)
def test_context_ignores_padding(student, sizes):
    """Scores and states in the padding change nothing, however large they are."""
    scores, states, lengths = context_inputs(*sizes)
    padding = torch.arange(sizes[1]) >= lengths[:, None]
    for level in (0, -40, -1000):
        real = level + 5 * scores
        agree(student.context, ref.context, torch.where(padding, 1000, real), states, lengths)
        agree(student.context, ref.context, real, torch.where(padding[..., None], 1e4, states), lengths)
    gradients_agree(student.context, ref.context, torch.where(padding, 1000, scores), states, lengths)


@number("2.4")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("empty", [(0,), (0, 2), (1,), (0, 1, 2, 3)])
def test_context_of_nothing(student, empty):
    """A sentence of length 0 has weights of 0 and a context of 0, without NaN, in the gradients, too."""
    scores, states, lengths = context_inputs(4, 5, 3)
    lengths[list(empty)] = 0
    agree(student.context, ref.context, scores, states, lengths)
    agree(student.context, ref.context, 1000 * scores, states, lengths)
    gradients_agree(student.context, ref.context, scores, states, lengths)


@number("2.5")
@weight(0.5)
@visibility("after_published")
def test_context_conduct(student):
    """Gradients pass, large scores and float32 are right, no input is changed, and any calls may come before."""
    inputs = context_inputs(3, 5, 4)
    for sizes in (3, 5, 4), (2, 1, 3), (1, 4, 1), (4, 4, 4):
        gradients_agree(student.context, ref.context, *context_inputs(*sizes))
    agree_at_extremes(student.context, ref.context, *inputs, large=(0,))
    agree_at_extremes(student.context, ref.context, *inputs, large=(1,))
    well_behaved(student.context, ref.context, *inputs)
    longer, smaller, wider = context_inputs(4, 8, 6), context_inputs(1, 1, 1), context_inputs(2, 5, 7)
    other_lengths = *inputs[:2], torch.tensor([1, 5, 2])
    agree_in_turn(student.context, ref.context, inputs, longer, smaller, wider, other_lengths)
