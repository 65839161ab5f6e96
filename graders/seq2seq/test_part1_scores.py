"""Hidden tests of part 1: scores. Each function alone, then how all three behave."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.seq2seq.inputs import SIZES, source
from reference import seq2seq as ref
from softmark import agree, agree_at_extremes, agree_in_turn, draw, gradients_agree, well_behaved


def dot_inputs(n, s, d, c, a):
    return source(n, s, d, d)


def bilinear_inputs(n, s, d, c, a):
    return *source(n, s, d, c), 5 * draw("d c", d=d, c=c)


def additive_inputs(n, s, d, c, a):
    return *source(n, s, d, c), *draw("a d", "a c", "a", a=a, d=d, c=c)


INPUTS = {"dot_scores": dot_inputs, "bilinear_scores": bilinear_inputs, "additive_scores": additive_inputs}


@number("1.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_dot_scores(student, sizes):
    """The dot product of the query with each state of its own sentence."""
    agree(student.dot_scores, ref.dot_scores, *dot_inputs(*sizes))


@number("1.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_bilinear_scores(student, sizes):
    """A matrix between query and state, which may differ in width."""
    agree(student.bilinear_scores, ref.bilinear_scores, *bilinear_inputs(*sizes))


@number("1.3")
@weight(1.25)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_additive_scores(student, sizes):
    """Two matrices, a tanh around their sum, and a vector."""
    agree(student.additive_scores, ref.additive_scores, *additive_inputs(*sizes))


@number("1.4")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("name", INPUTS)
def test_scores_conduct(student, name):
    """Gradients pass, large numbers and float32 are right, no input is changed, and any calls may come before."""
    own, ours, inputs = getattr(student, name), getattr(ref, name), INPUTS[name](3, 5, 4, 6, 7)
    for sizes in (3, 5, 4, 6, 7), (2, 1, 3, 2, 5), (1, 4, 2, 2, 2):
        gradients_agree(own, ours, *INPUTS[name](*sizes))
    gradients_agree(own, ours, *(40 * value for value in inputs))
    agree_at_extremes(own, ours, *inputs)
    well_behaved(own, ours, *inputs)
    longer, smaller = INPUTS[name](4, 7, 6, 8, 9), INPUTS[name](1, 1, 1, 1, 1)
    agree_in_turn(own, ours, inputs, longer, smaller, [-100 * value for value in inputs])
    for scale in (0, 1e-3):
        agree(own, ours, *(scale * value for value in inputs))
