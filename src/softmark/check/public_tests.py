"""Reads `examples.json`: all that the public tests of a homework need to know on a student's machine.

There are no hidden tests, no reference and no `homework.toml` there. `softmark build` writes title, parts, rules and
worked examples into this one file.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from softmark.course.homework import ForbiddenRule, Homework, Part, Repairs
from softmark.records.errors import ConfigError

EXAMPLES, TESTS = "examples.json", "test_public.py"


class WordsData(msgspec.Struct, frozen=True):
    """The words for a student who made a known mistake."""

    says: str
    hint: str


class ExampleData(msgspec.Struct, frozen=True, omit_defaults=True):
    """One worked example, with values as worked_examples.py writes them; `mistakes` has an answer for each name."""

    name: str
    call: str
    args: list[Any]
    answer: Any
    kwargs: dict[str, Any] = {}
    make: dict[str, Any] | None = None
    weights: dict[str, Any] | None = None
    mistakes: dict[str, Any] = {}


class Handout(msgspec.Struct, frozen=True, omit_defaults=True, eq=False):
    """The content of `examples.json`. Two of them are never equal, so what is made of one can be kept by it."""

    homework: str
    title: str
    file: str
    parts: tuple[Part, ...]
    forbidden: tuple[ForbiddenRule, ...]
    mistakes: dict[str, WordsData]
    examples: tuple[ExampleData, ...]
    takes: dict[str, tuple[str, ...]] = {}
    """The names of the arguments of each function and method."""
    packages: tuple[str, ...] = ()
    """The libraries that may be imported beside torch, NumPy and Python's own modules."""
    limits: dict[str, float] = {}
    """The limits of time that the homework sets. The same hold on a student's machine."""
    points: dict[str, float] = {}
    """The points of each part in grading; none in handouts from before it was noted."""
    repairs: Repairs = "line and kind"
    """The words about a mistake that no worked example names."""

    @property
    def wanted(self) -> tuple[str, ...]:
        """The names that a submission is asked to define, without those of a class's methods."""
        return self.as_homework(Path(), {}).wanted

    def as_homework(self, folder: Path, tests: dict[str, int]) -> Homework:
        """Return the homework as far as it is known here; each part has as many points as it has public tests."""
        parts = tuple(msgspec.structs.replace(p, points=Fraction(tests.get(p.number, 0))) for p in self.parts)
        points = sum((part.points for part in parts), Fraction(0))
        return Homework(
            self.homework,
            folder,
            self.title,
            self.file,
            points,
            parts,
            self.forbidden,
            limits=self.limits,
            takes=self.takes,
            packages=self.packages,
            repairs=self.repairs,
        )


def read_handout(folder: Path) -> Handout:
    """Return the content of a folder's `examples.json`. Raise ConfigError if it cannot be read."""
    file = folder / EXAMPLES
    try:
        seen = file.stat()
        return _read(file.absolute(), seen.st_mtime_ns, seen.st_size)
    except OSError as error:
        raise ConfigError(
            str(file), 1, f"it cannot be read ({error.strerror}); get the homework's folder anew"
        ) from None
    except msgspec.DecodeError as error:
        raise ConfigError(str(file), 1, f"it is not as it was handed out ({error}); get it anew") from None


@lru_cache(maxsize=4)
def _read(file: Path, _changed: int, _size: int) -> Handout:
    """Return a handout, the kept one as long as the file stays as it is: `--watch` needs it at every save."""
    return msgspec.json.decode(file.read_bytes(), type=Handout)
