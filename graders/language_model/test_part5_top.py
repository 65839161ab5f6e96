"""Hidden tests of part 5: top-k and top-p."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.language_model.inputs import with_blocked
from reference import language_model as ref
from softmark import agree, agree_in_turn, draw, keeps_dtype, raises, well_behaved

SHAPES = [(5,), (3, 7), (2, 3, 4), (1, 2), (2, 60)]


@number("5.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_top_k(student, shape):
    """The k largest logits of each row stay as they are, the others become -inf; k may be larger than V."""
    logits = 2 * draw("shape", shape=shape)
    for k in sorted({1, 2, 3, shape[-1] - 1, shape[-1], shape[-1] + 1, 10 * shape[-1]} - {0}):
        agree(student.top_k, ref.top_k, logits, k)


@number("5.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_top_p(student, shape):
    """The likeliest tokens stay until their probabilities sum to p, with the token that reaches it."""
    logits = 2 * draw("shape", shape=shape)
    for p in (0.5, 0.9, 0.05, 0, 1.0):
        agree(student.top_p, ref.top_p, logits, p)
    agree(student.top_p, ref.top_p, logits / 4, 0.7)


@number("5.3")
@weight(0.5)
@visibility("after_published")
def test_equal_logits(student):
    """Of equal logits those with smaller ids stay; a sum that is p exactly is enough; p = 1 keeps all."""
    rounded = draw("4 9").round()
    for logits in (rounded, rounded.flip(-1).contiguous(), torch.zeros(2, 20, dtype=torch.float64)):
        for k in (1, 2, 3, 5):
            agree(student.top_k, ref.top_k, logits, k)
        for p in (0.33, 0.62, 0.87, 0, 1):
            agree(student.top_p, ref.top_p, logits, p)
    for n in (2, 4):
        even = torch.zeros(3, n, dtype=torch.float64)
        for half in (0.5, 0.5 - 1e-6, 0.5 + 1e-6):
            agree(student.top_p, ref.top_p, even, half)
    far = 500 * draw("3 6")
    for p in (0, 0.9, 1):
        agree(student.top_p, ref.top_p, far, p)


@number("5.4")
@weight(0.25)
@visibility("after_published")
def test_nothing_to_keep(student):
    """k below 1, and p outside of 0 to 1, raise ValueError."""
    logits = draw("2 5")
    agree(student.top_k, ref.top_k, logits, 2)
    agree(student.top_p, ref.top_p, logits, 0.5)
    for k in (0, -1, -5):
        raises(ValueError, student.top_k, logits, k)
    for p in (-0.1, 1.01, -1, 2, 90):
        raises(ValueError, student.top_p, logits, p)


@number("5.5")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize(("of", "most"), [("top_k", (3, 5, 1)), ("top_p", (0.6, 0.95, 0.3))])
def test_top_conduct(student, of, most):
    """Logits of -inf stay so, large ones and float32 are right, inputs stay, and any calls may come before."""
    own, ours = getattr(student, of), getattr(ref, of)
    logits, longer, token = 2 * draw("2 6"), draw("2 3 8"), draw("3 1")
    for value in most:
        agree(own, ours, with_blocked(logits), value)
        agree(own, ours, with_blocked(logits.flip(-1)), value)
        for offset in (900, -900):
            agree(own, ours, logits + offset, value)
        well_behaved(own, ours, logits, value)
        agree_in_turn(own, ours, (logits, value), (longer, most[0]), (token, most[1]), (draw("2 6"), most[2]))
        agree(own, ours, logits[0], value)
    agree(own, ours, with_blocked(logits), 1)
    keeps_dtype(own, logits, 1)
    agree(own, ours, draw("2 3"), 1)
    for value in most:
        agree(own, ours, draw("4 1"), value)
