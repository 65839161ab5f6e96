"""Hidden tests, part 2: the feed-forward sublayer."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from reference import transformer_block as ref
from softmark import (
    Category,
    Failed,
    agree,
    agree_at_extremes,
    agree_in_turn,
    draw,
    fail,
    gradients_agree,
    ignores_padding,
    well_behaved,
)

WIDE, NARROW, SQUARE = {"T": 16, "d": 4, "d_ff": 7}, {"T": 16, "d": 6, "d_ff": 2}, {"T": 16, "d": 5, "d_ff": 5}
ALIKE = [{"T": T, "d": d, "d_ff": d_ff} for T, d, d_ff in ((5, 5, 5), (4, 4, 7), (7, 4, 7), (3, 4, 16))]
LONG = [{"T": T, "d": d, "d_ff": d_ff} for T, d, d_ff in ((33, 3, 2), (100, 2, 3), (3, 33, 12), (2, 3, 65))]


def draw_feed_forward(batch=(), dtype=torch.float64, **sizes):
    """Draw X, W1, b1, W2, b2."""
    specs = "batch T d", "d d_ff", "d_ff", "d_ff d", "d"
    return draw(*specs, batch=batch, dtype=dtype, **sizes)


@number("2.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [WIDE, NARROW, SQUARE, *ALIKE, *LONG], ids=str)
def test_feed_forward(student, sizes):
    """Two linear layers with a ReLU between them."""
    X, *weights = draw_feed_forward(**sizes)
    agree(student.feed_forward, ref.feed_forward, X, *weights)
    agree(student.feed_forward, ref.feed_forward, X[:1], *weights)


@number("2.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(3,), (2, 3), (1,), (4,), (7,), (16,), (4, 7), (33,)])
def test_feed_forward_batch(student, batch):
    """The same network for every token of every example."""
    agree(student.feed_forward, ref.feed_forward, *draw_feed_forward(batch, **WIDE))


@number("2.3")
@weight(0.25)
@visibility("after_published")
def test_feed_forward_tokens(student):
    """No information moves between tokens."""
    X, *weights = draw_feed_forward((2,), **WIDE)
    try:
        agree(student.feed_forward, ref.feed_forward, X, *weights)
    except Failed as failure:
        if failure.verdict.category is Category.VALUE and not failure.verdict.causes:
            tokens_apart(student.feed_forward, X, *weights)  # says more than a wrong number
        raise
    tokens_apart(student.feed_forward, X, *weights)


def tokens_apart(got, X, *rest):
    """Check that changing all other tokens does not change the output of a token."""
    others = torch.arange(X.shape[-2]) != 2
    try:
        ignores_padding(got, X, *rest, padding=others, compare=~others)
    except Failed as failure:
        if failure.verdict.category is not Category.PROPERTY:
            raise
        fail(Category.PROPERTY, "what comes out for a token changes with the other tokens of the sequence")


@number("2.4")
@weight(0.25)
@visibility("after_published")
def test_feed_forward_gradients(student):
    """Gradients reach the tokens, both weights and both biases."""
    X, *weights = draw_feed_forward((2,), **WIDE)
    for scale in (1, 40):
        gradients_agree(student.feed_forward, ref.feed_forward, scale * X, *weights)
    agree_at_extremes(student.feed_forward, ref.feed_forward, X, *weights)
    for batch, sizes in ((), LONG[0]), ((2, 3), SQUARE), ((1,), {"T": 1, "d": 3, "d_ff": 4}):
        gradients_agree(student.feed_forward, ref.feed_forward, *draw_feed_forward(batch, **sizes))


@number("2.5")
@weight(0.25)
@visibility("after_published")
def test_feed_forward_manners(student):
    """float32 stays float32, inputs are unchanged, any device works, and earlier calls make no difference."""
    well_behaved(student.feed_forward, ref.feed_forward, *draw_feed_forward((2,), torch.float32, **WIDE))
    larger, smaller = {"batch": (1, 3), "T": 7, "d": 6, "d_ff": 9}, {"batch": (), "T": 3, "d": 1, "d_ff": 1}
    calls = [draw_feed_forward(**each) for each in ({"batch": (2,), "T": 5, "d": 4, "d_ff": 7}, larger, smaller)]
    agree_in_turn(student.feed_forward, ref.feed_forward, *calls, [40 * value for value in calls[0]])
    for scale in (0, 1e-30, 1e4):
        agree(student.feed_forward, ref.feed_forward, scale * calls[0][0], *calls[0][1:])
        agree(student.feed_forward, ref.feed_forward, *(scale * value for value in calls[0]))
