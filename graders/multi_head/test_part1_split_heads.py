"""Hidden tests: splitting the width into heads.

Each test of this homework shows one thing that can be wrong, and the tests of a part go from the isolated to the full.
"""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.multi_head.inputs import UNEVEN
from reference import multi_head as ref
from softmark import agree, agree_in_turn, draw, gradients_agree, raises, well_behaved

SIZES = [(5, 12, 3), (7, 10, 2), (6, 12, 3), (3, 12, 3), (4, 12, 3), (12, 12, 3), (5, 9, 3), (4, 16, 4)]
SIZES += [(2, 6, 6), (33, 6, 3), (65, 4, 2), (257, 6, 2), (5, 36, 12), (3, 34, 17), (2, 140, 2)]


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
@pytest.mark.parametrize(("T", "D", "n_heads"), SIZES)
def test_split_many_tokens(student, T, D, n_heads):
    """Several tokens: each head has all of them, as its rows; few and many, sizes that differ and sizes that do not."""
    X = draw("T D", T=T, D=D)
    agree(student.split_heads, ref.split_heads, X, n_heads)
    agree(student.split_heads, ref.split_heads, X, 1)


@number("1.3")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(2,), (2, 7), (1, 2), (3,), (4,), (5,), (33,), (2, 2), (3, 3), (5, 5)])
def test_split_with_batch(student, batch):
    """Batch dimensions stay in front, one or two of them; as many examples as heads, tokens or features, too."""
    agree(student.split_heads, ref.split_heads, draw("batch T D", batch=batch, T=5, D=12), 3)


@number("1.4")
@weight(0.5)
@visibility("after_published")
def test_split_uneven_width(student):
    """A width that is no multiple of the number of heads raises ValueError."""
    student.split_heads(draw("T D", T=5, D=12), 3)
    for D, n_heads in UNEVEN:
        for sizes in ({"T": 5}, {"T": n_heads, "batch": (n_heads,)}, {"T": 2, "batch": (2, n_heads)}):
            raises(ValueError, student.split_heads, draw("batch T D", D=D, **{"batch": (), **sizes}), n_heads)
    agree(student.split_heads, ref.split_heads, draw("T D", T=5, D=12), 3)


@number("1.5")
@weight(0.25)
@visibility("after_published")
def test_split_gradient(student):
    """Gradients flow back through the split, whatever the sizes are."""
    X = draw("batch T D", batch=(2,), T=5, D=12)
    for tokens, n_heads in ((X, 3), (40 * X, 3), (X[0], 4), (X[:, :1], 12), (X[None], 1), (X[0, :3], 3)):
        gradients_agree(student.split_heads, ref.split_heads, tokens.contiguous(), n_heads)


@number("1.6")
@weight(0.5)
@visibility("after_published")
def test_split_is_a_clean_function(student):
    """dtype and device of the input, which is unchanged; earlier calls make no difference."""
    X = draw("batch T D", batch=(2,), T=5, D=12)
    well_behaved(student.split_heads, ref.split_heads, X, 3)
    others = (draw("T D", T=7, D=16), 4), (draw("T D", T=3, D=1), 1), (40 * X, 3), (X, 4), (X, 1)
    agree_in_turn(student.split_heads, ref.split_heads, (X, 3), *others)
    for numbers in (0 * X, X.abs(), -X.abs(), X / 1000):
        agree(student.split_heads, ref.split_heads, numbers, 3)
