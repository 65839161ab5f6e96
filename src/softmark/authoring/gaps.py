"""Defines the findings of `softmark verify` about one homework: figures, and each claim that does not hold."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from softmark.course.homework import Homework


@dataclass(frozen=True)
class Gap:
    """A claim that does not hold, and what to do about it."""

    homework: str
    subject: str
    what: str


@dataclass
class Verification:
    """The findings about one homework."""

    homework: str
    mistakes: int = 0
    caught: int = 0
    named: int = 0
    equivalents: int = 0
    equivalents_full: int = 0
    starters: int = 0
    starters_zero: int = 0
    trivial: int = 0
    trivial_zero: int = 0
    accepted: float = 0.0
    """Largest error of a right answer, in tolerances."""
    refused: float = math.inf
    """Smallest error of a wrong answer that was refused for its values, in tolerances."""
    conditions: dict[str, dict[str, str]] = field(default_factory=dict)
    """For each condition and each function to which it can apply: caught, hole or excluded."""
    found: dict[str, list[str]] = field(default_factory=dict)
    """The claims that do not hold, each cause once, with the submissions in which it shows."""
    _told: dict[tuple[str, ...], str] = field(default_factory=dict, repr=False)
    """The sentence for each cause that was given as `same_as`."""

    @property
    def margin_accept(self) -> float:
        return 1 / self.accepted if self.accepted else math.inf

    @property
    def margin_reject(self) -> float:
        return self.refused

    @property
    def ok(self) -> bool:
        return not self.found

    @property
    def gaps(self) -> list[Gap]:
        return [Gap(self.homework, _all_of(subjects), what) for what, subjects in self.found.items()]

    def add_gap(self, subject: str, what: str, same_as: tuple[str, ...] = ()) -> None:
        """Note a claim that does not hold. The same sentence about several submissions is one gap.

        Sentences with the same `same_as` are one gap, too; the first of them is told.
        """
        if same_as:
            what = self._told.setdefault(same_as, what)
        subjects = self.found.setdefault(what, [])
        if subject not in subjects:
            subjects.append(subject)


def _all_of(subjects: Sequence[str]) -> str:
    """Return the subjects by name, if they are few."""
    first, *others = subjects
    if len(others) <= 2:
        return ", ".join(subjects)
    return f"{first} and {len(others)} more"


def placed(number: str, name: str, homework: Homework) -> str:
    """Return a hidden test's number and place: "test 1.1 (graders/tiny/test_hidden.py:12)"."""
    defined = re.compile(rf"^\s*(?:async )?def {re.escape(name.rpartition('::')[2])}\(", re.MULTILINE)
    for file in sorted(homework.folder.rglob("test_*.py")):
        text = file.read_text(encoding="utf-8", errors="replace")
        if (found := defined.search(text)) is not None:
            line = text.count("\n", 0, found.end()) + 1
            return f"test {number} ({file.relative_to(homework.root).as_posix()}:{line})"
    return f"test {number}"
