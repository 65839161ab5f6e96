"""Hidden tests of part 4: the bag of words."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.text_features.inputs import BATCHES, NAMES_OF_BATCHES, draw_ids
from reference import text_features as ref
from softmark import agree, agree_in_turn, draw_integers, leaves_inputs, works_on_meta

SIZES = [(6, 5), (1, 3), (7, 1), (4, 4), (8, 8), (100, 3), (2, 40)]
"""T and size."""


def draw_word_ids(size, T):
    """Draw ids of words only, one text."""
    return draw_integers(4, size + 4, "T", T=T)


@number("4.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("T", "size"), SIZES)
def test_counts(student, T, size):
    """The counts of the words of one text without reserved ids."""
    agree(student.bag_of_words, ref.bag_of_words, draw_word_ids(size, T), size)


@number("4.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("T", "size"), SIZES)
def test_binary(student, T, size):
    """The presence of the words of one text without reserved ids: 1, however often a word occurs."""
    agree(student.bag_of_words, ref.bag_of_words, draw_word_ids(size, T), size, binary=True)


@number("4.3")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("reserved", [0, 1, 2, 3])
def test_reserved_ids(student, reserved):
    """PAD, START, UNK and UNUSED are not counted; a text may have nothing else."""
    ids = draw_word_ids(5, 7)
    ids[[0, 3, 6]] = reserved
    for text in ids, torch.full((4,), reserved):
        for binary in False, True:
            agree(student.bag_of_words, ref.bag_of_words, text, 5, binary)


@number("4.4")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", BATCHES, ids=NAMES_OF_BATCHES)
def test_batch(student, batch):
    """Texts with batch dimensions in front, each counted by itself."""
    for T, size in (6, 5), (5, 5), (1, 3), (4, 1):
        for binary in False, True:
            agree(student.bag_of_words, ref.bag_of_words, draw_ids(size, batch, T), size, binary)


@number("4.5")
@weight(0.25)
@visibility("after_published")
def test_manners(student):
    """The ids stay as they were, any device will do, and so will any calls before."""
    ids = draw_ids(5, (3,))
    leaves_inputs(student.bag_of_words, ids, 5)
    works_on_meta(student.bag_of_words, ids, 5)
    works_on_meta(student.bag_of_words, ids, 5, binary=True)
    calls = (draw_ids(7, (2, 2), 9), 7), (draw_ids(3, T=4), 3, True), (ids.roll(1), 5), (ids, 5, True), (ids, 8)
    agree_in_turn(student.bag_of_words, ref.bag_of_words, (ids, 5), *calls)
    agree_in_turn(student.bag_of_words, ref.bag_of_words, (ids, 5, True), (ids, 5), (draw_ids(5, (3,)), 5, True))
