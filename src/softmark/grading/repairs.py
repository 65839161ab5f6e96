"""Looks for the smallest edit of a student's own function with which all tests of its part pass.

The line of that edit is what a student is told of a mistake that has no name, and the kind of slip; never the edit. The
search runs only for a part with marks lost and with no named mistake, when its tests have been judged, so it can change
no mark.

* A fresh worker proposes edits from the text alone (edits/repairs.py). What comes back is places and new text: the
  edited text is made here by cutting and joining, and nothing of it is parsed on this side.
* Each edit is tried on one failing case, then on the others, then on all cases of the part. These are the part's own
  hidden tests: values come back and are compared here, and the reference stays here, too.
* All edits of one priority are tried before anything is said. If edits on two lines make everything right, nothing is,
  except for kinds of slips that have a usual place: a sign is missing where the value is used last.
* What is said has passed all tests of the part once more as a whole file, in a worker that knows of no edit.

The budget is a number of edits and calls, not a time, so the same submission gets the same words on every machine.

Public tests are few. So with them the search goes on when an edit passes, and nothing is said if one on another line
passes, too, whatever its priority.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pytest
from msgspec.structs import replace as replace_fields

from softmark.course.homework import Homework, Part
from softmark.edits.kinds import KINDS
from softmark.grading.answering import Answering
from softmark.grading.case_run import CaseRun
from softmark.grading.edited_session import EditedSession
from softmark.grading.session import StudentSession
from softmark.intake.model import SubmittedFiles
from softmark.records.verdict import Category, Code, Repair
from softmark.sandbox.own_machine import Sandbox
from softmark.sandbox.wire.editing import Propose, Proposed, PutEdit

MOST_BYTES = 100_000
"""Longer submissions are not searched."""
MOST_REQUESTS = 7_000
"""Edits that are tried for one submission and calls that are made for them, together."""
MOST_OF_A_PART = 6_000
"""The same for one part, so that something is left for a second one."""
_OF_PROPOSALS = 100
"""The requests that the proposals for a part count as, because a process is started for them."""
_CPU_SECONDS = 0.25
"""Processor time of a test with an edit, if the homework does not allow less."""
_PUBLIC_SECONDS = 10.0
"""Time of a search with public tests, for which a student waits."""
_LIKELY = 3
"""The last priority of edits that add nothing: with public tests all of these are tried before a line is told."""
_NO_ANSWER = (Category.GRADER, Category.LOAD, Category.FORBIDDEN, Category.CRASH, Category.TIMEOUT, Category.MEMORY)
_NOT_THERE = (Code.NOT_DEFINED, Code.NOT_WRITTEN, Code.WAITS, Code.NOT_TRIED, Code.WRONG_ARGUMENTS)

RunCase = Callable[[StudentSession, pytest.Item], CaseRun]
"""Runs a case with a session, as it was run when it failed."""


@dataclass(frozen=True)
class FailedPart:
    """A part that has lost marks, with the runs of its cases."""

    part: Part
    runs: Sequence[CaseRun]
    items: Sequence[pytest.Item]
    """The cases of the part, in the order of the runs."""
    answering: Callable[[], Answering | None] = lambda: None
    """Returns the answers to stand-ins for earlier parts that have lost marks, too; None if there are no such parts."""
    distrusted: frozenset[str] = frozenset()
    """Functions of other parts that have lost marks, and have no stand-in: what uses them may be right itself."""

    @property
    def is_unexplained(self) -> bool:
        """True if a case has lost marks by a wrong answer or an exception, and no case has a named mistake."""
        verdicts = [verdict for run in self.runs for verdict in run.verdicts]
        if any(v.causes or v.category in _NO_ANSWER or v.code in _NOT_THERE for v in verdicts):
            return False
        faults = any(run.fault is not None or run.unfit or run.charged for run in self.runs)
        return not faults and any(run.lost_marks for run in self.runs)

    @cached_property
    def in_order(self) -> list[pytest.Item]:
        """The cases: those that failed first, and of them first the one that asks least."""
        pairs = list(zip(self.runs, self.items, strict=True))
        failed = sorted((pair for pair in pairs if pair[0].lost_marks), key=lambda pair: pair[0].answers)
        return [item for _, item in failed] + [item for run, item in pairs if not run.lost_marks]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An edit of the submission: places in one of its files, and a new text. Thousands are kept, and few are made."""

    kind: str
    file: str
    text: bytes
    """The whole file, as it was handed in."""
    begins: int
    ends: int
    """The place of the definition."""
    first_line: int
    start: int
    end: int
    new: str
    told: tuple[int, int]
    """The place of the text that a student is shown."""

    @property
    def definition(self) -> PutEdit | None:
        """The definition with the edit in it; None if that is no text."""
        try:
            old = self.text[self.begins : self.start].decode(), self.text[self.end : self.ends].decode()
        except UnicodeDecodeError:
            return None
        return PutEdit(self.file, self.first_line, f"{old[0]}{self.new}{old[1]}", id=1)

    @property
    def whole(self) -> bytes:
        """The file with the edit in it."""
        return self.text[: self.start] + self.new.encode() + self.text[self.end :]

    @property
    def place(self) -> tuple[str, int]:
        """The file and the line that a student is told."""
        return self.file, self.line

    @property
    def line(self) -> int:
        """The line that a student is told."""
        above = self.text[: self.told[0]].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return above.count(b"\n") + 1

    @property
    def is_on_a_bare_line(self) -> bool:
        """True if the line of the edit only passes a value on, as `return z` does: a step may be missing there."""
        return _BARE_LINE.fullmatch(self.line_text) is not None

    @property
    def line_text(self) -> bytes:
        """The line that a student is told, without a comment."""
        begin = max(self.text.rfind(end, 0, self.told[0]) for end in (b"\n", b"\r")) + 1
        line = self.text[begin:].splitlines()[:1]
        return b"".join(line).partition(b"#")[0].rstrip()

    @property
    def fragment(self) -> str:
        """The text that a student is shown."""
        return _short(self.text[slice(*self.told)].decode(errors="replace"))

    @property
    def words(self) -> str:
        """The edit as staff read it."""
        return f"{_short(self.text[self.start : self.end].decode(errors='replace'))} → {_short(self.new)}"


class RepairSearch:
    """The search for repairs in one submission."""

    def __init__(self, homework: Homework, session: StudentSession, place: Sandbox, *, public: bool = False) -> None:
        self._homework, self._session, self._place, self._public = homework, session, place, public
        self._requests = 0

    @property
    def is_wanted(self) -> bool:
        """True if the homework wants repairs, and something is left to look for them."""
        return self._homework.repairs != "off" and self._may_go_on

    @property
    def _may_go_on(self) -> bool:
        return self._requests + _OF_PROPOSALS < MOST_REQUESTS and not self._session.time.is_up

    def repair(self, failed: FailedPart, run_case: RunCase) -> Repair | None:
        """Return the repair of a part; None if there is none, or if it may be in several lines."""
        if self._place is self._session.sandbox:
            self._session.renew()  # a sandbox has one student process at a time
        search = EditedSession.of(
            self._session, self._place, _CPU_SECONDS, _PUBLIC_SECONDS if self._public else math.inf
        )
        search.answering = failed.answering()
        try:
            candidates = self._candidates(search, failed)
            found = self._found(search, candidates, failed, run_case)
        finally:
            self._requests += search.requests
            search.close()
        found.sort(key=lambda one: list(KINDS).index(one.kind))  # of several meanings the commonest
        return next((self._told(one) for one in found[:3] if self._passes_as_a_file(one, failed, run_case)), None)

    def _candidates(self, search: EditedSession, failed: FailedPart) -> list[_Candidate]:
        handed, part = self._session.handed, failed.part
        texts = [handed.files[file] for file in handed.loaded]
        if sum(map(len, texts)) > MOST_BYTES:
            return []
        others = tuple(name for other in self._homework.parts if other != part for name in other.functions)
        own = tuple(name for name in others if name not in part.functions)
        try:
            request = Propose([text.decode() for text in texts], part.functions, own, id=1)
        except UnicodeDecodeError:
            return []
        self._requests += _OF_PROPOSALS
        proposed = search.proposals(request)
        if proposed is None or not proposed.definitions:
            self._requests += MOST_REQUESTS // 2  # a text that offers nothing twice is not asked a third time
            return []
        if not failed.distrusted.isdisjoint(proposed.uses):
            return []
        return list(_read(proposed, handed))

    def _found(
        self, search: EditedSession, candidates: Sequence[_Candidate], failed: FailedPart, run_case: RunCase
    ) -> list[_Candidate]:
        """Return the edits of the best priority with which all cases pass; none if nobody knows which line is meant."""
        found: list[_Candidate] = []
        for candidate in candidates:
            if found and KINDS[found[0].kind].priority < KINDS[candidate.kind].priority:
                if not self._public:
                    return _of_one_line(found)
                if candidate.place == found[0].place:
                    continue  # what is likelier has been said of that line
            if any(one.kind == candidate.kind and one.place == candidate.place for one in found):
                continue  # it would only say the same, and an edit with which all cases pass costs many calls
            if search.requests >= min(MOST_OF_A_PART, MOST_REQUESTS - self._requests) or search.spent:
                # an edit on another line may be among those that were not tried
                return found if found and self._are_enough(found[0], candidate) else []
            definition = candidate.definition
            if definition is not None and search.use(definition) and _all_pass(search, failed, run_case):
                found.append(candidate)
                if not self._may_be_one(found):
                    return []
        return _of_one_line(found)

    def _may_be_one(self, found: Sequence[_Candidate]) -> bool:
        """Return whether one line may be told of these edits, all of which make the part right."""
        on_one_line = found[-1].place == found[0].place
        return on_one_line or (not self._public and {one.kind for one in found} <= _OF_SEVERAL_LINES.keys())

    def _are_enough(self, best: _Candidate, untried: _Candidate) -> bool:
        """Return whether enough was tried beside the best edit, if the edits from this one on are left out."""
        return self._public and KINDS[untried.kind].priority > max(KINDS[best.kind].priority, _LIKELY)

    def _passes_as_a_file(self, candidate: _Candidate, failed: FailedPart, run_case: RunCase) -> bool:
        handed = self._session.handed
        files = replace(handed, files={**handed.files, candidate.file: candidate.whole})
        session = self._session.of_another(files, self._place)
        session.wrong.naming = session.wrong.describing = False
        session.answering = failed.answering()
        try:
            return _all_pass(session, failed, run_case)
        finally:
            session.close()

    def _told(self, candidate: _Candidate) -> Repair:
        text = self._session.handed.line(candidate.file, candidate.line) or ""
        says = KINDS[candidate.kind].says.format(candidate.fragment)
        told = Repair(*candidate.place, text, candidate.kind, says, "" if self._public else candidate.words)
        return replace_fields(told, kind="", says="") if self._homework.repairs == "line" else told


def _of_one_line(found: list[_Candidate]) -> list[_Candidate]:
    """Return the edits on the line that is told; none if there are edits on two lines, and no reason for one of them.

    A value may be mended where it is made, or where it is used. Some kinds of slips have a usual place.
    """
    if len({one.place for one in found}) < 2:
        return found
    kinds = {one.kind for one in found}
    told = _OF_SEVERAL_LINES[kinds.pop()](found) if len(kinds) == 1 else None
    return [one for one in found if told is not None and one.place == told.place]


def _the_first(found: Sequence[_Candidate]) -> _Candidate | None:
    return min(found, key=lambda one: one.line)


def _the_last(found: Sequence[_Candidate]) -> _Candidate | None:
    return max(found, key=lambda one: one.line)


def _on_a_bare_line(found: Sequence[_Candidate]) -> _Candidate | None:
    return _of_the_only_line([one for one in found if one.is_on_a_bare_line])


def _of_two_variables(found: Sequence[_Candidate]) -> _Candidate | None:
    """Return the edit that combines an unused variable with another variable, if this is on one line only."""
    named = [one for one in found if one.fragment.isidentifier()]
    return _on_a_bare_line(found) or _in_a_sum(found) or _of_the_only_line(named)


def _in_a_sum(found: Sequence[_Candidate]) -> _Candidate | None:
    """Return the edit on a line with a sum, where a term may be missing, if there is one such line only."""
    return _of_the_only_line([one for one in found if _SUM.search(one.line_text)])


def _of_the_only_line(found: Sequence[_Candidate]) -> _Candidate | None:
    return found[0] if len({one.place for one in found}) == 1 else None


_BARE_LINE = re.compile(rb"\s*(return|\w+\s*=)\s*\w+")
_SUM = re.compile(rb" [+-] ")
_OF_SEVERAL_LINES: dict[str, Callable[[Sequence[_Candidate]], _Candidate | None]] = {
    "bound": _the_first,
    "sign missing": _the_last,
    "unused variable": _of_two_variables,
    "unused": _in_a_sum,
    "unused attribute": _on_a_bare_line,
    "two unused": _in_a_sum,
    "factor missing": _on_a_bare_line,
    "step missing": _on_a_bare_line,
}
"""Chooses the edit that is told if edits of one kind on several lines make the part right."""


def _all_pass(session: StudentSession, failed: FailedPart, run_case: RunCase) -> bool:
    return all(_passes(run_case(session, item), failed.part) for item in failed.in_order)


def _passes(run: CaseRun, part: Part) -> bool:
    return not run.failed and run.fault is None and not run.lost_marks and (part.in_place or not run.context.changed)


def _read(proposed: Proposed, handed: SubmittedFiles) -> Iterable[_Candidate]:
    """Yield the edits that a worker has proposed, as far as they are edits of the files."""
    for number, kind, start, end, new, first, last in proposed.edits:
        if number >= len(proposed.definitions) or kind not in KINDS:
            continue
        index, begins, ends, line = proposed.definitions[number]
        if index >= len(handed.loaded):
            continue
        file = handed.loaded[index]
        text = handed.files[file]
        if begins <= start <= end <= ends <= len(text) and begins <= first <= last <= ends:
            yield _Candidate(kind, file, text, begins, ends, line, start, end, new, (first, last))


_LONGEST_FRAGMENT = 60


def _short(text: str) -> str:
    """Return a text on one line, cut if it is long."""
    one_line = " ".join(text.split())
    return one_line if len(one_line) <= _LONGEST_FRAGMENT else f"{one_line[: _LONGEST_FRAGMENT - 1]}…"
