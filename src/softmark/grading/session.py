"""Defines the session of one submission: its student process, and the rule that decides when a fresh one is needed.

A worker is kept from test to test, because forking one costs more than most answers. The student's code of one part
could spoil another part: by a patched builtin, a thread left behind, a changed library. So a *failure* counts only if
it happened in a worker that had run only this part (the worker is "pure" for the part); otherwise the test is judged
again in a fresh worker. Right submissions pay nothing for this, and no part can cost another its marks.

A visible test must not disclose the questions of a hidden test either. So numbers and messages of exceptions that
students see come from a worker that has run only visible tests.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from msgspec import structs

from softmark.course.homework import Homework
from softmark.grading.advice import advised
from softmark.grading.answering import Answering, Lending
from softmark.grading.cells import CellReport, require_a_part
from softmark.grading.load_request import load_request, mentions
from softmark.grading.submission_time import SubmissionTime, TimeLimits
from softmark.grading.wrong_answers import WrongAnswers
from softmark.intake.model import SubmittedFiles
from softmark.records.limits import Level
from softmark.records.verdict import Category
from softmark.sandbox import failure_texts
from softmark.sandbox.failures import Disturbed, GraderFault, SandboxLost, StudentFailure
from softmark.sandbox.own_machine import Sandbox
from softmark.sandbox.student_process import Capture, StudentProcess, packed
from softmark.sandbox.wire.protocol import Answered, Ask, Call, CallResult, UsedDevice
from softmark.verdict.callee import Lent, Work
from softmark.verdict.context import Packing

_STARTS = 3  # attempts to start a process before it is the grader's fault


class NotLoadable(Exception):
    """Raised if the file cannot be loaded, so that nothing in it can be graded, for one reason."""

    def __init__(self, failure: StudentFailure) -> None:
        super().__init__(failure.fact)
        self.failure = failure


class StudentSession:
    """Answers the hidden tests' calls from a student process that is replaced when needed."""

    def __init__(
        self,
        sandbox: Sandbox,
        handed: SubmittedFiles,
        homework: Homework,
        time: TimeLimits,
        device: UsedDevice | None = None,
    ) -> None:
        self.sandbox, self.handed, self.homework = sandbox, handed, homework
        self._limits, self._device = time.limits, device
        self.time, self.own_time = SubmissionTime(time), time.own_time
        self.answering: Answering | None = None
        """The answers to stand-ins, while the worker has stand-ins for earlier parts."""

        # the worker
        self._process: StudentProcess | None = None
        self._cpu_at_start = 0.0
        self._ran: set[tuple[str, bool]] = set()
        """The part of each test that the worker has run, and whether students see all of the test."""

        # the present test
        self._part, self._seed, self._shown = "", 0, False
        self._seeded = False
        """True if the process has been seeded for it."""
        self.asked: list[Call] = []
        self.answers = 0
        """The number of answers that it has received."""
        self.pure = True
        """True if it asked only processes that had run nothing but its own part (see `_note_use`)."""

        # what is known of the submission
        self.mentions: tuple[tuple[str, str, int], ...] = ()
        """Forbidden names that the text mentions, each with file and line."""
        self.cells = CellReport(handed)
        """The report on the cells of a notebook."""
        self.names: frozenset[str] = frozenset()
        """The names that are asked for and that it defines."""
        self.loading_seconds = 0.0
        """The processor time that loading it has taken, or the time on the clock where that is not known."""
        self.wrong = WrongAnswers()
        self._unloadable: StudentFailure | None = None
        self._printed = Capture(self._limits.output_bytes), Capture(self._limits.output_bytes)
        self._loaded_before = False
        self._asked_by_stand_ins = 0
        self.cpu_seconds = 0.0
        self.left_behind = 0

    def begin(self, part: str, test_id: str, *, shown: bool = False) -> None:
        """Begin a test: the next calls are its own, and its clock starts.

        A process that has ended is replaced. So is a process that the kernel might end during the test.
        """
        self._part, self._seed, self._shown = part, seed_of(test_id), shown
        self.pure, self.answers, self._seeded, self.asked = True, 0, False, []
        if self._process is not None and not (self._process.alive and self._has_time_for_a_test(self._process)):
            self.renew()
        self.time.begin_test()
        if self.answering is not None:
            self.answering.begin()

    def of_another(self, handed: SubmittedFiles, place: Sandbox | None = None) -> StudentSession:
        """Return a session of another submission with the same limits, in the same sandbox if no other is given."""
        return StudentSession(place or self.sandbox, handed, self.homework, self.time.given, self._device)

    def renew(self) -> None:
        """End the worker; the next call starts a fresh one."""
        process, self._process = self._process, None
        self._ran = set()
        if process is not None:
            try:
                with self.own_time.paused():
                    ended = process.close()
            finally:
                for kept, text in zip(self._printed, process.printed(), strict=True):
                    kept.add(text.encode())
            if ended is not None:
                self.cpu_seconds += ended.cpu_seconds
                self.left_behind += ended.leftovers

    @property
    def can_be_asked(self) -> bool:
        """True if a worker can have stand-ins. Code that runs in this process itself has no line to ask on."""
        return self.sandbox.level is not Level.NONE

    @contextmanager
    def stand_ins(self, answering: Answering) -> Iterator[None]:
        """Use fresh workers with stand-ins for earlier functions inside this block."""
        self.renew()
        self.answering = answering
        try:
            yield
        finally:
            self.answering = None
            self.renew()

    def close(self) -> None:
        self.renew()

    def take_printed(self) -> str:
        """Return what was printed since the last time, where the sandbox catches prints test by test."""
        return self._process.take_printed() if self._process is not None else ""

    def work(self) -> Work:
        """Return the work of the present process and of all that it has started; none if there is no process."""
        process = self._process
        seconds = process.cpu_seconds_of_all() if process is not None and process.alive else 0.0
        return Work(seconds, self._asked_by_stand_ins)

    def printed(self) -> tuple[str, str]:
        """Return the beginning and the end of the code's output to stdout and to stderr, from all of its processes."""
        return self._printed[0].text(), self._printed[1].text()

    def load(self) -> None:
        """Make sure that a process has loaded the submission. Raise NotLoadable with the reason if that fails."""
        if self._process is not None and self._process.alive:
            return
        self.renew()
        if self._unloadable is None:
            try:
                self._unloadable = self._start_and_load()
            except Disturbed:
                self._unloadable = self._start_and_load()
            if self._unloadable is not None and self._unloadable.category is Category.CRASH:
                self._unloadable = self._start_and_load()  # two crashes are no accident
        if self._unloadable is not None:
            unloadable = self._unloadable  # it stays so, and loading is not tried again for every test
            if self.answering is not None:
                self._unloadable = None  # without stand-ins it was loaded
            raise NotLoadable(unloadable)

    def _start_and_load(self) -> StudentFailure | None:
        """Load the submission in a new process. Return the reason if that fails."""
        process = self._start()
        homework = self.homework
        stand_ins = self.answering.stand_ins if self.answering is not None else ()
        request = load_request(self.handed, homework, self._device, stand_ins)
        self._process, start = process, time.monotonic()
        try:
            with self.time.of_loading(process) as allowed:
                loaded = process.ask(request, allowed)
            self.loading_seconds = process.cpu_seconds() - self._cpu_at_start or time.monotonic() - start
            self.names = frozenset(loaded.names)
            self.mentions = mentions(loaded, self.handed, homework)
            self.cells = CellReport.told(loaded, self.handed, homework.wanted, homework.packages)
            require_a_part(loaded.names, self.handed, homework, self.cells)
        except StudentFailure as failure:
            self._note_loading(process)
            self.renew()
            return self.time.told(advised(failure, self.handed, self.homework.packages, loading=True))
        self._note_loading(process)
        self._seeded = False  # a new process has not been seeded, wherever in a test it was started
        return None

    def _note_loading(self, process: StudentProcess) -> None:
        """Keep what the file printed while it was loaded, the first time. No test has printed it."""
        said = process.take_printed().encode()
        if not self._loaded_before:
            self._printed[0].add(said)
        self._loaded_before = True

    def call(
        self,
        call: Call,
        expected_bytes: int = 0,
        lent: Mapping[str, Lent] | None = None,
        packing: Packing = lambda key, pack: pack(),
    ) -> CallResult:
        """Return the reply to one call of the present test. Raise StudentFailure if there is no answer.

        `expected_bytes` is the size of the right answer, 0 if it is not known. `lent` has the functions that the test
        lends to the call. `packing` returns the packed request of a key. The key has all that differs between calls
        with these inputs.
        """
        process = self._ready()
        self.asked.append(call)
        request = structs.replace(call, id=self.next_id, seed=None if self._seeded else self._seed)
        answer = partial(self._answer, process, lending=Lending(lent or {}), number=request.id)
        process.answer = answer if lent else None
        try:
            key = request.target, request.method, request.how, request.id, request.seed
            frame = packing(key, partial(packed, request))
            if self.answering is not None:
                self.answering.expect(request, lent or {}, frame)
            reply = self._reply(process, request, frame, expected_bytes)
            while isinstance(reply, Ask):
                reply = self._reply(process, request, frame, expected_bytes, answer(reply))
            return reply
        finally:
            self.answers += process.alive  # one that reports a failure counts, too

    def _ready(self) -> StudentProcess:
        """Return a process that has loaded the submission, for the next question."""
        self.time.require_a_try(self._timed_part)
        self.load()
        if self._process is None:
            raise GraderFault("no student process after loading")
        return self._process

    @property
    def next_id(self) -> int:
        """The number of the present test's next call. It is the same whenever the test is run."""
        return self._seed + self.answers

    @property
    def _timed_part(self) -> tuple[str, bool]:
        """The part of the test, and whether earlier parts have stand-ins. Time-outs are counted for both apart."""
        return self._part, self.answering is not None

    def _answer(self, process: StudentProcess, ask: Ask, lending: Lending, number: int) -> Answered:
        """Return the answer to a question of a call. If it may not ask, end the process and raise StudentFailure."""
        try:
            if ask.name in lending:
                return lending.answer(ask, number)
            if self.answering is None:
                raise failure_texts.malformed("it asks, and has no stand-ins")
            self._asked_by_stand_ins += 1
            return self.answering.answer(ask, number)
        except StudentFailure:
            process.close()
            raise

    def _has_time_for_a_test(self, process: StudentProcess) -> bool:
        used = process.cpu_seconds() - self._cpu_at_start
        return used + 2 * self._limits.cpu_seconds < self._limits.of_a_worker()

    def _reply(
        self, process: StudentProcess, request: Call, frame: bytes, expected_bytes: int, answer: Answered | None = None
    ) -> CallResult | Ask:
        """Return the reply of the process to a request of the present test. Raise StudentFailure if it gives none."""
        self._note_use()
        try:
            with self.time.of_a_call(process, self._timed_part, counts=self.pure) as allowed:
                return process.ask(request, allowed, expected_bytes, self._limits.answer_mb * 1_000_000, answer, frame)
        except Disturbed:
            self.pure = False  # so that the test is judged again
            raise
        finally:
            self._seeded = True

    def leaves_pure(self, part: str, *, shown: bool) -> bool:
        """Return whether the present worker leaves a test of this part pure.

        A worker that has run another part does not. If students see all of the test, a worker that has run a test which
        they do not see does not either.
        """
        return all(ran == part and (all_shown or not shown) for ran, all_shown in self._ran)

    def _note_use(self) -> None:
        """Note that the worker runs the present test, and whether that leaves the test pure."""
        self._ran.add((self._part, self._shown))
        self.pure &= self.leaves_pure(self._part, shown=self._shown)

    def _start(self) -> StudentProcess:
        problem: Exception = GraderFault("no attempt was made")
        for _ in range(_STARTS):
            try:
                with self.own_time.paused():
                    process = self.sandbox.open(self.handed.files, self._limits)
                self._cpu_at_start = process.cpu_seconds()
                return process
            except SandboxLost:
                raise
            except (GraderFault, OSError) as error:
                problem = error
        raise GraderFault(f"a student process could not be started: {problem}") from problem


def seed_of(test_id: str) -> int:
    """Return the seed of all random numbers in a test. It depends on the test's id only."""
    return int.from_bytes(hashlib.sha256(test_id.encode()).digest()[:6], "big")
