"""Keeps what grading has learned about the wrong answers of one submission, and what it still looks for."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from softmark.verdict.context import PairsOfPart


@dataclass
class WrongAnswers:
    """The state of the search for words about wrong answers."""

    naming: bool = True
    """True if wrong answers make grading search for named mistakes."""
    describing: bool = True
    """True if somebody reads the words of a failure."""
    unexplained: set[str] = field(default_factory=set)
    """The tests with a wrong answer that no named mistake explains. No mistake can explain all of such a test."""
    pairs: dict[str, PairsOfPart] = field(default_factory=lambda: defaultdict(PairsOfPart))
    """The search for pairs of mistakes, by part."""
    steady: set[str] = field(default_factory=set)
    """The tests in which a second call gave the same wrong answer, so that their answers are not random."""
    unfit: list[str] = field(default_factory=list)
    """For staff: where a hidden test stumbled over an answer, though it passes with the reference."""
