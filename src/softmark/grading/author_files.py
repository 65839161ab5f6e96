"""Loads the named mistakes and equivalents of a homework.

Mistakes are in `mistakes.toml` and in every file of `mistakes/`, equivalents in `equivalents.py` and `equivalents/`.
Mistakes may be written in Python, too. The files are read in the order of their names. Code that several of them use is
in a file beside them, which is imported as `graders.<hw>.<file>`.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from traceback import extract_tb
from types import ModuleType

from softmark.course.homework import Homework
from softmark.grading.edited_mistakes import EditsOfReference
from softmark.records.errors import ConfigError
from softmark.verdict.mistakes import Mistake, Registry, collecting


class MistakesOnDemand(Registry):
    """The named mistakes of a homework, imported when the first wrong answer needs them.

    If a mistake cannot be imported then, that is a fault of the grader. `softmark verify` imports them at its start.
    """

    def __init__(self, homework: Homework) -> None:
        self.equivalents = []
        self._homework = homework

    @cached_property
    def mistakes(self) -> list[Mistake]:  # type: ignore[override]
        return load_mistakes(self._homework, ("mistakes",)).mistakes


def load_mistakes(homework: Homework, kinds: tuple[str, ...] = ("mistakes", "equivalents")) -> Registry:
    """Return the named mistakes and equivalents of a homework. Raise ConfigError if one cannot be imported."""
    registry = Registry()
    edits = EditsOfReference(homework)
    with collecting(registry):
        for kind in kinds:
            for file in _files(homework, kind):
                if file.suffix == ".py":
                    imported(file, homework)
                    continue
                for mistake in edits.mistakes(file):
                    registry.add(mistake)
    return registry


def _files(homework: Homework, kind: str) -> Iterator[Path]:
    forms = (".py", ".toml") if kind == "mistakes" else (".py",)
    yield from (file for form in forms if (file := homework.folder / f"{kind}{form}").is_file())
    yield from sorted(file for file in (homework.folder / kind).glob("*") if file.suffix in forms)


def imported(file: Path, homework: Homework) -> ModuleType:
    """Import a file of a homework. Raise ConfigError with the line if the file raises."""
    name = ".".join(file.relative_to(homework.root).with_suffix("").parts)
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ConfigError(str(file), 1, "it cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where inspect looks for the source of a class
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        line = next((f.lineno for f in reversed(extract_tb(error.__traceback__)) if f.filename == str(file)), None) or 1
        problem = str(error).removeprefix(f"{file}:{line}: ")  # a MistakeError begins with its place
        raise ConfigError(str(file), line, f"{type(error).__name__}: {problem}") from error
    return module
