"""Notices a class in which most submissions fail for one same reason: that is rarely the students' fault."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from softmark.records.result import Outcome, Result, Status

FEWEST = 3
"""In a smaller class two who made the same mistake would be most of it."""
_VARYING = re.compile(r"`[^`]*`|[^\s`]+\.(?:py|ipynb|zip)\b|\d+(?:\.\d+)?")


@dataclass
class SameReason:
    """Fed with one result after another, it counts why they failed."""

    submissions: int = 0
    failed: int = 0
    """How many earned nothing in any test, for whatever reason."""
    reasons: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def add(self, result: Result) -> None:
        """Count one submission; one that the grader failed at has no reason of its own."""
        if result.status is Status.GRADER_ERROR:
            return
        self.submissions += 1
        self.failed += not result.total
        said = _reason(result)
        if said:
            alike = _alike(said, result)
            self.reasons[alike] += 1
            self.examples.setdefault(alike, said)

    @property
    def most_failed(self) -> bool:
        """Whether more than half earned nothing."""
        return 2 * self.failed > self.submissions

    @property
    def warning(self) -> str:
        """The sentence to say first; empty if most did not fail for one reason."""
        for alike, number in self.reasons.most_common(1):
            if number >= FEWEST and 2 * number > self.submissions:
                return f"{number} of {self.submissions} submissions failed for one same reason: {self.examples[alike]}"
        return ""


def _reason(result: Result) -> str:
    """Return why nothing was earned, if that is one reason; of several tests the first one's words."""
    if result.status is Status.NOT_GRADABLE:
        return result.reason
    if result.total or any(test.outcome is not Outcome.FAILED for test in result.tests):
        return ""
    facts = [verdict.fact for test in result.tests for verdict in test.verdicts]
    return facts[0] if len({_alike(fact, result) for fact in facts}) == 1 else ""


def _alike(said: str, result: Result) -> str:
    """Return a text without what differs from part to part and from student to student."""
    said, _, _ = said.partition(";")
    names = {name for part in result.parts for full in part.function.split(",") for name in full.strip().split(".")}
    named = rf"\b(?:{'|'.join(sorted(map(re.escape, names), key=len, reverse=True))})\b(?:\.\w+)*"
    return re.sub(named, "…", _VARYING.sub("…", said)) if names else said
