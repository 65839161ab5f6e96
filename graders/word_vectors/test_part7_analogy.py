"""Hidden tests of part 7: analogies."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from reference import word_vectors as ref
from softmark import agree, agree_in_turn, draw

SIZES = [(9, 4, 3), (12, 3, 9), (7, 7, 1), (5, 2, 2), (40, 6, 5), (8, 33, 4)]
"""V, d and k."""


def exact_vectors(V, dtype=torch.float64):
    """Return vectors whose lengths and products are simple, so that equal cosines are exactly equal."""
    simple = torch.tensor([[2, 0, 0, 0], [1, 1, 1, 1], [0, 0, 2, 0], [1, -1, 1, -1], [-2, 0, 0, 0]], dtype=dtype)
    return simple[torch.arange(V) * 3 % 5]


@number("7.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("V", "d", "k"), SIZES)
def test_analogy(student, V, d, k):
    """The words whose cosine with b - a + c is largest, the best first."""
    E = draw("V d", V=V, d=d) * (1 + torch.arange(V)[:, None] % 3)  # long and short vectors
    for a, b, c in (0, 1, 2), (V - 1, 2, 0), (3, V - 2, 1):
        agree(student.analogy, ref.analogy, E, a, b, c, k)


@number("7.2")
@weight(0.25)
@visibility("after_published")
def test_analogy_of_equal_words(student):
    """Of a, b and c some may be equal; none of them is an answer."""
    E = draw("8 3")
    for a, b, c in (2, 4, 2), (4, 4, 1), (5, 3, 3), (6, 6, 6), (0, 7, 0):
        agree(student.analogy, ref.analogy, E, a, b, c, 4)


@number("7.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
def test_ties_and_zeros(student, dtype):
    """Of equal cosines the smaller id comes first, and a vector of zeros has the cosine 0."""
    agree(student.analogy, ref.analogy, exact_vectors(11, dtype), 0, 5, 3, 8)
    many = exact_vectors(60, dtype)
    many[7] = many[31] = many[33] = 0
    for a, b, c, k in (0, 5, 3, 57), (0, 5, 2, 20), (3, 8, 7, 57), (0, 5, 7, 30):
        agree(student.analogy, ref.analogy, many, a, b, c, k)
    one_feature = torch.tensor([[1.0], [4.0], [-2.0], [0.0], [8.0], [-1.0], [2.0], [0.0]], dtype=dtype)
    for a, b, c in (0, 1, 2), (1, 0, 4), (1, 6, 6):
        agree(student.analogy, ref.analogy, one_feature, a, b, c, 5)


@number("7.4")
@weight(0.25)
@visibility("after_published")
def test_analogy_in_turn(student):
    """Inputs stay as they were, any device will do, and so will any calls before."""
    E, larger, smaller = draw("9 4"), draw("12 6"), draw("5 2")
    calls = (larger, 4, 5, 6, 5), (smaller, 0, 1, 2, 1), (E, 3, 1, 2, 3), (E, 2, 3, 4, 6), (100 * E, 2, 3, 1, 3)
    agree_in_turn(student.analogy, ref.analogy, (E, 2, 3, 4, 3), *calls)
    agree(student.analogy, ref.analogy, draw("6 1"), 1, 2, 3, 2)
    agree(student.analogy, ref.analogy, 1e-3 * E, 2, 3, 4, 3)
