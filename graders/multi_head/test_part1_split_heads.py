"""Hidden tests: splitting the width into heads.

Each test of this homework shows one thing that can be wrong, and the tests of a part go from the isolated to the full.
"""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.multi_head.inputs import UNEVEN
from reference import multi_head as ref
from softmark import agree, agree_in_turn, draw, gradients_agree, raises, well_behaved


@number("1.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("n_heads", [3, 1, 12])
def test_split_one_token(student, n_heads):
    """One token: each head gets its own block of neighbouring features, in order."""
    agree(student.split_heads, ref.split_heads, draw("1 D", D=12), n_heads)


@number("1.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("T", "D", "n_heads"), [(5, 12, 3), (7, 10, 2), (6, 12, 3)])
def test_split_many_tokens(student, T, D, n_heads):
    """Several tokens: each head has all of them, as its rows."""
    agree(student.split_heads, ref.split_heads, draw("T D", T=T, D=D), n_heads)


@number("1.3")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(2,), (2, 7), (1, 2)])
def test_split_with_batch(student, batch):
    """Batch dimensions stay in front, one or two of them."""
    agree(student.split_heads, ref.split_heads, draw("batch T D", batch=batch, T=5, D=12), 3)


@number("1.4")
@weight(0.5)
@visibility("after_published")
def test_split_uneven_width(student):
    """A width that is no multiple of the number of heads raises ValueError."""
    student.split_heads(draw("T D", T=5, D=12), 3)
    for D, n_heads in UNEVEN:
        raises(ValueError, student.split_heads, draw("T D", T=5, D=D), n_heads)


@number("1.5")
@weight(0.25)
@visibility("after_published")
def test_split_gradient(student):
    """Gradients flow back through the split."""
    X = draw("batch T D", batch=(2,), T=5, D=12)
    gradients_agree(student.split_heads, ref.split_heads, X, 3)
    gradients_agree(student.split_heads, ref.split_heads, 40 * X, 3)


@number("1.6")
@weight(0.5)
@visibility("after_published")
def test_split_is_a_clean_function(student):
    """dtype and device of the input, which is left as it is; the same result whatever was asked before."""
    X = draw("batch T D", batch=(2,), T=5, D=12)
    well_behaved(student.split_heads, ref.split_heads, X, 3)
    others = (draw("T D", T=7, D=16), 4), (draw("T D", T=3, D=1), 1), (40 * X, 3)
    agree_in_turn(student.split_heads, ref.split_heads, (X, 3), *others)
