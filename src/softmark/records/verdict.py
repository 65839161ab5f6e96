"""What a judgement is made of: a category, a fact, a place, a cause. Data only; rendering is elsewhere.

The texts of a verdict differ in who may read them:

* `fact` and `causes` are safe for a student whatever the test's visibility: shapes, types, counts, the student's own
  doing, never a hidden input or an expected value.
* `where` names numbers (worst index, got, expected): shown only where the test's visibility policy allows it.
* `staff` is for the course staff only: seed, arguments, ratios.

They are cut to `LONGEST_TEXT`: some hold words of the student's, and every verdict is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

LONGEST_TEXT = 2000


class Category(StrEnum):
    """What kind of thing went wrong; the order is that of severity, what hides the rest comes first."""

    LOAD = "load"
    FORBIDDEN = "forbidden"
    CRASH = "crash"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    ERROR = "error"
    TYPE = "type"
    SHAPE = "shape"
    DTYPE = "dtype"
    DEVICE = "device"
    NAN = "nan"
    VALUE = "value"
    PROPERTY = "property"
    INPUT_CHANGED = "input_changed"


class CodeLine(NamedTuple):
    """One line of the student's own code that an exception passed through."""

    file: str
    line: int
    function: str
    text: str


@dataclass(frozen=True, slots=True)
class Cause:
    """A named mistake (or two made together) that reproduces the answer."""

    mistakes: tuple[str, ...]
    """Names of the registered mistakes; two when only their combination fits."""
    says: str
    hint: str = ""
    worth: float = 0.0
    """Share of the marks an instructor gives although this mistake was made."""
    direct: bool = True
    """False when it is a mistake of a function that the checked one calls."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A small matrix, expected and got, for a renderer to draw; as private as `Verdict.where`."""

    expected: tuple[tuple[float, ...], ...]
    got: tuple[tuple[float, ...], ...]
    slice: tuple[int, ...] = ()
    """Leading index of the matrix when the answer has more than two dimensions."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why one check failed."""

    category: Category
    fact: str
    where: str = ""
    staff: str = ""
    causes: tuple[Cause, ...] = ()
    frames: tuple[CodeLine, ...] = ()
    picture: Picture | None = None
    exception: str = ""
    """Class name of the student's exception, when the category is `error`."""
    diagnosed: bool = False
    """Whether the named mistakes were tried on it; only then do empty `causes` say that none fits."""

    def __post_init__(self) -> None:
        for name in ("fact", "where", "staff"):
            object.__setattr__(self, name, getattr(self, name)[:LONGEST_TEXT])


class Failed(AssertionError):
    """A check did not hold. Carries the verdict; its text is the student-safe fact and nothing else."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.fact)
        self.verdict = verdict
