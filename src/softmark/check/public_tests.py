"""What a student gets of a homework: its public tests, and `examples.json` with all that they need to know.

There are no hidden tests, no reference and no `homework.toml` on a student's machine. Title, parts, rules and worked
examples stand in the one file that `softmark build` writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec

from softmark.check.worked_examples import Slip, WorkedExample, from_data
from softmark.course.homework import ForbiddenRule, Homework, Part
from softmark.records.errors import ConfigError

EXAMPLES, TESTS = "examples.json", "test_public.py"


class WordsData(msgspec.Struct, frozen=True):
    """What a student is told who made a known mistake."""

    says: str
    hint: str


class ExampleData(msgspec.Struct, frozen=True, omit_defaults=True):
    """One worked example, with values as check/worked_examples.py writes them; `mistakes` maps names to answers."""

    name: str
    call: str
    args: list[Any]
    answer: Any
    kwargs: dict[str, Any] = {}
    make: dict[str, Any] | None = None
    weights: dict[str, Any] | None = None
    mistakes: dict[str, Any] = {}

    def worked(self, words: Mapping[str, WordsData]) -> WorkedExample:
        """The example with its values as tensors, and with the words for its mistakes."""
        return WorkedExample(
            name=self.name,
            args=tuple(from_data(value) for value in self.args),
            answer=from_data(self.answer),
            kwargs={key: from_data(value) for key, value in self.kwargs.items()},
            slips=[
                Slip(from_data(answer), name, words[name].says, words[name].hint)
                for name, answer in self.mistakes.items()
            ],
            make=self.make,
            weights=None if self.weights is None else {key: from_data(value) for key, value in self.weights.items()},
        )


class Handout(msgspec.Struct, frozen=True, omit_defaults=True):
    """The content of `examples.json`."""

    homework: str
    title: str
    file: str
    parts: tuple[Part, ...]
    forbidden: tuple[ForbiddenRule, ...]
    mistakes: dict[str, WordsData]
    examples: tuple[ExampleData, ...]
    takes: dict[str, tuple[str, ...]] = {}
    """How the arguments of the functions and methods are called."""
    packages: tuple[str, ...] = ()
    """What may be imported beside torch, NumPy and Python's own modules."""
    limits: dict[str, float] = {}
    """The limits of time that the homework sets: the same hold on a student's machine."""

    @property
    def wanted(self) -> tuple[str, ...]:
        """The names that a submission is asked to define, without those of a class's methods."""
        return self.as_homework(Path(), {}).wanted

    def worked(self, name: str) -> WorkedExample:
        """The worked example of this name."""
        for example in self.examples:
            if example.name == name:
                return example.worked(self.mistakes)
        raise ConfigError(EXAMPLES, 1, f"there is no worked example “{name}”; build the homework, or get it anew")

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
        )


def read_handout(folder: Path) -> Handout:
    """The `examples.json` of a homework's folder."""
    file = folder / EXAMPLES
    try:
        return msgspec.json.decode(file.read_bytes(), type=Handout)
    except OSError as error:
        raise ConfigError(
            str(file), 1, f"it cannot be read ({error.strerror}); get the homework's folder anew"
        ) from None
    except msgspec.DecodeError as error:
        raise ConfigError(str(file), 1, f"it is not as it was handed out ({error}); get it anew") from None
