"""How large an answer may be: what the right one has, times sixteen, and what the homework allows besides."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from softmark.records.result import Result, encode
from softmark.sandbox.isolation import Sandbox
from tests.support.course import LIMITS, grade, write_course
from tests.support.sandboxes import KINDS, sandbox

OF_12_MB = "import torch\n\n\ndef one(n):\n    return torch.zeros(1500, 1000, dtype=torch.float64) + n\n"
KNOWN = """
@number("1")
@weight(4)
def test_one(student):
    '''One.'''
    agree(student.one, lambda n: torch.zeros(1500, 1000, dtype=torch.float64) + n, 1)
"""
UNKNOWN = """
@number("1")
@weight(4)
def test_one(student):
    '''One.'''
    assert student.one(1).sum() == 1500 * 1000
"""
OF_THE_QUESTION = UNKNOWN.replace("student.one(1)", "student.one(torch.zeros(1500, 1000))")


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with sandbox(request.param) as opened:
        yield opened


@pytest.fixture
def walled() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


def said(result: Result) -> list[str]:
    return [verdict.fact for test in result.tests for verdict in test.verdicts]


def test_far_more_than_expected_is_told(tmp_path: Path, place: Sandbox) -> None:
    """The student reads how much it was, and how much it may be, whatever the process that answers."""
    root = write_course(tmp_path, UNKNOWN)
    (result,) = grade(root, place, OF_12_MB.replace("1500", "3000"))
    assert said(result) == ["one: returned 24 MB, far more than is expected here (at most 8 MB)"]


@pytest.mark.parametrize("hidden", [KNOWN, OF_THE_QUESTION], ids=["the right answer", "the question"])
def test_grows_with(hidden: str, tmp_path: Path, walled: Sandbox) -> None:
    """An answer of 12 MB is right where the right one has as much; so much is also expected of a large question."""
    source = OF_12_MB if hidden is KNOWN else "def one(x):\n    return x.double() + 1\n"
    (result,) = grade(write_course(tmp_path, hidden), walled, source)
    assert (result.total, said(result)) == (4.0, [])


def test_is_set_by_the_homework(tmp_path: Path, walled: Sandbox) -> None:
    """`answer_mb` in [limits] allows more where a test looks at an answer that it cannot know."""
    root = write_course(tmp_path, UNKNOWN, limits=f"{LIMITS}answer_mb = 16\n")
    (result,) = grade(root, walled, OF_12_MB)
    assert (result.total, said(result)) == (4.0, [])


def test_words_of_an_answer_are_cut(tmp_path: Path, walled: Sandbox) -> None:
    """A test that stumbles over a long text keeps its beginning, for staff, and not a megabyte of it."""
    hidden = """
@number("1")
@weight(4)
@pytest.mark.parametrize("n", range(4))
def test_one(student, n):
    '''One.'''
    assert {}[student.one(n)] == 1
"""
    (result,) = grade(write_course(tmp_path, hidden), walled, "def one(n):\n    return 'x' * 1_000_000\n")
    assert "KeyError: 'xxx" in result.tests[0].verdicts[0].staff
    assert len(encode(result)) < 50_000


def test_of_gradients_and_weights(tmp_path: Path, walled: Sandbox) -> None:
    """The gradients and parameters of a large module are as large as the reference's, and that is known before."""
    hidden = """
from softmark import gradients_agree

WEIGHTS = {"weight": torch.ones(1000, 1500, dtype=torch.float64)}


@number("1")
@weight(4)
def test_one(student):
    '''One.'''
    own = student.One()
    own.load_state_dict(WEIGHTS)
    reference = torch.nn.Linear(1500, 1000, bias=False).double()
    reference.load_state_dict(WEIGHTS)
    gradients_agree(own, reference, torch.ones(2, 1500, dtype=torch.float64))
"""
    source = "from torch import nn\n\n\ndef one(): pass\n\n\nclass One(nn.Linear):\n    def __init__(self):\n"
    source += "        super().__init__(1500, 1000, bias=False)\n"
    (result,) = grade(write_course(tmp_path, hidden), walled, source)
    assert (result.total, said(result)) == (4.0, [])
