"""Checks the handout of a homework: its files must be up to date, and its public tests must test.

The public tests are run as `softmark check` runs them: the reference passes them all, the starter none.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from softmark.authoring.build import lacking, products, stale
from softmark.authoring.no_effort import starter
from softmark.check.checking import run_public_tests
from softmark.check.public_tests import EXAMPLES, TESTS, read_handout
from softmark.course.homework import Homework
from softmark.intake.model import SubmittedFiles
from softmark.records.errors import ConfigError
from softmark.records.result import Outcome, Result
from softmark.records.verdict import Category
from softmark.sandbox.own_machine import InChild


def gaps_of_handout(homework: Homework) -> Iterator[tuple[str, str]]:
    """Yield each gap of the handout with its subject: files that are stale, public tests that do not test."""
    if homework.name not in lacking(homework.root):
        for file in stale(products(homework)):
            name = file.relative_to(homework.root).as_posix()
            yield name, f"is stale: run `softmark build {homework.name}` and commit what it writes"
    folder = homework.root / "assignments" / homework.name
    if not (folder / TESTS).is_file() or not (folder / EXAMPLES).is_file():
        return
    where = (folder / TESTS).relative_to(homework.root).as_posix()
    try:
        solved = _checked(folder, homework.file, homework.reference.read_text(encoding="utf-8"))
        begun = _checked(folder, homework.file, starter(homework))
    except ConfigError as error:
        yield where, f"the public tests cannot be run: {error}"
        return
    for test in solved.tests:
        if test.score != test.max_score:
            said = next((v.staff if v.category is Category.GRADER else v.fact for v in test.verdicts), "nothing")
            yield where, f"public test {test.number} does not pass the reference: “{said}”; mend the test"
    for test in begun.tests:
        if test.outcome is Outcome.PASSED:
            yield where, f"public test {test.number} passes the starter: it does not look at a student's work"
    if not solved.tests:
        yield where, f"the public tests cannot be run: {solved.reason}"


def _checked(folder: Path, file: str, source: str) -> Result:
    sandbox = InChild()
    try:
        return run_public_tests(folder, read_handout(folder), SubmittedFiles(file, {file: source.encode()}), sandbox)
    finally:
        sandbox.close()
