"""What has been judged once need not be judged again.

A hidden test draws its inputs from a seed of its own, so it asks every submission the same questions until it gets
another answer; and what it decides depends on nothing but the answers. In a class most answers are not new: the same
formula gives the same bits, and so does the same mistake. So each judge keeps, for every test, the questions it asked
and the answers it got, as a tree: a question, under each answer the next question, at the end the trial. The next
submission is asked along that tree. If it gives known answers all the way, the trial at the end is its own, without a
line of the test being run. With the first answer that is new, the test runs as always, and what has been answered is
not asked again. Where a verdict rests on how an earlier function did in the tests of its own part, that is a question
of the tree as well.

Known means equal byte for byte, so no tolerance comes in. Not kept are trials in which a question had no answer at all,
those that quote the student's own file, and those in which there was no time to look for the names of mistakes. A test
that asks different questions after the same answers has no precedents. Neither has a test of a file that imports a
clock or keeps something from one test for the next; what it imports of the homework's own files counts as its file.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from softmark.grading.hearing import STANDING, Hearing
from softmark.grading.session import StudentSession
from softmark.grading.trial import Trial
from softmark.records.verdict import Failed
from softmark.sandbox.asking import Question

_CLOCKS = {"time", "timeit", "datetime", "benchmark", "resource"}
_MOST_ANSWERS = 64
"""To one question. A test that gets more has answers that are hardly ever the same."""
_MOST_FAILURES = 300
"""Of all tests together; each may hold two matrices for the eye."""
_MOST_BYTES = 64_000_000
"""Of memory, roughly, for all questions and for what trials hold as right answers; of given ones there are digests."""
_OF_A_POINT, _OF_A_TRUTH = 1_000, 6_000  # bytes of one, without its numbers
_MOST_ANSWERED = 64_000_000
"""Bytes of all answers in one trial: so much may have to wait until the test asks for it."""


@dataclass
class _Point:
    """How far a test has come: what it asks next, and where each known answer leads; or what came of it."""

    question: Question | None = None
    after: dict[bytes, _Point] = field(default_factory=dict)
    trial: Trial | None = None


class Precedents:
    """Of the hidden tests of one homework, what has been judged."""

    def __init__(self) -> None:
        self._beginnings: defaultdict[str, _Point] = defaultdict(_Point)
        self._without: set[str] = set()
        """Tests that have none, and modules of tests."""
        self._modules: dict[Path, tuple[ModuleType, ...]] = {}
        self._held: list[list[Any]] = []
        self._truths: set[int] = set()
        self._bytes = self._failures = 0

    def of(self, test: pytest.Item, session: StudentSession) -> Trial | None:
        """Ask the submission in hand what the test would ask; what came of it when the answers were the same."""
        point = None if self._has_none(test) else self._beginnings[test.nodeid]
        while point is not None and point.question is not None:
            answer = session.ask_ahead(point.question)
            point = None if answer is None else point.after.get(answer)
        if point is not None and point.trial is not None:
            return point.trial.again()
        self._held = [_held(module) for module in self._modules_of(test)]  # it is going to run
        return None

    def keep(self, test: pytest.Item, session: StudentSession, trial: Trial) -> None:
        """What came of the present test, if it may be said of others, too."""
        if session.hearing.astray:
            self._without.add(test.nodeid)
            self._beginnings.pop(test.nodeid, None)
        for module, held in zip(self._modules_of(test), self._held, strict=True):
            if _has_clock(module) or not _same(held, _held(module)):
                self._without.add(module.__name__)
        if self._has_none(test) or not self._may_keep(session.hearing, trial):
            return
        point = self._beginnings[test.nodeid]
        for question, answer in session.hearing.asked:
            if point.question is None and self._bytes < _MOST_BYTES:
                point.question = _bare(question)
                self._bytes += _OF_A_POINT + len(question.frame)
            known = point.question is not None and _same_question(point.question, question)
            if not known or (len(point.after) >= _MOST_ANSWERS and answer not in point.after):
                return
            point = point.after.setdefault(answer, _Point())
        if session.hearing.asked and self._bytes < _MOST_BYTES:
            point.trial = trial.again()
            self._failures += trial.failed
            self._bytes += self._more_truths(trial)

    def _has_none(self, test: pytest.Item) -> bool:
        names = (module.__name__ for module in self._modules_of(test))
        return test.nodeid in self._without or not self._without.isdisjoint(names)

    def _modules_of(self, test: pytest.Item) -> tuple[ModuleType, ...]:
        if test.path not in self._modules:
            parent = test.getparent(pytest.Module)
            self._modules[test.path] = () if parent is None else _with_its_own(parent.obj)
        return self._modules[test.path]

    def _more_truths(self, trial: Trial) -> int:
        """Bytes of what a trial holds as right answers and no trial before it does: most are of all submissions."""
        truths = [check.truth for check in trial.case.checks if check.truth is not None] + trial.case.raised
        new = {id(truth): truth for truth in truths if id(truth) not in self._truths}
        self._truths |= new.keys()
        numbers = sum(leaf.numel() for truth in new.values() for leaf in truth.leaves)
        return len(new) * _OF_A_TRUTH + numbers * 32  # in float64: the answer, its noise, its tolerance

    def _may_keep(self, hearing: Hearing, trial: Trial) -> bool:
        if hearing.unanswered or hearing.quoted or hearing.answered_bytes > _MOST_ANSWERED:
            return False
        if trial.fault is not None:
            return False
        in_time = trial.case.spent < trial.case.budget
        plain = all(isinstance(error, Failed) for error in trial.errors)  # any other holds on to where it was raised
        return in_time and plain and (not trial.failed or self._failures < _MOST_FAILURES)


def _bare(question: Question) -> Question:
    """A question without the values of a call, which are in its frame once more."""
    return question if question.message["op"] == STANDING else replace(question, message={"op": "call"})


def _same_question(one: Question, other: Question) -> bool:
    return (one.message["op"], one.frame) == (other.message["op"], other.frame)


def _with_its_own(module: ModuleType) -> tuple[ModuleType, ...]:
    """A module, and those of the homework's files that it imports, directly or through each other."""
    found, unseen = [], [module]
    while unseen:
        found.append(unseen.pop())
        own = [sys.modules[name] for name in _imported(found[-1]) if _is_of_the_graders(name)]
        unseen += [other for other in own if other not in found + unseen]
    return tuple(found)


def _is_of_the_graders(name: str) -> bool:
    return name.startswith("graders.") and getattr(sys.modules.get(name), "__file__", None) is not None


def _has_clock(module: ModuleType) -> bool:
    """What comes of its tests then may come of the time they took."""
    return any(not _CLOCKS.isdisjoint(name.split(".")) for name in _imported(module))


@cache
def _imported(module: ModuleType) -> frozenset[str]:
    """What a module of a course imports, by full names."""
    nodes = list(ast.walk(ast.parse(Path(str(module.__file__)).read_bytes())))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            names |= {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(names)


def _held(module: ModuleType) -> list[Any]:
    """What a module of tests holds by name, and in its lists and dicts: there a test may leave something for another.

    Not in its sets, which can only be asked whether they have something.
    """
    named = [value for name, value in vars(module).items() if not name.startswith("__")]
    inside = [value.values() if isinstance(value, dict) else value for value in named if isinstance(value, dict | list)]
    return [*named, *(thing for things in inside for thing in things)]


def _same(before: list[Any], after: list[Any]) -> bool:
    return len(before) == len(after) and all(a is b for a, b in zip(before, after, strict=True))
