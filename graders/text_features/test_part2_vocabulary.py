"""Hidden tests of part 2: the vocabulary."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.text_features.inputs import draw_counted, draw_signs
from reference import text_features as ref
from softmark import agree, agree_in_turn, draw_documents, draw_text, leaves_inputs


@number("2.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("times", [(3, 5, 1, 4, 2), (1, 2), (7, 2, 9), (1,)], ids=str)
def test_most_frequent_first(student, times):
    """The most frequent word has the id 4; no two words are equally frequent, and all are taken."""
    documents = draw_counted(*times)
    agree(student.vocabulary, ref.vocabulary, documents, len(times))
    agree(student.vocabulary, ref.vocabulary, documents, size=len(times) + 3)
    agree(student.vocabulary, ref.vocabulary, [" ".join(documents)], len(times))


@number("2.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_size(student, size):
    """Only `size` words get an id; no two words are equally frequent."""
    agree(student.vocabulary, ref.vocabulary, draw_counted(4, 1, 6, 3, 8, 2), size)


@number("2.3")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("times", "size"), [((1,) * 9, 6), ((2,) * 5, 5), ((3, 1, 3, 1, 3, 1), 4), ((1,) * 4, 1)])
def test_ties(student, times, size):
    """Of words that are equally frequent, the one that appears first in the documents comes first."""
    for count in 1, 3, 7:
        agree(student.vocabulary, ref.vocabulary, draw_counted(*times, documents=count), size)


@number("2.4")
@weight(0.5)
@visibility("after_published")
def test_documents(student):
    """Any documents: capitals, signs, empty ones, none at all, and any calls before."""
    documents = [*draw_documents(5), draw_signs(30)]
    for size in 1, 6, 13, 99:
        agree(student.vocabulary, ref.vocabulary, documents, size)
    for few in [""], [], ["", "One one. ONE, two"]:
        agree(student.vocabulary, ref.vocabulary, few, 3)
    leaves_inputs(student.vocabulary, documents, 4)
    calls = (documents, 7), (documents[::-1], 9), (documents[4:], 7), ([draw_text(20)], 2)
    agree_in_turn(student.vocabulary, ref.vocabulary, *calls)
