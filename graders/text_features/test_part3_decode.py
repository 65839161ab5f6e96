"""Hidden tests of part 3: from ids back to a text."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.text_features.inputs import draw_known
from reference import text_features as ref
from softmark import agree, agree_in_turn, draw_integers, leaves_inputs


@number("3.4")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("count", [1, 2, 9])
def test_words(student, count):
    """The words of the ids, joined by one space; the vocabulary may have any order."""
    known, _ = draw_known(count)
    ids = draw_integers(4, 4 + count, "T", T=7).tolist()
    agree(student.decode, ref.decode, ids, known)
    agree(student.decode, ref.decode, [], known)


@number("3.5")
@weight(0.75)
@visibility("after_published")
def test_other_ids(student):
    """PAD anywhere, START, UNK, UNUSED, and ids without a word, after any calls."""
    known, _ = draw_known(3)
    for ids in [1, 4, 5], [2], [4, 2, 6], [3, 5], [9], [4, 7, 5], [4, 0, 5, 0], [0], [0, 0, 6], [1]:
        agree(student.decode, ref.decode, ids, known)
    mixed = draw_integers(0, 9, "T", T=40).tolist()
    agree(student.decode, ref.decode, mixed, {})
    leaves_inputs(student.decode, mixed, known)
    agree_in_turn(student.decode, ref.decode, (mixed, known), (mixed[3:], {}), (mixed[::-1], known), ([5], {"a": 5}))
