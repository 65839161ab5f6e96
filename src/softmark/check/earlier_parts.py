"""Tells which failures of the public tests may only follow from an earlier part that is not right yet.

In grading, a part is judged once more as if the earlier parts were right. On a student's machine there is no reference
that could answer for those. So a wrong answer of a part that builds on a failing part gets no name, because the
mistake may be in the other part. Some failures cannot come from an earlier part, and are told as they are: a shortcut
that the part takes itself, or a function of its own that is not defined.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from softmark.course.homework import Part
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Outcome, TestResult
from softmark.records.verdict import Category, Code, CodeLine, Verdict

_ITS_OWN = (Code.NOT_DEFINED, Code.WRONG_ARGUMENTS)
"""Codes of failures that no earlier part can have caused, if the function is one of the part itself."""


class EarlierParts:
    """The parts of a homework, and what builds on what."""

    def __init__(self, parts: Sequence[Part], builds_on: Mapping[str, Collection[str]], handed: SubmittedFiles) -> None:
        self._parts = {part.number: part for part in parts}
        self._builds_on = builds_on
        self._handed = handed
        self._asked_for = {name for part in parts for name in _written_for(part)}

    def built_on_by(self, part: str) -> list[str]:
        """Return the earlier parts that a part builds on."""
        order = list(self._parts)
        return [earlier for earlier in order[: order.index(part)] if earlier in self._builds_on[part]]

    def fails(self, part: str, tests: Sequence[TestResult]) -> bool:
        """Return whether a test of a part failed."""
        return any(test.part == part and test.outcome is Outcome.FAILED for test in tests)

    def explained(self, test: TestResult, tests: Sequence[TestResult]) -> TestResult:
        """Return a failed test with the failing earlier parts that may have caused it, in place of names and lines.

        An exception and its line are facts, and stay.
        """
        causes = [self._parts[earlier] for earlier in self._origins(test.part, tests)]
        if test.outcome is not Outcome.FAILED or not causes:
            return test
        said, part = _sentence(causes), self._parts[test.part]
        cases = []
        for case in test.cases:
            verdicts = (v if self._is_its_own(v, part) else _undiagnosed(v, said) for v in case.verdicts)
            cases.append(msgspec.structs.replace(case, verdicts=tuple(dict.fromkeys(verdicts))))
        return msgspec.structs.replace(test, cases=tuple(cases), repair=None)

    def _origins(self, part: str, tests: Sequence[TestResult]) -> list[str]:
        """Return the failing parts that a part builds on, without those that build on a failing one themselves."""
        failing = [earlier for earlier in self.built_on_by(part) if self.fails(earlier, tests)]
        return [earlier for earlier in failing if not set(self._builds_on[earlier]) & set(failing)]

    def _is_its_own(self, verdict: Verdict, part: Part) -> bool:
        """Return whether the test would have failed in this way whatever the earlier parts do."""
        if verdict.category is Category.FORBIDDEN:
            return self._used_in(verdict.frames) in _written_for(part)
        return verdict.code in _ITS_OWN and verdict.function.partition(".")[0] in _written_for(part)

    def _used_in(self, frames: Sequence[CodeLine]) -> str:
        """Return the innermost function that a part asks for, of those that an exception passed through."""
        passed = (self._handed.around(frame.file, frame.line) for frame in reversed(frames))
        return next((name for name in passed if name in self._asked_for), "")


def _written_for(part: Part) -> set[str]:
    """Return the functions and classes that a student writes for a part."""
    return {name.partition(".")[0] for name in part.functions}


def _undiagnosed(verdict: Verdict, said: str) -> Verdict:
    """Return the verdict without names of mistakes; of a wrong answer only its category stays."""
    if verdict.frames:
        return msgspec.structs.replace(verdict, fact=f"{verdict.fact}; it {said}", causes=(), picture=None)
    return Verdict(category=verdict.category, fact=said, code=Code.FOLLOWS)


def _sentence(parts: Sequence[Part]) -> str:
    names = [f"{part.number} ({part.function})" for part in parts]
    if len(names) == 1:
        return f"may follow from part {names[0]}: mend that first"
    return f"may follow from parts {', '.join(names[:-1])} and {names[-1]}: mend those first"
