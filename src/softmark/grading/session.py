"""One submission being graded: its student process, and the rule that decides when a fresh one is needed.

A worker is kept from test to test, because forking one costs more than most answers. What a student's code did in one
part could spoil another: a patched builtin, a thread left behind, a changed library. So a *failure* counts only when
it happened in a worker that had run nothing but the part in question (it is "pure" for that part); otherwise the test
is judged again in a fresh worker. Correct submissions pay nothing for this, and no part can cost another its marks.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections import Counter, defaultdict, deque
from collections.abc import Mapping
from typing import Any

from softmark.grading.cells import CellReport
from softmark.grading.handed import Handed
from softmark.grading.homework import Homework
from softmark.sandbox.asking import Question
from softmark.sandbox.failures import GraderFault, StudentFailure
from softmark.sandbox.isolation import Sandbox
from softmark.sandbox.limits import Limits
from softmark.sandbox.process import StudentProcess
from softmark.sandbox.wire import Frame, Raised

_TIMEOUTS_PER_PART = 2  # after so many the rest of the part is not tried: each try costs its whole limit
_STARTS = 3  # attempts to start a process before it is the grader's fault
OUT_OF_TIME = "not run: the time for the whole submission was used up"


class NotLoadable(Exception):
    """The file cannot be loaded: nothing in it can be graded, and one reason is given for all."""

    def __init__(self, failure: StudentFailure) -> None:
        super().__init__(failure.fact)
        self.failure = failure


class StudentSession:
    """Answers the hidden tests' calls from a student process that is replaced when needed."""

    def __init__(
        self,
        sandbox: Sandbox,
        handed: Handed,
        homework: Homework,
        limits: Limits,
        deadline: float | None = None,
        device: Mapping[str, Any] | None = None,
    ) -> None:
        self.mentions: tuple[tuple[str, str, int], ...] = ()
        """Forbidden names that the text mentions, each with file and line."""
        self.cells = CellReport(handed)
        """What came of a notebook's cells."""
        self.naming_budget = 2.0
        self.naming_spent: defaultdict[str, float] = defaultdict(float)
        self.cpu_seconds = 0.0
        self.left_behind = 0
        self.pure = True
        """Whether every call of the present test went to a worker that had run nothing but its part."""
        self.asked: list[tuple[Question, bytes]] = []
        """The calls of the present test, each with a digest of the reply."""
        self.answered_bytes = 0
        """What all these replies had."""
        self.unanswered = False
        """Whether a call of the present test has had no reply."""
        self.quoted = False
        """Whether the present test has looked into what was handed in, to quote from it."""
        self.homework = homework
        self._handed = handed
        self._sandbox, self._limits = sandbox, limits
        self._deadline = deadline
        self._device = None if device is None else dict(device)
        self._process: StudentProcess | None = None
        self._unloadable: StudentFailure | None = None
        self._parts: set[str] = set()
        self._part = ""
        self._seed = 0
        self._calls = 0
        self._ahead: deque[tuple[Question, bytes | Exception]] = deque()
        self._strayed = False
        self._fresh = False
        self._spent_before = 0.0
        self._timeouts: Counter[str] = Counter()
        self._printed: list[tuple[str, str]] = []

    def begin(self, part: str, test_id: str) -> None:
        """The next calls belong to this test: reset the process's state, start its clock."""
        self.pure = True
        self._part = part
        self._seed = seed_of(test_id)
        self._calls = 0
        self._fresh = True
        self._ahead.clear()
        self.asked = []
        self.answered_bytes = 0
        self.unanswered = self.quoted = self._strayed = False
        if self._process is not None and not self._process.alive:
            self.renew()
        self._spent_before = self._process.cpu_seconds() if self._process is not None else 0.0

    @property
    def handed(self) -> Handed:
        """What was handed in."""
        self.quoted = True
        return self._handed

    @property
    def astray(self) -> bool:
        """Whether the present test, which has ended, was to ask something that it did not ask."""
        return self._strayed or bool(self._ahead)

    @property
    def out_of_time(self) -> bool:
        """Whether the time for the whole submission is used up."""
        return self._deadline is not None and time.monotonic() >= self._deadline

    def naming_left(self, part: str) -> float:
        """Seconds that may still be spent on naming mistakes of a part."""
        return max(0.0, self.naming_budget - self.naming_spent[part])

    def renew(self) -> None:
        """Let go of the worker; the next call starts a fresh one."""
        process, self._process = self._process, None
        self._parts = set()
        if process is not None:
            ended = process.close()
            self._printed.append(process.printed())
            if ended is not None:
                self.cpu_seconds += ended.cpu_seconds
                self.left_behind += ended.left

    def close(self) -> None:
        self.renew()

    def printed(self) -> tuple[str, str]:
        """What the code printed in all its processes, to stdout and to stderr."""
        return "".join(out for out, _ in self._printed), "".join(err for _, err in self._printed)

    def load(self) -> None:
        """Make sure that a process has loaded the submission; NotLoadable with the reason if that fails."""
        if self._process is not None and self._process.alive:
            return
        self.renew()
        if self._unloadable is None:
            self._unloadable = self._start_and_load()
            if self._unloadable is not None and self._unloadable.category == "crash":
                self._unloadable = self._start_and_load()  # two crashes are no accident
        if self._unloadable is not None:
            raise NotLoadable(self._unloadable)  # for good: it is not tried again for every test

    def _start_and_load(self) -> StudentFailure | None:
        """Why the submission could not be loaded in a new process; None if that is now the present one."""
        process = self._start()
        message = {"op": "load", "file": self._handed.main, "cells": self._cells(), "rules": self._rules()}
        message["device"] = self._device
        self._process = process
        try:
            done = process.request(message, self._limits.import_seconds, self._time_left())
            self.mentions = _mentions(done, self._handed)
            self.cells = CellReport.told(done.get("cells"), self._handed, self.homework.wanted)
            self._require_a_part(done.get("names"))
        except StudentFailure as failure:
            self.renew()
            return self._in_time(failure)
        self._spent_before = process.cpu_seconds()
        self._fresh = True  # a new process has not been seeded, wherever in a test it was started
        return None

    def call(self, **request: Any) -> dict[Any, Any]:
        """One call of the present test; StudentFailure if the student's code gives no answer."""
        process = self._process
        if process is None or not self._ahead:
            process = self._ready()
        message = {"op": "call", "id": self._seed + self._calls, "seed": self._seed if self._fresh else None}
        question = Question.of({**message, **request})
        if self._ahead and self._ahead[0][0].frame != question.frame:
            self._ahead.clear()  # this time the test asks something else
            self._strayed = True
            return self.call(**request)
        self._calls += 1
        self._fresh = False
        answer = self._ahead.popleft()[1] if self._ahead else self._answer(process, question)
        if not isinstance(answer, bytes):
            self.unanswered = True
            raise answer
        self.asked.append((question, digest(answer)))  # not the reply itself: each may be as large as the wire allows
        self.answered_bytes += len(answer)
        return process.read(question, answer)

    def ask_ahead(self, question: Question) -> bytes | None:
        """Ask what the present test is going to ask, which will not be asked again; a digest of the reply, if any."""
        try:
            process = self._ready()
        except (StudentFailure, NotLoadable, GraderFault):
            return None  # nothing was asked: the test will find out by itself
        try:
            answer: bytes | Exception = self._answer(process, question)
        except GraderFault as fault:
            answer = fault
        self._ahead.append((question, answer))  # a failure, too: it is the test that will meet it
        return digest(answer) if isinstance(answer, bytes) else None

    def _ready(self) -> StudentProcess:
        """The process that is to answer the next question."""
        if self._timeouts[self._part] >= _TIMEOUTS_PER_PART:
            raise StudentFailure("timeout", "not run: other tests of this part already ran out of time")
        self.load()
        if self._process is None:
            raise GraderFault("no student process after loading")
        return self._process

    def _answer(self, process: StudentProcess, question: Question) -> bytes | StudentFailure:
        self._parts.add(self._part)
        self.pure &= self._parts == {self._part}
        left = self._limits.cpu_seconds - (process.cpu_seconds() - self._spent_before)
        try:
            return process.ask(question, max(left, 0.0), self._time_left())
        except StudentFailure as failure:
            if failure.category == "timeout" and self.pure:
                self._timeouts[self._part] += 1
            return self._in_time(failure)

    def _in_time(self, failure: StudentFailure) -> StudentFailure:
        """The failure, unless the end of the time for the whole submission is what it really was."""
        if failure.category == "timeout" and self.out_of_time:
            return StudentFailure("timeout", OUT_OF_TIME)
        return failure

    def _require_a_part(self, names: Any) -> None:
        """Of a file that defines nothing of the homework, one reason says more than the failure of every test."""
        wanted = self.homework.wanted
        if type(names) is dict and any(name in names for name in wanted):
            return
        fact = f"it defines none of the names that are asked for (`{'`, `'.join(wanted)}`)"
        if self.cells.failed:
            first = self.cells.failed[0]
            raised = Raised("SyntaxError", "", first.frames)
            raise StudentFailure("missing", f"{fact}; its {first.sentence}", raised=raised)
        for name in wanted:
            similar = self._handed.similar(name)
            place = self._handed.place_of(similar) if similar is not None else None
            if place is not None:
                frame = Frame(*place, "", "")
                fact += f"; is your `{similar}` meant to be `{name}`?"
                raise StudentFailure("missing", fact, raised=Raised("NameError", "", (frame,)))
        raise StudentFailure("missing", fact)

    def _start(self) -> StudentProcess:
        problem: Exception = GraderFault("no attempt was made")
        for _ in range(_STARTS):
            try:
                return self._sandbox.open(self._handed.files, self._limits)
            except (GraderFault, OSError) as error:
                problem = error
        raise GraderFault(f"a student process could not be started: {problem}") from problem

    def _time_left(self) -> float:
        return math.inf if self._deadline is None else max(self._deadline - time.monotonic(), 0.1)

    def _cells(self) -> dict[str, Any] | None:
        if not self._handed.cells:
            return None
        wanted, whole = self.homework.wanted, self.homework.whole_notebook
        return {"names": list(self._handed.cells), "wanted": list(wanted), "whole": whole}

    def _rules(self) -> list[dict[str, Any]]:
        return [
            {"names": list(rule.names), "ops": list(rule.ops), "functions": list(rule.functions)}
            for rule in self.homework.forbidden
        ]


def digest(answer: bytes) -> bytes:
    """What stands for a reply where only its sameness matters."""
    return hashlib.sha256(answer).digest()


def seed_of(test_id: str) -> int:
    """The seed of everything random in a test: the same test draws the same numbers, today and in a year."""
    return int.from_bytes(hashlib.sha256(test_id.encode()).digest()[:6], "big")


def _mentions(done: dict[Any, Any], handed: Handed) -> tuple[tuple[str, str, int], ...]:
    """Forbidden names in the text, as the worker found them; anything else in their place is ignored."""
    found = done.get("mentions")
    if type(found) is not list:
        return ()
    hits = [hit for hit in found if type(hit) is list and [type(part) for part in hit] == [str, int, int]]
    files = dict(enumerate(handed.loaded))
    return tuple((name, files[index], line) for name, index, line in hits if index in files)
