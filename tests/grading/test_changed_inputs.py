"""A part pays for inputs that were changed in place, under whatever condition, and pays once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from softmark.records.verdict import Category
from softmark.sandbox.isolation import Sandbox
from tests.support.course import grade, lost, named, references_of, write_course
from tests.support.sandboxes import sandbox

REFERENCE = """import torch

def one(x, y=None):
    return 2 * x

def two(x):
    return one(x) + 1
"""
HIDDEN = '''
from reference import tiny as ref
from softmark import gradients_agree, keeps_dtype, leaves_inputs, works_on_meta


@number("1.1")
@weight(2)
@pytest.mark.parametrize("batch", [(), (3,)])
def test_one(student, batch):
    """One."""
    agree(student.one, ref.one, draw("batch n", batch=batch, n=5))


@number("1.2")
@weight(1)
def test_one_conduct(student):
    """The input stays as it was."""
    x = draw("n", n=4)
    agree(student.one, ref.one, x)
    leaves_inputs(student.one, x)
    keeps_dtype(student.one, x)


@number("1.3")
@weight(1)
def test_one_otherwise(student, subtests):
    """Gradients, another device, the number of operations, and a second argument."""
    x = draw("n", n=6)
    with subtests.test("in many ways"):
        agree(student.one, ref.one, x, y=[1, {"mask": x > 0}])
        gradients_agree(student.one, ref.one, x)
        student.one.count_ops((x,), {})
        student.one.on_meta((x,), {})
        agree(student.one(x), ref.one(x))


@number("2.1")
@weight(1)
def test_two(student):
    """Two."""
    agree(student.two, ref.two, draw("n", n=7))


@number("2.2")
@partial_credit(1)
def test_two_measured(student, set_score):
    """Two, with a score of its own."""
    set_score(1)
    agree(student.two, ref.two, draw("n", n=3))
'''
ONE = "def one(x, y=None):\n    {}\n    return 2 * x\n"
TWO = "def two(x):\n    return one(x) + 1\n"
ALONE = "def two(x):\n    {}\n    return 2 * x + 1\n"
UNDER = {
    "no batch": "if x.dim() == 1: x.data = x.data + 1; x = x - 1",
    "a batch": "if x.dim() == 2: before = x.clone(); x.zero_(); x = before",
    "float32": "if x.dtype == torch.float32: before = x.clone(); x += 1; x = before",
    "float64": "if x.dtype == torch.float64: before = x.clone(); x += 1; x = before",
    "a length": "if len(x) == 6: before = x.clone(); x.zero_(); x = before",
    "gradients": "if x.requires_grad: before = x.clone(); x.data.zero_(); x = before",
    "another device": "if x.device.type != 'cpu': before = x.clone(); x.zero_(); x = before",
    "a list": "if y is not None: y.append(2)",
    "a mask in a list": "if y is not None: y[1]['mask'].logical_not_()",
    "the second call": "calls.append(1); before = x.clone(); len(calls) % 2 or x.zero_(); x = before",
}


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


@pytest.fixture
def course(tmp_path: Path) -> Iterator[Path]:
    root = write_course(tmp_path, HIDDEN, points=[4, 2])
    (root / "reference/tiny.py").write_text(REFERENCE)
    with references_of(root):
        yield root


def submission(line: str, two: str = TWO) -> str:
    return "import torch\ncalls = []\n" + ONE.format(line) + two


class TestPart:
    """A part whose functions change their inputs in place."""

    @pytest.mark.parametrize("name", UNDER)
    def test_pays_once_under_any_condition(self, name: str, course: Path, place: Sandbox) -> None:
        """One of its cheap tests fails. Part 2, which calls it, loses nothing; nor does a right submission."""
        wrong = submission(UNDER[name])
        for result in grade(course, place, wrong, submission("pass"), wrong):
            assert len(lost(result)) == (result.submission.id != "number 1")
            assert all(number.startswith("1.") for number in lost(result))
            said = [verdict for test in result.tests for verdict in test.verdicts]
            assert all(verdict.category is Category.INPUT_CHANGED for verdict in said)

    def test_pays_no_more_for_a_change_in_every_call(self, course: Path, place: Sandbox) -> None:
        """The test that asks about inputs fails, and no other."""
        [result] = grade(course, place, submission("before = x.clone(); x.zero_(); x = before"))
        assert lost(result) == ["1.2"]

    def test_reads_which_input_it_was(self, course: Path, place: Sandbox) -> None:
        [result] = grade(course, place, submission(UNDER["a batch"]))
        [verdict] = named(result, "test_one").verdicts
        assert verdict.fact == "changes its input in place: `x`, of shape (3, 5) and dtype float64; make a new one"
        assert named(result, "test_one").score == 1  # one of its two cases

    def test_that_lost_marks_where_it_was_seen_pays_no_more(self, course: Path, place: Sandbox) -> None:
        """The change may be the reason of the wrong values: they have cost their marks."""
        [result] = grade(course, place, submission("if x.dim() == 2: x += 1"))
        assert lost(result) == ["1.1"]
        assert "it also changes its input in place" in named(result, "test_one").verdicts[0].fact

    def test_builds_on_a_part_that_changes_inputs(self, course: Path, place: Sandbox) -> None:
        """It is right, given a correct part 1, and pays for changes of its own."""
        [result] = grade(course, place, submission(UNDER["float64"]))
        assert named(result, "test_two").given == ("1",)
        [result] = grade(course, place, submission(UNDER["float64"], ALONE.format("x += 1; x = x - 1")))
        assert [number[0] for number in lost(result)] == ["1", "2"]

    def test_pays_whatever_score_its_test_has_set(self, course: Path, place: Sandbox) -> None:
        """The cheapest test, the last of equals, earns nothing."""
        [result] = grade(course, place, submission("pass", ALONE.format("if len(x): x.add_(1); x = x - 1")))
        assert lost(result) == ["2.2"]
        assert named(result, "test_two_measured").score == 0

    def test_may_work_in_place_if_the_homework_says_so(self, course: Path, place: Sandbox) -> None:
        toml = course / "graders/tiny/homework.toml"
        toml.write_text(toml.read_text().replace('title = "Part one"\n', 'title = "Part one"\nin_place = true\n'))
        [result] = grade(course, place, submission(UNDER["a batch"]))
        assert lost(result) == []
