"""`softmark grade`, plain pytest and `softmark check` say the same about the same work."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from softmark.check.asked import Asked
from softmark.check.in_notebook import check_namespace
from softmark.check.public_tests import read_handout
from softmark.course.homework import load_homework
from softmark.grading.job import read_job
from softmark.intake.collect import collect
from softmark.records.result import CaseResult, Outcome, Result, Status
from softmark.records.verdict import Verdict
from softmark.sandbox.isolation import Sandbox
from softmark.sandbox.zygote import Zygote
from softmark.student import find_work
from tests.support.course import FILE, NAME, grade, references_of, write_course
from tests.support.notebooks import written
from tests.support.sandboxes import STRONGEST, sandbox, zygote

pytest_plugins = ["pytester"]

REFERENCE = "def one(x):\n    return x + 1\n\n\ndef two(x):\n    return x.flip(0)\n"
MISTAKES = """from reference import tiny as ref
from softmark import mistake


@mistake(ref.one, says="You add two.", hint="Add one.")
def adds_two(x):
    return x + 2


@mistake(ref.one, says="You double.", hint="Add one.")
def doubles(x):
    return x * 2
"""
HIDDEN = '''
from reference import tiny as ref


@number("1.1")
@weight(1)
def test_at_two(student):
    """At two, where both mistakes give the same."""
    agree(student.one, ref.one, torch.tensor([2.0], dtype=torch.float64))


@number("1.2")
@weight(1)
def test_at_three(student):
    """At three."""
    agree(student.one, ref.one, torch.tensor([3.0], dtype=torch.float64))


@number("2.1")
@weight(2)
def test_two(student):
    """The other way round."""
    got = student.two(torch.tensor([1.0, 2.0], dtype=torch.float64))
    got.add(1)  # only a tensor has it
    agree(got, ref.two(torch.tensor([1.0, 2.0], dtype=torch.float64)))
'''
PUBLIC = '''
import torch
from gradescope_utils.autograder_utils.decorators import number
from softmark import agree


@number("1.1")
def test_at_two(student, example):
    """At two, where both mistakes give the same."""
    example(student.one, "at two")


@number("1.2")
def test_at_three(student, example):
    """At three."""
    example(student.one, "at three")


@number("2.1")
def test_two(student):
    """The other way round."""
    got = student.two(torch.tensor([1.0, 2.0], dtype=torch.float64))
    got.add(1)  # only a tensor has it
    agree(got, torch.tensor([2.0, 1.0], dtype=torch.float64))
'''


def example(name: str, at: float) -> dict[str, Any]:
    """A worked example of the first part."""
    mistakes = {"adds_two": [at + 2], "doubles": [at * 2]}
    return {"name": name, "call": "one", "args": [[at]], "answer": [at + 1], "mistakes": mistakes}


HANDOUT = {
    "homework": NAME,
    "title": "Tiny",
    "file": FILE,
    "parts": [
        {"number": "1", "function": "one", "title": "Part one"},
        {"number": "2", "function": "two", "title": "Part two"},
    ],
    "forbidden": [],
    "mistakes": {
        "adds_two": {"says": "You add two.", "hint": "Add one."},
        "doubles": {"says": "You double.", "hint": "Add one."},
    },
    "examples": [example("at two", 2.0), example("at three", 3.0)],
}
TWO = "\n\ndef two(x):\n    return x.flip(0)\n"
SAMPLES = {
    "right": REFERENCE,
    "wrong, named": f"def one(x):\n    return 2 * x\n{TWO}",
    "wrong, unnamed": f"def one(x):\n    return x - 7\n{TWO}",
    "raising": f"def one(x):\n    return x + {{}}[3]\n{TWO}",
    "no tensor": "def one(x):\n    return x + 1\n\n\ndef two(x):\n    return 'text'\n",
    "lacking": "def one(x):\n    return x + 1\n",
    "not loadable": "def one(x:\n    return x + 1\n",
}
HUNGRY = f"def one(x):\n    return x + len(bytearray(10**9))\n{TWO}"


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


@pytest.fixture
def course(pytester: pytest.Pytester) -> Iterator[Path]:
    """The tiny course with a reference, named mistakes and public tests, in the current folder."""
    root = write_course(pytester.path, HIDDEN, points=[2, 2], limits="cpu_seconds = 2\nmemory_mb = 300\n")
    (root / "reference" / FILE).write_text(REFERENCE)
    (root / "graders" / NAME / "mistakes.py").write_text(MISTAKES)
    handout = root / "assignments" / NAME
    handout.mkdir(parents=True)
    (handout / "examples.json").write_text(json.dumps(HANDOUT))
    (handout / "test_public.py").write_text(PUBLIC)
    with references_of(root):
        yield root


Plain = Callable[[Path], list[pytest.TestReport]]


@pytest.fixture
def plain(course: Path, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Plain:
    """Plain pytest, in this process, on top of the zygote that all tests share; returns its reports on cases."""
    shared = zygote()
    monkeypatch.setattr(Zygote, "spawn", lambda environment: shared)
    quiet = ("-p", "no:cacheprovider", "-p", "no:hypothesispytest")

    def run(path: Path) -> list[pytest.TestReport]:
        words = ("graders/tiny", "--submission", str(path), "--isolation", str(STRONGEST))
        reports = pytester.inline_run(*quiet, *words).getreports("pytest_runtest_logreport")
        return [report for report in reports if report.when == "call"]

    return run


def graded(course: Path, place: Sandbox, path: Path) -> Result:
    """The result of `softmark grade`."""
    homework = load_homework(NAME, course)
    (entry,) = collect([path], homework).entries
    (result,) = grade(course, place, read_job(entry, homework))
    return result


def cases(result: Result) -> list[CaseResult]:
    return [case for test in result.tests for case in test.cases]


TOLERANCES = re.compile(r", [\d.e+]+ times the tolerance")
"""The answers of worked examples are rounded, so an error is as large, but fewer tolerances."""


def said(verdict: Verdict) -> dict[str, Any]:
    """All that a student reads in a verdict, but for how many tolerances an error is."""
    where = TOLERANCES.sub("", verdict.where)
    causes = [(cause.name, cause.says, cause.hint) for cause in verdict.causes]
    code = [line.text for line in verdict.frames]
    return {"category": verdict.category, "fact": verdict.fact, "where": where, "causes": causes, "code": code}


def require_same_words(reports: list[pytest.TestReport], result: Result) -> None:
    """Plain pytest reports what grading found, case by case, in the same words."""
    assert [report.outcome == "passed" for report in reports] == [c.outcome is Outcome.PASSED for c in cases(result)]
    for report, case in zip(reports, cases(result), strict=True):
        words = [result.reason if report.failed else ""]
        for verdict in case.verdicts:
            words += [verdict.fact, verdict.where, verdict.staff, *(line.text for line in verdict.frames)]
            words += [word for cause in verdict.causes for word in (cause.says, cause.hint)]
        for word in words:
            assert word in report.longreprtext
        named = [says for says in ("You double.", "You add two.") if says in report.longreprtext]
        assert named == [cause.says for verdict in case.verdicts for cause in verdict.causes]


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_file(sample: str, course: Path, place: Sandbox, plain: Plain) -> None:
    """The three ways give the same outcomes, categories, facts, numbers, lines and names."""
    handout = course / "assignments" / NAME
    file = handout / FILE
    file.write_text(SAMPLES[sample])
    result = graded(course, place, file)
    checked = find_work(file, NAME).check()
    assert (result.status, result.reason) == (checked.status, checked.reason)
    for by_grade, by_check in zip(cases(result), cases(checked), strict=True):
        assert by_grade.outcome is by_check.outcome
        assert [said(verdict) for verdict in by_grade.verdicts] == [said(verdict) for verdict in by_check.verdicts]
    require_same_words(plain(file), result)
    if sample == "wrong, named":
        assert [cause.name for test in result.tests for v in test.verdicts for cause in v.causes] == ["doubles"] * 2


def test_a_notebook(course: Path, place: Sandbox, plain: Plain) -> None:
    """The cells of a notebook are graded; a notebook that is open is checked in its own namespace."""
    cells = ("import math", "def one(x):\n    return 2 * x", TWO.strip(), "one(3)")
    (course / "tiny.ipynb").write_bytes(written(*cells))
    result = graded(course, place, course / "tiny.ipynb")
    require_same_words(plain(course / "tiny.ipynb"), result)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in cells:
        exec(cell, namespace)
    folder = course / "assignments" / NAME
    checked = check_namespace(Asked(folder, read_handout(folder)), namespace)
    assert [[said(v) for v in case.verdicts] for case in cases(checked)] == [
        [said(v) for v in case.verdicts] for case in cases(result)
    ]
    assert [cause.name for test in checked.tests for v in test.verdicts for cause in v.causes] == ["doubles"] * 2


def test_a_helper_file(course: Path, place: Sandbox, plain: Plain) -> None:
    """The graded file can import the files beside it."""
    folder = course / "handed_in"
    folder.mkdir()
    (folder / FILE).write_text(f"from helper import one\n{TWO}")
    (folder / "helper.py").write_text("def one(x):\n    return 2 * x\n")
    result = graded(course, place, folder)
    assert [case.outcome for case in cases(result)] == [Outcome.FAILED, Outcome.FAILED, Outcome.PASSED]
    require_same_words(plain(folder), result)
    handout = shutil.copytree(course / "assignments" / NAME, course / "at_home")
    shutil.copytree(folder, handout, dirs_exist_ok=True)
    checked = find_work(handout, None).check()
    assert [[said(v) for v in case.verdicts] for case in cases(checked)] == [
        [said(v) for v in case.verdicts] for case in cases(result)
    ]


def test_too_much_memory(course: Path, place: Sandbox, plain: Plain) -> None:
    """The limit of memory is the same in plain pytest. On a student's own machine there is none."""
    (course / FILE).write_text(HUNGRY)
    result = graded(course, place, course / FILE)
    assert result.status is Status.GRADED
    assert {verdict.category for test in result.tests for verdict in test.verdicts} == {"memory"}
    require_same_words(plain(course / FILE), result)
