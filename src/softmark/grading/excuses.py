"""Judges a failed case of a later part once more, as if the parts that it builds on were right.

Each part is graded by itself. A failed case is run again in a fresh worker, in which the reference answers for the
earlier functions (answering.py), and in which an answer may repeat a named slip that has cost marks in an earlier part.
If the case passes then, it gets its marks. No value of the student's earlier functions is used, so a student gains
nothing by what they answer.

Only earlier parts that have lost marks excuse anything. Otherwise, a mistake in an earlier part that only a test of a
later part finds would cost nothing at all. Submissions that are right, or wrong in a last part only, also need no
second run.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import pytest

from softmark.course.homework import Homework
from softmark.grading.answering import Answering
from softmark.grading.case_run import CaseRun
from softmark.grading.resolved_names import imported_reference
from softmark.grading.session import StudentSession
from softmark.records.verdict import Code
from softmark.sandbox.failures import SandboxLost
from softmark.verdict.mistakes import Mistake, Registry

RunAgain = Callable[[pytest.Item, tuple[Mistake, ...]], CaseRun]
"""Runs a case in which an answer may repeat these mistakes."""


class LostMarks:
    """The parts of one submission that have lost marks, each with the named mistakes that cost them."""

    def __init__(self, not_run: Collection[str]) -> None:
        self._mistakes: dict[str, frozenset[str]] = {}
        self._not_run = not_run
        """The parts of which not all tests are run. They are assumed to be wrong, because nothing is known of them."""
        self.assumed: set[str] = set()
        """The parts that were not run, although a part that was run builds on them."""

    def note(self, part: str, runs: Sequence[CaseRun]) -> None:
        """Note whether a part has lost marks, and by which mistakes. No runs mean that it could not be judged."""
        lost = [run for run in runs if run.lost_marks or run.fault is not None]
        if lost or not runs:
            causes = (cause for run in lost for verdict in run.verdicts for cause in verdict.causes)
            self._mistakes[part] = frozenset(name for cause in causes for name in cause.mistakes)

    def functions(self, homework: Homework) -> set[str]:
        """Return the functions and classes of the parts that have lost marks, or of which not all tests are run."""
        wrong = {*self._mistakes, *self._not_run}
        return {name for part in homework.parts if part.number in wrong for name in part.roots}

    def excuse(self, homework: Homework, number: str) -> Excuse | None:
        """Return the excuse for failures of a part; None if there is none. Note the parts that were not run."""
        part = next(known for known in homework.parts if known.number == number)
        before = [known for known in homework.parts if known.number in part.builds_on]
        wrong = [known for known in before if known.number in self._mistakes or known.number in self._not_run]
        roots = [(name.partition(".")[0], known.number) for known in wrong for name in known.functions]
        functions = {name: number for name, number in reversed(roots) if name not in part.roots}
        slips = {n: known.number for known in reversed(wrong) for n in self._mistakes.get(known.number, ())}
        self.assumed.update(known.number for known in wrong if known.number in self._not_run)
        return Excuse(functions, slips) if functions or slips else None


@dataclass(frozen=True)
class Excuse:
    """The earlier functions and the named mistakes that have cost marks, each with its part."""

    functions: dict[str, str]
    slips: dict[str, str]

    def repeatable(self, registry: Registry | None) -> tuple[Mistake, ...]:
        """Return the mistakes that an answer may repeat."""
        return tuple(m for m in registry.mistakes if m.name in self.slips) if registry is not None else ()

    def answering(self, homework: Homework) -> Answering | None:
        """Return the reference's answers for the earlier functions; None if there is no reference."""
        reference = imported_reference(homework)
        return Answering(reference, tuple(self.functions)) if reference is not None else None


def judge_again(
    failed: Sequence[tuple[pytest.Item, CaseRun]],
    excuse: Excuse,
    homework: Homework,
    registry: Registry | None,
    session: StudentSession,
    run_again: RunAgain,
) -> Iterator[CaseRun]:
    """Yield each of these runs, or a better run of the same case with earlier parts right."""
    answering = excuse.answering(homework)
    if answering is None or not session.can_be_asked:
        yield from (run for _, run in failed)
        return
    slips = excuse.repeatable(registry)
    with session.stand_ins(answering):
        for item, run in failed:
            if session.time.is_up:
                yield run
                continue
            again = run_again(item, slips)
            for error in again.errors:
                if isinstance(error, SandboxLost):
                    raise error
            given = dict.fromkeys(excuse.functions[name] for name in excuse.functions if name in answering.asked)
            same = dict.fromkeys(excuse.slips[slip.name] for slip in again.context.repeated)
            not_tried = any(verdict.code == Code.NOT_TRIED for verdict in run.verdicts)
            # If neither was used, the case may have passed by chance, so the failure stands, unless it was not tried.
            counts = given or same or not_tried
            yield run.bettered(again, tuple(given), tuple(same)) if counts else run
