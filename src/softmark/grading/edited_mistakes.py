"""Turns the entries of `graders/<hw>/mistakes/*.toml` into named mistakes: edits of the reference's functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from softmark.course.homework import Homework
from softmark.edits.changes import EditError
from softmark.edits.definitions import SourceDefinition, definitions_of
from softmark.edits.edited import EditedFunction
from softmark.edits.entries import MistakeEntry, entries_of
from softmark.verdict.mistakes import Mistake


class EditsOfReference:
    """Reads entries for one homework. It reads the reference once for all files."""

    def __init__(self, homework: Homework) -> None:
        self._homework = homework
        self._reference: ModuleType | None = None
        self._definitions: Mapping[str, SourceDefinition] = {}
        self._seen: dict[Any, MistakeEntry] = {}

    def mistakes(self, file: Path) -> Iterator[Mistake]:
        """Yield the named mistakes of a file. Raise ConfigError with the line of a wrong entry."""
        for entry in entries_of(file):
            try:
                edits = tuple(self._edited(name, entry) for name in entry.targets)
            except EditError as error:
                raise entry.refused(str(error)) from error
            same = self._seen.setdefault(tuple(edit.key for edit in edits), entry)
            if same is not entry:
                raise entry.refused(f"the same edit stands at {same.file}:{same.line}: keep one of them")
            yield Mistake(
                entry.name, edits[0].target, None, entry.file, entry.line,
                says=entry.says, hint=entry.hint, id=entry.id, worth=entry.worth, edits=edits,
            )  # fmt: skip

    def _edited(self, name: str, entry: MistakeEntry) -> EditedFunction:
        if self._reference is None:
            self._reference = import_module(f"reference.{self._homework.name}")
            self._definitions = definitions_of(inspect.getsource(self._reference))
        if name not in self._definitions:
            raise EditError(f"the reference defines no {name!r}")
        target = _found(self._reference, name)
        edit = EditedFunction(target, self._definitions[name], entry.changes, entry.body)
        edit.check()
        return edit


def _found(module: ModuleType, name: str) -> Callable[..., Any]:
    found: Any = module
    for step in name.split("."):
        found = inspect.getattr_static(found, step)
    if not inspect.isfunction(found) and not inspect.isclass(found):
        raise EditError(f"{name} is {type(found).__name__}, not a function, method or class")
    result: Callable[..., Any] = found
    return result
