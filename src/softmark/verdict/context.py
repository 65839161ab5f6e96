"""Holds the state of the hidden test that is running. Grading sets it; draws, checks and diagnoses read it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import CodeType
from typing import TYPE_CHECKING, Any, ClassVar

import torch

from softmark.records.verdict import Category, Cause

if TYPE_CHECKING:
    from softmark.verdict.callee import StudentCallable
    from softmark.verdict.expected import Expected, MemoryKey
    from softmark.verdict.mistakes import Mistake, Registry


SEED_OUTSIDE = 20260101
"""Seed for draws outside any case, so that a test tried by hand gives the same numbers every time."""


NOT_DESCRIBED = "it is wrong"
"""The words of a failure that nobody reads."""
Packing = Callable[[Hashable, Callable[[], bytes]], bytes]
"""A function that returns the packed question of a key: a kept one, or one that the given function packs."""


def _nothing() -> None:
    pass


def _anew(key: Hashable, pack: Callable[[], bytes]) -> bytes:
    return pack()


@dataclass(frozen=True, slots=True)
class Check:
    """One check that was made. `ratio` is the worst error over its tolerance, inf if they cannot be compared."""

    name: str
    ratio: float
    category: Category | None = None
    """None when the check held."""
    double: bool = True
    """True if the inputs were in double precision, or had no real numbers. `verify` checks margins for these only."""
    expected: Expected | None = field(default=None, repr=False, compare=False)
    """The expected value. It can contradict a mistake that would have given another answer here."""
    tried: Registry | None = field(default=None, repr=False, compare=False)
    """The mistakes that were tried on a wrong answer; None if none were."""
    causes: tuple[Cause, ...] = field(default=(), repr=False, compare=False)
    """The tried mistakes that give the wrong answer."""


@dataclass(frozen=True, slots=True)
class ChangedInput:
    """An input that a call of the student's changed in place."""

    function: str
    """The function or class that was called, without the name of a method."""
    words: str
    """The name of the input, and its shape and dtype, for students."""


@dataclass(frozen=True, slots=True)
class MadeCall:
    """A call of the student's code, as a test made it."""

    name: str
    """The name of the function, class or method."""
    takes: Sequence[str]
    """The names of its arguments in the handout; none if they are not known."""
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    id: int
    """The number that the request has, too."""


@dataclass(frozen=True, slots=True)
class Step:
    """A check that can be made again."""

    function: str
    """The name of the student's function."""
    place: MemoryKey
    """The place where the expected value is kept."""
    check: Callable[[StudentCallable, Expected], None]
    """The function that asks and compares; it raises `Failed`."""


@dataclass
class PairsOfPart:
    """The search for pairs of mistakes in one part. There are thousands of pairs, so few checks try all of them."""

    fitting: dict[tuple[Mistake, ...], None] = field(default_factory=dict)
    """Pairs that gave a wrong answer of the part. They are tried first on the next one."""
    wanted: bool = True
    """False after a wrong answer that no pair gave. Then no pair explains the part."""


@dataclass
class TestContext:
    """One run of one case of a hidden test: its settings, and what its checks found out."""

    __test__: ClassVar[bool] = False
    """Tells pytest that this class has no tests."""

    id: str = ""
    """The test's id with its parameters; an empty id means that nothing about this case is cached."""
    seed: int = SEED_OUTSIDE
    mistakes: Registry | None = None
    described: bool = True
    """False if nobody reads the words of a failure, because the case is judged again or has been judged before."""
    naming: bool = True
    """True if a failed check searches for the mistake behind it."""
    pairs: PairsOfPart = field(default_factory=PairsOfPart)
    steady: bool = False
    """True if a second call gave the same wrong answer, so that further wrong answers are not tried twice."""
    before_mistake: Callable[[], None] = _nothing
    """Called before each mistake is run, so that a time limit for mistakes that loop for ever starts anew."""
    checks: list[Check] = field(default_factory=list)
    raised: list[Expected] = field(default_factory=list)
    """The expected values of calls in which the student's code raised. A mistake that answers there is not theirs."""
    slips: tuple[Mistake, ...] = ()
    """Mistakes that have cost marks in earlier parts. An answer that repeats one of them is accepted."""
    repeated: list[Mistake] = field(default_factory=list)
    """The slips that were found in answers of this case."""
    changed: list[ChangedInput] = field(default_factory=list)
    """The inputs that any kind of call changed in place."""
    unfollowed: list[str] = field(default_factory=list)
    """The student's functions that the pretended device could not follow, so that they were not judged there."""
    expected_bytes: int = 0
    """The size of the right answer to the present call, which bounds the student's; 0 if it is not known."""
    packing: Packing = _anew
    """Packs the questions of the present check. Those of a repeated check are kept."""
    body: CodeType | None = None
    """The code of the test function."""
    steps: list[Step] | None = None
    """The checks of the test that can be made again without its own code; None if they are not collected."""
    keeps_call: bool = False
    """True if the last call is kept, because a student may make it again."""
    last_call: MadeCall | None = None
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
        tried: Registry | None = None,
        causes: tuple[Cause, ...] = (),
    ) -> None:
        self.checks.append(Check(name, ratio, category, double, expected, tried, causes))

    @contextmanager
    def expecting(self, size: int) -> Iterator[None]:
        """Expect an answer of this size (`values.size_of`) inside this block."""
        before, self.expected_bytes = self.expected_bytes, size
        try:
            yield
        finally:
            self.expected_bytes = before

    @contextmanager
    def repeating(self, packing: Packing) -> Iterator[None]:
        """Take packed questions from `packing` inside this block, because a check is repeated."""
        before, self.packing = self.packing, packing
        try:
            yield
        finally:
            self.packing = before


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
