"""Hidden tests of part 7: beam search, with a `step` of the test's."""

import itertools
import math

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.seq2seq.inputs import tables, tables_with_ties
from graders.seq2seq.lent import step
from reference import seq2seq as ref
from softmark import (
    Answer,
    agree,
    agree_in_turn,
    confirm_reference,
    keeps_dtype,
    leaves_inputs,
    lend,
    repeatable,
    works_on_meta,
)


def beam_inputs(state, start, end, width, limit):
    """Return the arguments of a search that may call `step` once too often: its answer says more than that."""
    return lend(step, calls=limit + 1), state, start, end, width, limit


def check_beams(student, *given):
    agree(student.beam_search, ref.beam_search, *beam_inputs(*given))


def all_sequences(state, start, end, limit):
    """Return every sequence that ends or has `limit` tokens, and its score, the best first."""
    v = math.isqrt(state.shape[1])
    found = {}
    for tokens in itertools.product(range(v), repeat=limit):
        length = tokens.index(end) + 1 if end in tokens else limit
        found[tokens[:length] + (end,) * (limit - length)] = score_of(tokens[:length], state, start)
    best = sorted(found, key=found.get, reverse=True)
    return torch.tensor(best), torch.tensor([found[tokens] for tokens in best], dtype=state.dtype)


def score_of(tokens, state, start):
    """Return the sum of the log probabilities of a sequence."""
    score = 0.0
    for before, token in zip((start, *tokens), tokens, strict=False):
        logits, state = step(torch.tensor([before]), state)
        score += (logits[0, token] - logits[0].logsumexp(0)).item()
    return score


@number("7.1")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize(
    ("v", "start", "end", "limit"), [(5, 1, 2, 6), (3, 2, 0, 9), (7, 0, 6, 1), (2, 1, 0, 40), (1, 3, 0, 4)]
)
def test_beam_of_one(student, v, start, end, limit):
    """With width 1 the tokens are those of greedy search, with their score."""
    for of_end in (-20, 0, 1, 20):
        state = tables(1, v, end, of_end)
        confirm_reference(
            lambda state=state: ref.beam_search(step, state, start, end, 1, limit)[0],
            lambda state=state: ref.greedy(step, state, start, end, limit),
            "greedy search",
        )
        check_beams(student, state, start, end, 1, limit)


@number("7.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(("v", "start", "end", "limit"), [(3, 1, 2, 3), (2, 0, 1, 4), (4, 3, 0, 2), (5, 1, 2, 1)])
def test_beam_of_everything(student, v, start, end, limit):
    """A beam that is wide enough finds all sequences in the order of their scores."""
    state = tables(1, v, end, 0.5)
    confirm_reference(
        lambda: ref.beam_search(step, state, start, end, v**limit, limit),
        lambda: all_sequences(state, start, end, limit),
        "all sequences",
    )
    for width in (v**limit, v**limit + 7):
        check_beams(student, state, start, end, width, limit)


@number("7.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(
    ("v", "start", "end", "width", "limit"),
    [(5, 1, 2, 3, 6), (5, 4, 0, 2, 4), (7, 0, 6, 4, 3), (3, 2, 1, 2, 12), (4, 1, 3, 5, 5), (30, 1, 3, 6, 3)],
)
def test_beam_search(student, v, start, end, width, limit):
    """The best hypotheses stay, each with its own state; one that ended keeps its score and its place."""
    for of_end in (-20, 0, 1, 2, 4):
        check_beams(student, tables(1, v, end, of_end), start, end, width, limit)


@number("7.4")
@weight(0.25)
@visibility("after_published")
def test_beams_of_equal_scores(student):
    """Of equal scores, the hypothesis that stood higher goes first, and of one hypothesis the smaller id."""
    for v in (2, 3, 4):
        for end in range(v):
            for width in (1, 2, 5):
                check_beams(student, torch.zeros(1, v * v, dtype=torch.float64), 1, end, width, 3)
    for width in (2, 3):
        check_beams(student, tables_with_ties(1, 5), 1, 2, width, 4)


@number("7.5")
@weight(0.25)
@visibility("after_published")
def test_beam_search_conduct(student):
    """Large logits and float32 are right, no input is changed, any device will do, and any calls may come before."""
    inputs = beam_inputs(tables(1, 5, 3, 1), 2, 3, 3, 6)
    agree(student.beam_search, ref.beam_search, *inputs)
    for check in (leaves_inputs, repeatable, works_on_meta):
        check(student.beam_search, *inputs)
    keeps_dtype(ScoresOf(student.beam_search), *inputs)
    others = [
        beam_inputs(tables(1, 6, 4, 1), 5, 4, 4, 9),
        beam_inputs(tables(1, 3, 2, -20), 1, 2, 2, 4),
        beam_inputs(tables(1, 5, 3, -20), 2, 3, 3, 6),
    ]
    for call in (inputs, *others, inputs, others[2], inputs):
        agree(student.beam_search, ref.beam_search, *call)
    agree_in_turn(student.beam_search, ref.beam_search, inputs, *others)
    for scale in (400, 1e-3):
        state = (scale * tables(1, 5, 3, 1)).clamp(-1000, 1000)
        check_beams(student, state, 2, 3, 4, 5)
        check_beams(student, state, 2, 3, 9, 1)


class ScoresOf:
    """A beam search that returns the scores only: whole numbers, such as the tokens, have no dtype to keep."""

    name = "beam_search"

    def __init__(self, search):
        self.search = search

    def call(self, args, kwargs):
        return Answer(self.search(*args, **kwargs)[1])

    def __call__(self, *args):
        return self.call(args, {}).value


@number("7.6")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize(("of_end", "width", "limit"), [(20, 1, 5), (20, 3, 6), (3, 2, 9), (-20, 3, 3)])
def test_beam_search_calls(student, of_end, width, limit):
    """`step` is called once for each column of the answer, and not again when all hypotheses have ended."""
    state = tables(1, 4, 2, of_end)
    calls = ref.beam_search(step, state, 1, 2, width, limit)[0].shape[1]
    agree(student.beam_search, ref.beam_search, lend(step, calls=calls), state, 1, 2, width, limit)
