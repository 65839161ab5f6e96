"""A small course on search: a hidden test hands the student's function a `step` function of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from softmark.records.result import Outcome
from softmark.sandbox.isolation import Sandbox
from tests.support.course import grade, lost, named, references_of, write_course
from tests.support.sandboxes import sandbox

REFERENCE = '''import torch

def one(step, start, length):
    """Greedy search: follow the likeliest token."""
    tokens = [start]
    for _ in range(length):
        tokens.append(int(step(torch.tensor(tokens)).argmax()))
    return torch.tensor(tokens)

def two(step, start, length, width):
    """Beam search: keep the likeliest sequences."""
    beams = [(0.0, [start])]
    for _ in range(length):
        longer = []
        for score, tokens in beams:
            scores = torch.log_softmax(step(torch.tensor(tokens)), -1)
            longer += [(score + float(s), [*tokens, t]) for t, s in enumerate(scores)]
        beams = sorted(longer, reverse=True)[:width]
    return torch.tensor(beams[0][1])
'''
HIDDEN = '''
from reference import tiny as ref
from softmark import lend

W = draw("a b", a=5, b=5)


def step(tokens):
    return W[tokens[-1]] + 0.5 * W[tokens[0]]


@number("1")
@weight(2)
@pytest.mark.parametrize("start", [0, 3])
def test_greedy(student, start):
    """Greedy search."""
    agree(student.one, ref.one, lend(step, calls=4), start, 4)


@number("2")
@weight(2)
def test_beam(student):
    """Beam search."""
    agree(student.two, ref.two, lend(step, calls=40), 0, 4, width=3)
'''
MISTAKES = """
import torch
from reference import tiny as ref
from softmark import mistake

@mistake(ref.one, says="You take the least likely token.")
def least(step, start, length):
    tokens = [start]
    for _ in range(length):
        tokens.append(int(step(torch.tensor(tokens)).argmin()))
    return torch.tensor(tokens)
"""


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


@pytest.fixture
def course(tmp_path: Path) -> Iterator[Path]:
    root = write_course(tmp_path, HIDDEN, points=[2, 2])
    (root / "reference/tiny.py").write_text(REFERENCE)
    (root / "graders/tiny/mistakes.py").write_text(MISTAKES)
    with references_of(root):
        yield root


def test_right_and_wrong_searches(course: Path, place: Sandbox) -> None:
    """A right search has full marks, a wrong one loses its own and reads its name, and none takes another's."""
    wrong = REFERENCE.replace("argmax", "argmin")
    for source, expected in ((REFERENCE, []), (wrong, ["1"]), (REFERENCE, [])):
        [result] = grade(course, place, source)
        assert lost(result) == expected
    [result] = grade(course, place, wrong)
    (cause,) = named(result, "test_greedy").verdicts[0].causes
    assert cause.says == "You take the least likely token."


def test_a_search_that_asks_too_often(course: Path, place: Sandbox) -> None:
    """It is told how often it may ask."""
    often = REFERENCE.replace("    tokens = [start]\n", "    tokens = [start]\n    step(torch.tensor([1]))\n", 1)
    [result] = grade(course, place, often)
    assert lost(result) == ["1"]
    fact = named(result, "test_greedy").verdicts[0].fact
    assert fact == "one: calls `step` too often: 4 calls must be enough"


def test_a_search_that_asks_nonsense(course: Path, place: Sandbox) -> None:
    """An exception of the test's function is the student's failure, not the grader's."""
    for nonsense in ("None", "torch.tensor([10**9])", "'a'", "torch.zeros(0)", "{'a': [None]}"):
        [result] = grade(
            course, place, REFERENCE.replace("step(torch.tensor(tokens)).argmax", f"step({nonsense}).argmax")
        )
        assert lost(result) == ["1"]
        assert named(result, "test_greedy").outcome is Outcome.FAILED
