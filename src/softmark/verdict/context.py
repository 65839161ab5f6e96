"""The state of the hidden test that is running. Grading sets it; draws, checks and diagnoses read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import CodeType
from typing import TYPE_CHECKING, ClassVar

import torch

from softmark.records.verdict import Category

if TYPE_CHECKING:
    from softmark.verdict.callee import StudentCallable
    from softmark.verdict.expected import Expected, MemoryKey
    from softmark.verdict.mistakes import Mistake, Registry


SEED_OUTSIDE = 20260101
"""Seed for draws outside any case, so that a test tried by hand gives the same numbers every time."""


def _nothing() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Check:
    """One comparison that was made: `ratio` is the worst error over its tolerance (inf: not comparable at all)."""

    name: str
    ratio: float
    category: Category | None = None
    """None when the check held."""
    double: bool = True
    """True if the inputs were in double precision (or no real numbers): margins are promised for these."""
    expected: Expected | None = field(default=None, repr=False, compare=False)
    """The expected value that the answer agreed with: evidence against mistakes that would have shown here."""


@dataclass(frozen=True, slots=True)
class Step:
    """A check that can be made again."""

    function: str
    """The name of the student's function."""
    place: MemoryKey
    """The place where the expected value is kept."""
    check: Callable[[StudentCallable, Expected], None]
    """Asks the function and compares; raises `Failed`."""


@dataclass
class TestContext:
    """One run of one case of a hidden test: its settings, and what its checks found out."""

    __test__: ClassVar[bool] = False
    """Tells pytest that this is no class of tests."""

    id: str = ""
    """The test's id with its parameters; an empty id means that nothing about this case is cached."""
    seed: int = SEED_OUTSIDE
    mistakes: Registry | None = None
    naming: bool = True
    """True if the mistake behind a failed check is looked for."""
    steady: bool = False
    """True if a second call gave the same wrong answer, so that no further wrong answer is taken for a random one."""
    before_mistake: Callable[[], None] = _nothing
    """Called before a mistake is run: it may loop for ever, and what ends it then gives each of them its own time."""
    checks: list[Check] = field(default_factory=list)
    raised: list[Expected] = field(default_factory=list)
    """The expected values where the student's code raised: a mistake that would have answered there is not theirs."""
    slips: tuple[Mistake, ...] = ()
    """Mistakes that have cost marks in earlier parts. An answer that differs from the right one by these is right."""
    repeated: list[Mistake] = field(default_factory=list)
    """The slips that were found in answers of this case."""
    unfollowed: list[str] = field(default_factory=list)
    """Functions of the student's that could not be followed on the pretended device: this is not judged."""
    expected_bytes: int = 0
    """Size of the right answer to the call that is being made, 0 where it is not known: it bounds the student's."""
    body: CodeType | None = None
    """The code of the test function."""
    steps: list[Step] | None = None
    """The checks of the test that can be made again without its own code; None if nobody wants to."""
    generator: torch.Generator = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.generator = torch.Generator().manual_seed(self.seed)

    def record(
        self,
        name: str,
        ratio: float,
        category: Category | None = None,
        *,
        double: bool = True,
        expected: Expected | None = None,
    ) -> None:
        self.checks.append(Check(name, ratio, category, double, expected))

    @contextmanager
    def expecting(self, size: int) -> Iterator[None]:
        """Inside this block, an answer of this size is expected (`values.size_of`)."""
        before, self.expected_bytes = self.expected_bytes, size
        try:
            yield
        finally:
            self.expected_bytes = before


_CURRENT: ContextVar[TestContext | None] = ContextVar("softmark_test", default=None)
_OUTSIDE = TestContext()


def current_test() -> TestContext:
    """Return the context of the running test; outside of a test, one shared context with a fixed seed."""
    return _CURRENT.get() or _OUTSIDE


@contextmanager
def activate(case: TestContext) -> Iterator[TestContext]:
    """Make `case` the context of the running test inside this block."""
    token = _CURRENT.set(case)
    try:
        yield case
    finally:
        _CURRENT.reset(token)
