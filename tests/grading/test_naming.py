"""Named mistakes through the engine: what they leave of the marks, and who is told their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import pytest

from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Result, Submission
from softmark.sandbox.isolation import Sandbox
from tests.support.course import FILE, grade, write_course
from tests.support.sandboxes import sandbox

TRUTHS = """
def one(x):
    return x + 1


def two(x):
    return one(x) * 2
"""
HIDDEN = '''
from graders.tiny.truths import one, two


@number("1.1")
@weight(2)
def test_one(student):
    """One."""
    agree(student.one, one, draw("n", n=3))
'''
OF_ZERO = '''

@number("1.2")
@weight(2)
def test_one_of_zero(student):
    """One, of zero."""
    agree(student.one, one, torch.zeros(3))
'''
BOTH = HIDDEN + OF_ZERO
OF_TWO = '''

@number("1.3")
@weight(0)
def test_two(student):
    """Two, which calls one."""
    agree(student.two, two, draw("n", n=3))
'''
OF_SEVERAL_SIZES = '''
from graders.tiny.truths import one


@number("1.1")
@weight(2)
@pytest.mark.parametrize("n", [5, 6, 2])
def test_one(student, n):
    """One."""
    agree(student.one, one, draw("n", n=n))
'''
HEAD = "from graders.tiny.truths import one\nfrom softmark import mistake\n"
MISTAKES = f"""{HEAD}

@mistake(one, says="You add two.", worth=0.5)
def adds_two(x):
    return x + 2


@mistake(one, says="You take one off.", worth=0.5)
def takes_one_off(x):
    return x - 1


@mistake(one, says="You add minus one.")
def adds_minus_one(x):
    return x + (-1)


@mistake(one, says="You add three.", worth=0.25)
def adds_three(x):
    return x + 3


@mistake(one, says="You add one and two.", worth=0.75)
def adds_one_and_two(x):
    return x + 1 + 2
"""
SLOW_AT_FIRST = f"""from time import process_time

{HEAD}
SPENT = []


@mistake(one, says="You compute for a while.")
def computes_for_a_while(x):
    end = process_time() + (0 if SPENT else 3)
    SPENT.append(True)
    while process_time() < end:
        pass
    return x * 100


@mistake(one, says="You add two.")
def adds_two(x):
    return x + 2
"""


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


class Course:
    """A tiny course whose part has named mistakes."""

    def __init__(self, root: Path, place: Sandbox) -> None:
        self._root, self._place = root, place

    def grade(
        self,
        mistakes: str,
        *submissions: str,
        hidden: str = BOTH,
        naming: bool = True,
        points: Sequence[float] = (4,),
        renumbered: Mapping[str, str] = MappingProxyType({}),
    ) -> list[Result]:
        """Grade these with one engine, one after the other; without `naming`, look for no name in the first."""
        write_course(self._root, hidden, points)
        config = self._root / "graders/tiny/homework.toml"
        for old, new in renumbered.items():
            config.write_text(config.read_text().replace(f'number = "{old}"', f'number = "{new}"'))
        (self._root / "graders/tiny/truths.py").write_text(TRUTHS)
        (self._root / "graders/tiny/mistakes.py").write_text(mistakes)
        jobs = [Job(Submission(), SubmittedFiles(FILE, {FILE: source.encode()})) for source in submissions]
        first = Job(Submission(), jobs[0].files, naming=naming)
        return grade(self._root, self._place, first, *jobs[1:])


@pytest.fixture
def course(tmp_path: Path, place: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Course:
    monkeypatch.syspath_prepend(tmp_path)
    return Course(tmp_path, place)


def adding(number: int, more: str = "") -> str:
    return f"def one(x):\n    return x + {number}\n{more}"


def names(result: Result) -> list[list[str]]:
    """The names that are said of each failing test of function one."""
    tests = [test for test in result.tests if test.number < "1.3" and test.verdicts]
    return [[cause.name for verdict in test.verdicts for cause in verdict.causes] for test in tests]


class TestWorth:
    """What a named mistake leaves of the marks."""

    @pytest.mark.parametrize(
        ("number", "total", "named"),
        [
            (1, 4.0, []),
            (2, 2.0, ["adds_two"]),
            (-1, 0.0, ["takes_one_off", "adds_minus_one"]),
            (3, 1.0, ["adds_three", "adds_one_and_two"]),
            (9, 0.0, []),
        ],
        ids=["right", "one mistake", "two, one of which is worth nothing", "two, the first worth less", "no mistake"],
    )
    def test_is_that_of_the_worst_that_fits(self, number: int, total: float, named: list[str], course: Course) -> None:
        """Where two mistakes explain an answer, the student has the marks of the one that leaves fewer."""
        (result,) = course.grade(MISTAKES, adding(number))
        assert result.total == total
        assert names(result) == ([named] * 2 if number != 1 else [])


class TestEvidence:
    """What the rest of a submission says about a name."""

    @pytest.mark.parametrize(
        ("two", "named"),
        [
            ("raise NotImplementedError", ["adds_two"]),
            ("raise NotImplementedError('part 2')", ["adds_two"]),
            ("raise ValueError('no')", []),
        ],
        ids=["unwritten", "unwritten, as in the starter", "raises"],
    )
    def test_an_unwritten_function_says_nothing(self, two: str, named: list[str], course: Course) -> None:
        """A function that was left as it is takes no name from another one; one that raises does."""
        (result,) = course.grade(MISTAKES, adding(2, f"\n\ndef two(x):\n    {two}\n"), hidden=BOTH + OF_TWO)
        assert names(result) == [named] * 2

    def test_is_that_of_the_whole_part(self, course: Course) -> None:
        """With a part 3.1 between tests 3.0 and 3.2 of part 3, these two settle one name, and stand together."""
        fits_zero_only = (
            MISTAKES + "\n\n@mistake(one, says='You add twice.')\ndef fits_zero(x):\n    return 2 * x + 2\n"
        )
        hidden = (BOTH + OF_TWO).replace('"1.1"', '"3.2"').replace('"1.2"', '"3.0"').replace('"1.3"', '"3.1.1"')
        hidden = hidden.replace("weight(0)", "weight(1)")
        parts = {"1": "3", "2": "3.1"}
        two = "\n\ndef two(x):\n    return 2 * (x + 1)\n"
        (result,) = course.grade(fits_zero_only, adding(2, two), hidden=hidden, points=(4, 1), renumbered=parts)
        assert [test.number for test in result.tests] == ["3.0", "3.2", "3.1.1"]
        assert [[c.name for v in test.verdicts for c in v.causes] for test in result.tests] == [["adds_two"]] * 2 + [[]]


class TestNamesOfTheNext:
    """Names of one submission after another."""

    def test_a_slow_mistake_costs_no_name(self, course: Course) -> None:
        """Every submission reads the names that fit, even if a mistake computes for long."""
        hidden = HIDDEN.replace("weight(2)", "weight(4)")
        results = course.grade(SLOW_AT_FIRST, adding(2), adding(2), hidden=hidden)
        assert [names(result) for result in results] == [[["adds_two"]]] * 2

    def test_are_looked_for_after_one_that_wants_none(self, course: Course) -> None:
        """A submission that is graded without names leaves the next one its own."""
        first, second = course.grade(MISTAKES, adding(2), adding(2), naming=False)
        assert names(first) == [[]] * 2
        assert names(second) == [["adds_two"]] * 2


class TestRegularities:
    """A regularity of wrong numbers is told only if all wrong answers of its part agree."""

    def facts(self, course: Course, returned: str, other: str = "") -> list[str]:
        """Return what a program reads that returns this for `one(x)`, at three sizes and in another test."""
        hidden = OF_SEVERAL_SIZES + other if other else OF_SEVERAL_SIZES.replace("weight(2)", "weight(4)")
        source = f"import torch\n\n\ndef one(x):\n    return {returned}\n"
        (result,) = course.grade(HEAD, source, hidden=hidden)
        return [verdict.fact for test in result.tests for verdict in test.verdicts]

    def test_told_if_all_agree(self, course: Course) -> None:
        """Twice what is expected at each size: each verdict says so, but for the size that is too small to tell."""
        facts = self.facts(course, "2 * (x + 1)")
        assert [fact.partition(": ")[2] for fact in facts] == ["each is 2 times what is expected"] * 2 + [""]

    def test_told_if_one_is_too_coarse_to_tell(self, course: Course) -> None:
        """Numbers in single precision are no exact multiple, which says nothing against the others."""
        facts = self.facts(
            course, "(2 * (x + 1)).to(torch.float64 if len(x) == 5 else torch.float32) + (len(x) - 5) * 1e-5"
        )
        assert [fact.partition(": ")[2] for fact in facts] == ["each is 2 times what is expected", "", ""]

    def test_not_told_if_another_test_has_none(self, course: Course) -> None:
        """The tests of a part ask for the same function."""
        other = OF_ZERO.replace("torch.zeros(3)", "torch.arange(7.0).double()")
        facts = self.facts(course, "2 * (x + 1) if len(x) != 7 else x ** 2 + 3", other)
        assert facts == [f"all {size} values are wrong" for size in (5, 6, 2, 7)]

    def test_not_told_if_one_has_another(self, course: Course) -> None:
        """A factor at one size and an offset at another are coincidences."""
        facts = self.facts(course, "2 * (x + 1) if len(x) == 5 else x + 2")
        assert facts == ["all 5 values are wrong", "all 6 values are wrong", "all 2 values are wrong"]

    def test_not_told_if_one_has_none(self, course: Course) -> None:
        """The numbers are in reverse order at one size only."""
        facts = self.facts(course, "(x + 1).flip(0) if len(x) == 5 else (x + 1) ** 2 + 0.1")
        assert facts == ["4 of 5 values are wrong", "all 6 values are wrong", "all 2 values are wrong"]
