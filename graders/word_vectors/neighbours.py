"""Compares the two functions of part 1, which take a text and a window, with the reference on the same texts."""

from graders.word_vectors.inputs import different_ids, draw_ids
from softmark import agree, agree_in_turn, leaves_inputs, repeatable


def check_different_words(own, right, window):
    for length in 9, 12:
        agree(own, right, different_ids(length), window)


def check_repeated_words(own, right):
    for ids, window in (draw_ids(11, 4), 1), (draw_ids(14, 3), 2), (draw_ids(8, 5), 3), ([6, 6, 6, 6], 2):
        agree(own, right, ids, window)


def check_short_texts(own, right, window):
    agree(own, right, different_ids(3), window)
    for ids in different_ids(2), [4], [], [0, 0], [0]:
        agree(own, right, ids, window)


def check_in_turn(own, right):
    ids = draw_ids(10, 6)
    leaves_inputs(own, ids, 2)
    repeatable(own, ids, 2)
    calls = (draw_ids(13, 9), 3), (draw_ids(5, 3), 1), (ids, 1), (ids[::-1], 2), (draw_ids(100, 40), 4)
    agree_in_turn(own, right, (ids, 2), *calls)
