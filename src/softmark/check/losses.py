"""Says what will cost marks in a submission, without a test: what its text shows, and what loading it once shows.

The sentences are those of grading, which reads and loads a submission in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from softmark.check.at_import import work_at_import
from softmark.check.forbidden_uses import forbidden_uses
from softmark.check.missing_imports import of_files
from softmark.check.own_code import OwnCode
from softmark.check.part_states import PartProgress, PartState, part_state
from softmark.course.homework import Homework
from softmark.engines.protocol import EngineError
from softmark.grading.advice import MAIN_GUARD
from softmark.grading.closing import why_not_loaded
from softmark.grading.session import NotLoadable, StudentSession
from softmark.grading.student import verdict_of
from softmark.grading.submission_time import TimeLimits
from softmark.intake.contents import defined
from softmark.intake.model import SubmittedFiles
from softmark.records.limits import Limits
from softmark.sandbox import failure_texts
from softmark.sandbox.failures import GraderFault, StudentFailure
from softmark.sandbox.own_machine import SpawnedSandbox
from softmark.sandbox.wire.protocol import Call, FailedReply

_SLOW = 3
"""A file that takes a third of the limit here may take all of it on a slower machine."""
_WORTH_TELLING = 2.0  # seconds
_MOST_LINES = 5
_AT_IMPORT = "{} run whenever the file is loaded, for grading, too"


@dataclass(frozen=True)
class Losses:
    """The states of the parts, and what was found."""

    parts: tuple[PartState, ...] = ()
    """Empty if the work cannot be read far enough to tell."""
    findings: tuple[str, ...] = ()
    """Sentences about everything that will cost marks, but for parts that are not done."""
    remarks: tuple[str, ...] = ()
    """Sentences about things that cost no marks and are worth knowing."""


def losses(homework: Homework, handed: SubmittedFiles, beside: Sequence[str]) -> Losses:
    """Return what will cost marks in a submission. `beside` are the helper files that were packed."""
    if handed.refusal:
        return Losses(findings=(f"it cannot be graded: {handed.refusal}",))
    code = OwnCode(handed)
    written = frozenset(name for name in homework.wanted if code.definition(name) is not None)
    parts = tuple(part_state(part, code, written, str) for part in homework.parts)
    if all(part.state is PartProgress.NOT_DONE and not part.why for part in parts):
        return Losses(parts, ("it is the starter as it was handed out: nothing of it is written yet",))
    judged = _Judged(homework, handed, code)
    return judged.loaded(written, beside)


@dataclass
class _Judged:
    """A submission that is begun, and what was found in it so far."""

    homework: Homework
    handed: SubmittedFiles
    code: OwnCode
    findings: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def loaded(self, written: frozenset[str], beside: Sequence[str]) -> Losses:
        """Load the work once in a program of its own, and return everything that was found."""
        limits = Limits(**self.homework.limits)  # type: ignore[arg-type]
        session, failure = self._load(limits)
        there = session.names
        if failure is not None:
            why = why_not_loaded(self.handed.main, failure)
            self.findings.append(f"{why}{self._place(failure)}. No part is graded until this is mended")
            there = written
        self._tell_imports(session)
        self.findings += [use.sentence for use in forbidden_uses(self.homework, self.code)]
        self._tell_companions(beside)
        self._tell_work(session, limits, loads=failure is None)
        can_tell = self.code.is_whole or self.handed.cells
        parts = (part_state(p, self.code, there, lambda name: _why_missing(name, session)) for p in self.homework.parts)
        remarks = (remark for remark in dict.fromkeys(self.remarks) if remark not in self.findings)
        return Losses(tuple(parts) if can_tell else (), tuple(dict.fromkeys(self.findings)), tuple(remarks))

    def _load(self, limits: Limits) -> tuple[StudentSession, StudentFailure | None]:
        sandbox = SpawnedSandbox()
        session = StudentSession(sandbox, self.handed, self.homework, TimeLimits(limits))
        try:
            session.load()
        except NotLoadable as why:
            return session, why.failure
        except GraderFault as fault:
            raise EngineError(str(fault)) from fault
        finally:
            session.close()
            sandbox.close()
        return session, None

    def _place(self, failure: StudentFailure) -> str:
        """Return the innermost of the student's lines that a failure came from."""
        frames = failure.raised.frames if failure.raised is not None else ()
        known = [frame for frame in frames if self.handed.line(frame.file, frame.line)]
        told = not known or f"line {known[-1].line})" in failure.detail
        return "" if told else f", in {known[-1].file}, line {known[-1].line}"

    def _tell_imports(self, session: StudentSession) -> None:
        """Tell failed imports and cells, and imports that work here only. They cost marks if a part needs them."""
        told = set()
        for broken in session.cells.failed:
            place = broken.frames[0].file, broken.frames[0].line
            told.add(place)
            libraries = {library for s in self.code.statements if s.holds(*place) for library in s.libraries}
            costs = self._is_needed(*place) and not (libraries and libraries <= set(self.homework.packages))
            (self.findings if costs else self.remarks).append(broken.sentence)
        self.remarks += session.cells.told_apart
        self.findings += session.cells.not_run
        for foreign in of_files(self.handed, self.homework.wanted, self.homework.packages):
            if (foreign.file, foreign.line) not in told:
                (self.findings if foreign.user else self.remarks).append(foreign.sentence)

    def _is_needed(self, file: str, line: int) -> bool:
        """Return whether a part needs the statement of a line, or a name in a file or a cell that is not Python."""
        needed = [s for name in self.homework.wanted for s in self.code.needed_by(name)]
        if file in self.code.trees:
            return any(s.holds(file, line) for s in needed)
        names = frozenset(self.homework.wanted).union(*(s.uses for s in needed))
        return file not in self.handed.cells or defined(self.handed.files[file], names) > 0

    def _tell_companions(self, beside: Sequence[str]) -> None:
        """Tell the helper files that grading leaves out, which the notes of a submission explain."""
        left_out = [name for name in beside if name not in self.handed.files]
        explained = [name for name in left_out if any(f" {name} " in note for note in self.handed.notes)]
        for note in self.handed.notes:
            hides = any(f" {name} " in note for name in explained)
            (self.findings if hides else self.remarks).append(note)
        unexplained = (name for name in left_out if name not in explained)
        self.findings += [f"{name} is left out where it is graded: give it another name" for name in unexplained]

    def _tell_work(self, session: StudentSession, limits: Limits, *, loads: bool) -> None:
        """Tell what runs whenever the file is loaded: it costs marks if it takes long, or needs what is not there."""
        seconds = session.loading_seconds
        works = list(work_at_import(self.code, self.handed.cells))
        if not loads:
            return
        for work in (work for work in works if work.elsewhere):
            what = f"opens `{work.elsewhere}`, and there is no such file and no network while grading"
            self.findings.append(f"{work.file}, line {work.line}: {what}: move it under {MAIN_GUARD}")
        plain = [work for work in works if not work.elsewhere]
        for file in dict.fromkeys(work.file for work in plain):
            self.remarks.append(_run_at_import(file, [work.line for work in plain if work.file == file]))
        took = f"{self.handed.main} took {seconds:.0f} s to load here; where it is graded, it may take"
        if seconds > limits.import_seconds / _SLOW:
            instead = f"make a function of what takes so long, or move it under {MAIN_GUARD}"
            self.findings.append(f"{took} {limits.import_seconds:g} s on a machine that may be slower: {instead}")
        elif seconds > _WORTH_TELLING:
            self.remarks.append(f"{took} {limits.import_seconds:g} s")
        if (printed := session.printed()[0].strip()) and not self.handed.cells and not plain:
            self.remarks.append(f"{self.handed.main} prints while it is loaded: {printed.splitlines()[0][:60]}")


def _run_at_import(file: str, lines: Sequence[int]) -> str:
    *others, last = map(str, lines[:_MOST_LINES])
    if len(lines) > _MOST_LINES:
        others, last = [*others, last], f"{len(lines) - _MOST_LINES} more"
    if not others:
        return f"{file}, line {last} {_AT_IMPORT.format('is')}: move it under {MAIN_GUARD}"
    return f"{file}, lines {', '.join(others)} and {last} {_AT_IMPORT.format('are')}: move them under {MAIN_GUARD}"


def _why_missing(name: str, session: StudentSession) -> str:
    """Return the sentence that grading has for a name that is not defined, with the likely one."""
    reply = FailedReply(id=0, failed="missing", detail="")
    failure = failure_texts.failed_reply(reply, Call(name.rpartition(".")[2]))
    return verdict_of(failure, name, session).fact
