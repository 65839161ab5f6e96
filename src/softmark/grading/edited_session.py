"""Answers tests from a worker in which one of the student's definitions is edited. It earns no marks.

The worker proposes the edits before it loads the submission. Then one edit takes the place of the other without a new
process, because hundreds are tried. An edit may make an endless loop or a huge tensor: the limits of every worker end
it, and the next edit has a new process. There are few of these.
"""

from __future__ import annotations

from softmark.grading.session import NotLoadable, StudentSession
from softmark.records.limits import Allowed
from softmark.sandbox.failures import Disturbed, StudentFailure
from softmark.sandbox.own_machine import Sandbox
from softmark.sandbox.student_process import StudentProcess
from softmark.sandbox.wire.editing import Propose, Proposed, PutEdit

MOST_PROCESSES = 8
"""One for the proposals and the first edits, and as many as edits may end."""
_OF_PROPOSALS = 3.0


class EditedSession(StudentSession):
    """A session of a submission with an edit in it."""

    processes = 0
    """The number of processes that it has started."""
    requests = 0
    """The number of edits that were put in place, and of calls."""
    _fresh: StudentProcess | None = None

    @classmethod
    def of(cls, session: StudentSession, place: Sandbox, cpu_seconds: float, most_seconds: float) -> EditedSession:
        """Return a session of the same submission, in this sandbox, for tests that nobody reads the words of.

        A test may take `cpu_seconds` of the processor, and all together `most_seconds` as a submission's are counted.
        """
        time = session.time.given.at_most(cpu_seconds, most_seconds)
        edited = cls(place, session.handed, session.homework, time, session._device)
        edited.wrong.naming = edited.wrong.describing = False
        return edited

    @property
    def spent(self) -> bool:
        """True if it may start no more processes, or has no more time."""
        return self.time.is_up or (self.processes >= MOST_PROCESSES and not self._is_alive)

    def proposals(self, request: Propose) -> Proposed | None:
        """Return the edits that a fresh worker proposes for the submission's text; None if it fails."""
        process = self._fresh = self._start()
        try:
            return process.ask(request, Allowed.of(_OF_PROPOSALS))
        except (StudentFailure, Disturbed):  # a text can be made to break a parser
            process.close()
            self._fresh = None
            return None

    def use(self, edit: PutEdit) -> bool:
        """Put an edit in the place of the last one. Return whether that is possible."""
        self.time.forget_timeouts()
        self.requests += 1
        try:
            self.load()
            if self._process is None:
                return False
            self._process.ask(edit, Allowed.of(self._limits.cpu_seconds))
        except (StudentFailure, Disturbed, NotLoadable):
            return False
        return True

    def close(self) -> None:
        """End its processes, also one that has only made proposals."""
        if self._fresh is not None:
            self._process, self._fresh = self._fresh, None
        super().close()

    @property
    def _is_alive(self) -> bool:
        return self._process is not None and self._process.alive

    def _ready(self) -> StudentProcess:
        """Return the process that is to answer the next call, and count the call."""
        self.requests += 1
        return super()._ready()

    def _start(self) -> StudentProcess:
        if self._fresh is not None:
            process, self._fresh = self._fresh, None
            return process
        self.processes += 1
        return super()._start()
