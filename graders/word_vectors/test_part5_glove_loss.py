"""Hidden tests of part 5: the loss of GloVe."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from reference import word_vectors as ref
from softmark import Category, Failed, agree, agree_at_extremes, agree_in_turn, draw, gradients_agree, well_behaved

SIZES = {"several": [(4, 5), (5, 6), (3, 3), (33, 2)], "one": [(4, 1), (3, 2), (1, 4), (1, 1)]}
"""V and d of the calls of a case. The first call shows most mistakes: how clearly is measured there."""


def draw_problem(V, d, share=1.0, dtype=torch.float64):
    """Draw X with about this share of counts above 0, W, W2, b and b2. The counts are 0.3 to 20."""
    X, chance = draw("V V", "V V", V=V, dtype=dtype)
    X = torch.exp(X + 0.7).clamp(0.4, 20)
    X[0, -1] = 0.3 if V > 1 else 3
    if share < 1:
        X = torch.where(torch.special.ndtr(chance) < share, X, 0)
        X[0, 0], X[-1, 0] = 0, 3
    W, W2, b, b2 = draw("V d", "V d", "V", "V", V=V, d=d, dtype=dtype)
    return X, W, W2, 2 + b, 4 + b2  # far from 0, so that no slip in a sum is small by chance


def check_gradients(student, *inputs):
    """Check the gradients; say what is likely if one of them is not a number."""
    try:
        gradients_agree(student.glove_loss, ref.glove_loss, *inputs)
    except Failed as failure:
        if failure.verdict.category is not Category.NAN:
            raise
        fact = f"{failure.verdict.fact}: are pairs with a count of 0 left out before their logarithm is taken?"
        raise failure.saying(fact) from failure


@number("5.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_glove(student, sizes):
    """The loss of counts that are all above 0, some of them above x_max."""
    for V, d in sizes:
        problem = draw_problem(V, d)
        for x_max in 5.0, 1.5:
            agree(student.glove_loss, ref.glove_loss, *problem, x_max, 0.75)


@number("5.2")
@weight(0.5)
@visibility("after_published")
def test_counts_of_zero(student):
    """Pairs that never meet are left out, from the loss and from its gradients."""
    for V, d, share in (4, 3, 0.7), (5, 6, 0.4), (2, 1, 0.7):
        problem = draw_problem(V, d, share)
        for alpha in 0.75, 0.0:
            agree(student.glove_loss, ref.glove_loss, *problem, 2.0, alpha)
            check_gradients(student, *problem, 2.0, alpha)
    X, *weights = problem
    agree(student.glove_loss, ref.glove_loss, 0 * X, *weights, 2.0, 0.75)


@number("5.3")
@weight(0.5)
@visibility("after_published")
def test_weights(student):
    """The weight of a count: the power alpha of its share of x_max, and 1 from x_max on."""
    X, *others = draw_problem(4, 3)
    for alpha in 2.0, 0.25, 1.0, 0.75:
        for x_max in 3.0, 0.5, 100.0:
            agree(student.glove_loss, ref.glove_loss, X, *others, x_max, alpha)
            agree(student.glove_loss, ref.glove_loss, X.round() + 1, *others, 2.0, alpha)
        agree(student.glove_loss, ref.glove_loss, 300 * X, *others, 100.0, alpha)


@number("5.4")
@weight(0.5)
@visibility("after_published")
def test_glove_gradients(student):
    """Gradients reach the counts, both matrices and both biases."""
    for V, d in (4, 3), (3, 3), (5, 1), (1, 2):
        problem = draw_problem(V, d)
        agree(student.glove_loss, ref.glove_loss, *problem, 2.0, 0.75)
        gradients_agree(student.glove_loss, ref.glove_loss, *problem, 2.0, 0.75)
    agree_at_extremes(student.glove_loss, ref.glove_loss, *draw_problem(4, 3), 2.0, 0.75, large=(0, 1))


@number("5.5")
@weight(0.5)
@visibility("after_published")
def test_glove_behaviour(student):
    """float32 stays float32, inputs stay as they were, any device will do, and so will any calls before."""
    first, larger, smaller = draw_problem(4, 3, 0.8), draw_problem(6, 5), draw_problem(2, 1)
    well_behaved(student.glove_loss, ref.glove_loss, *first, 2.0, 0.75)
    calls = (*larger, 3.0, 0.5), (*smaller, 1.0, 1.0), (*first, 4.0, 0.75), (*first, 2.0, 0.5)
    agree_in_turn(student.glove_loss, ref.glove_loss, (*first, 2.0, 0.75), *calls)
    for V, d in (1, 3), (4, 1), (3, 2):
        agree(student.glove_loss, ref.glove_loss, *draw_problem(V, d, dtype=torch.float32), 2.0, 0.75)
