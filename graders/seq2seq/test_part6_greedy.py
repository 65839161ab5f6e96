"""Hidden tests of part 6: greedy search, with a `step` of the test's."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.seq2seq.inputs import tables, tables_with_ties
from graders.seq2seq.lent import step
from reference import seq2seq as ref
from softmark import agree, agree_in_turn, leaves_inputs, lend, repeatable, works_on_meta


def greedy_inputs(state, start, end, limit):
    """Return the arguments of a search that may call `step` once too often: its answer says more than that."""
    return lend(step, calls=limit + 1), state, start, end, limit


def check_greedy(student, *given):
    agree(student.greedy, ref.greedy, *greedy_inputs(*given))


@number("6.1")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(
    ("v", "start", "end", "limit"),
    [
        (5, 1, 2, 6),
        (5, 4, 0, 3),
        (7, 0, 6, 1),
        (3, 2, 1, 12),
        (2, 1, 0, 100),
        (5, 3, 2, 5),
        (40, 2, 3, 5),
    ],
)
def test_greedy_of_one_sentence(student, v, start, end, limit):
    """One sentence: the likeliest token at every step, fed back with the new state, until END or the limit."""
    check_greedy(student, tables(1, v, end, -20), start, end, limit)
    for of_end in (0, 1, 20):
        check_greedy(student, tables(1, v, end, of_end), start, end, limit)


@number("6.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(
    ("n", "v", "start", "end", "limit"),
    [(4, 5, 1, 2, 8), (3, 3, 2, 0, 5), (2, 7, 0, 6, 1), (5, 5, 3, 1, 5), (17, 4, 1, 3, 9), (3, 2, 1, 0, 100)],
)
def test_greedy_of_a_batch(student, n, v, start, end, limit):
    """Each sentence ends by itself and is filled with END; the search goes on until all have ended."""
    for of_end in (-20, 0, 1, 2, 20):
        check_greedy(student, tables(n, v, end, of_end), start, end, limit)


@number("6.3")
@weight(0.25)
@visibility("after_published")
def test_greedy_of_equal_logits(student):
    """Of tokens that are equally likely, the one with the smaller id is taken."""
    for v in (2, 5, 6):
        for end in range(v - 1, -1, -1):
            check_greedy(student, torch.zeros(2, v * v, dtype=torch.float64), end + 1, end, 4)
            check_greedy(student, tables_with_ties(3, v), end + 1, end, 6)


@number("6.4")
@weight(0.25)
@visibility("after_published")
def test_greedy_conduct(student):
    """Large logits and float32 are right, no input is changed, any device will do, and any calls may come before."""
    inputs = greedy_inputs(tables(3, 5, 3, 1), 2, 3, 6)
    agree(student.greedy, ref.greedy, *inputs)
    for check in (leaves_inputs, repeatable, works_on_meta):
        check(student.greedy, *inputs)
    others = [
        greedy_inputs(tables(4, 6, 4, 1), 5, 4, 9),
        greedy_inputs(tables(1, 3, 1, -20), 1, 2, 4),
        greedy_inputs(tables(3, 5, 3, -20), 2, 3, 6),
    ]
    for call in (inputs, *others, inputs, others[2], inputs):
        agree(student.greedy, ref.greedy, *call)
    agree_in_turn(student.greedy, ref.greedy, inputs, *others)
    check_greedy(student, tables(2, 1, 0, 0), 3, 0, 4)  # a vocabulary of one token
    for scale in (1000, 1e-3):
        check_greedy(student, scale * tables(3, 5, 3, 1), 2, 3, 6)


@number("6.5")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize(("n", "of_end", "limit"), [(1, 20, 5), (3, 20, 4), (4, 2, 9), (1, 1, 30), (2, -20, 3)])
def test_greedy_calls(student, n, of_end, limit):
    """`step` is called once for each column of the answer, and not again when all sentences have ended."""
    state = tables(n, 4, 2, of_end)
    calls = ref.greedy(step, state, 1, 2, limit).shape[1]
    agree(student.greedy, ref.greedy, lend(step, calls=calls), state, 1, 2, limit)
