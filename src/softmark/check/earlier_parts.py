"""Which failures of the public tests may only follow from an earlier part that is not right yet.

In grading, a part that is right given the student's own earlier parts earns its marks. Here, on a student's machine,
there is no reference to run again on those; so a wrong answer of a part that builds on a failing one is not diagnosed.
Whatever would be said of it could be an accusation of a mistake that stands elsewhere. What no earlier part can have
brought about is said as it is: a shortcut that the part takes itself, or a function of its own that is not there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache

import msgspec

from softmark.course.homework import Part
from softmark.intake.submitted_files import Handed
from softmark.records.result import Outcome, TestResult
from softmark.records.verdict import Category, Code, CodeLine, Verdict

_ITS_OWN = (Code.NOT_DEFINED, Code.WRONG_ARGUMENTS)
"""Codes of failures that no earlier part can have caused, if the function is one of the part itself."""


class JudgedParts:
    """The tests of each part, run when first asked for: those of a part that nobody wants to see, as a cause."""

    def __init__(
        self,
        parts: Sequence[Part],
        builds_on: Mapping[str, Collection[str]],
        run: Callable[[str], tuple[TestResult, ...]],
        handed: Handed,
    ) -> None:
        self._order = [part.number for part in parts]
        self._specs = {part.number: part for part in parts}
        self._builds_on = builds_on
        self._run = cache(run)
        self._handed = handed
        self._asked_for = {name for part in parts for name in _written_for(part)}

    def tests(self, part: str) -> tuple[TestResult, ...]:
        """What came of a part's tests; those that may have failed because of an earlier part say so, and no more."""
        if not self._fails(part):
            return self._run(part)
        causes = [self._specs[earlier] for earlier in self._origins(part)]
        return tuple(self._following(test, causes) if causes else test for test in self._run(part))

    def _following(self, test: TestResult, causes: Sequence[Part]) -> TestResult:
        """A failed test of a part that builds on these failing parts; an exception and its line are facts, and stay."""
        if test.outcome is not Outcome.FAILED:
            return test
        said, part = _sentence(causes), self._specs[test.part]
        cases = []
        for case in test.cases:
            verdicts = (v if self._is_its_own(v, part) else _undiagnosed(v, said) for v in case.verdicts)
            cases.append(msgspec.structs.replace(case, verdicts=tuple(dict.fromkeys(verdicts))))
        return msgspec.structs.replace(test, cases=tuple(cases))

    def _is_its_own(self, verdict: Verdict, part: Part) -> bool:
        """Whether it would have failed so whatever the earlier parts do."""
        if verdict.category is Category.FORBIDDEN:
            return self._used_in(verdict.frames) in _written_for(part)
        return verdict.code in _ITS_OWN and verdict.function.partition(".")[0] in _written_for(part)

    def _used_in(self, frames: Sequence[CodeLine]) -> str:
        """The innermost function that a part asks for, of those that an exception passed through."""
        passed = (self._handed.around(frame.file, frame.line) for frame in reversed(frames))
        return next((name for name in passed if name in self._asked_for), "")

    def _origins(self, part: str) -> list[str]:
        """The failing parts that a part builds on, without those that build on a failing one themselves."""
        before = self._order[: self._order.index(part)]
        failing = [earlier for earlier in before if earlier in self._builds_on[part] and self._fails(earlier)]
        return [earlier for earlier in failing if not set(self._builds_on[earlier]) & set(failing)]

    def _fails(self, part: str) -> bool:
        return any(test.outcome is Outcome.FAILED for test in self._run(part))


def _written_for(part: Part) -> set[str]:
    """The functions and classes that a student writes for a part."""
    return {name.partition(".")[0] for name in part.functions}


def _undiagnosed(verdict: Verdict, said: str) -> Verdict:
    if verdict.frames:
        return msgspec.structs.replace(verdict, fact=f"{verdict.fact}; it {said}", causes=(), picture=None)
    return Verdict(category=verdict.category, fact=said)


def _sentence(parts: Sequence[Part]) -> str:
    names = [f"{part.number} ({part.function})" for part in parts]
    if len(names) == 1:
        return f"may follow from part {names[0]}: mend that first"
    return f"may follow from parts {', '.join(names[:-1])} and {names[-1]}: mend those first"
