"""Grades many source texts of many homeworks through real engines, side by side.

An engine knows one homework, takes a second to start, and gets quicker with every submission. So an engine is kept
until nothing is left of its homework; then another one starts where most is left, so that no core is idle at the end.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from softmark.course.homework import Homework
from softmark.engines.local import Grader
from softmark.engines.messages import Setup
from softmark.grading.job import Job
from softmark.records.result import Result, Submission

STRONGEST = "full" if hasattr(os, "geteuid") and os.geteuid() == 0 else "user"
_WORTH_AN_ENGINE = 8
"""So many submissions must be left for one more engine of the same homework to be of use."""


@dataclass(frozen=True)
class Subject:
    """A submission made for the proof: what it is (reference, equivalent, …), its name, its text."""

    kind: str
    name: str
    source: str


@dataclass(frozen=True)
class Series:
    """What there is to grade of one homework, in this order."""

    homework: Homework
    subjects: Sequence[Subject]


def grade_all(series: Sequence[Series], jobs: int, *, backwards: bool = False) -> list[list[Result]]:
    """For each series its results, in the order of its subjects, whichever engine graded which."""
    plan = _Plan(series, backwards)
    threads = [threading.Thread(target=plan.work) for _ in range(max(1, jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if plan.faults:
        raise plan.faults[0]
    return [[results[position] for position in range(len(results))] for results in plan.results]


class _Plan:
    """Who grades what next: shared by the threads, each of which has one engine at a time."""

    def __init__(self, series: Sequence[Series], backwards: bool) -> None:
        self._series, self._backwards = series, backwards
        self._waiting = [deque(range(len(one.subjects))) for one in series]
        self._engines = [0] * len(series)
        self._choosing = threading.Lock()
        self.results: list[dict[int, Result]] = [{} for _ in series]
        self.faults: list[BaseException] = []

    def work(self) -> None:
        try:
            while not self.faults and (number := self._next_series()) is not None:
                self._grade_series(number)
        except BaseException as fault:
            self.faults.append(fault)

    def _next_series(self) -> int | None:
        """The one with the fewest engines, the largest of these; None if no further engine is worth its start."""
        with self._choosing:
            open_ones = [
                number
                for number, waiting in enumerate(self._waiting)
                if len(waiting) >= (_WORTH_AN_ENGINE if self._engines[number] else 1)
            ]
            if not open_ones:
                return None
            chosen = min(open_ones, key=lambda number: (self._engines[number], -len(self._waiting[number])))
            self._engines[chosen] += 1
            return chosen

    def _grade_series(self, number: int) -> None:
        one, waiting = self._series[number], self._waiting[number]
        homework = one.homework
        setup = Setup(
            str(homework.root),
            homework.name,
            STRONGEST,
            progress=False,
            backwards=self._backwards,
        )
        with Grader(setup) as grader:
            grader.ready()
            while not self.faults:
                try:
                    position = waiting.popleft()
                except IndexError:  # another engine took the last one
                    return
                self.results[number][position] = _grade(grader, homework, one.subjects[position])


def _grade(grader: Grader, homework: Homework, subject: Subject) -> Result:
    naming = subject.kind not in ("trivial", "starter")
    job = Job(Submission(id=subject.name), homework.file, {homework.file: subject.source.encode()}, naming=naming)
    return list(grader.grade(job))[-1]
