"""Reads a file of named mistakes, such as `graders/<hw>/mistakes/part3.toml`: edits of the reference, with words.

A table names the function that it edits: `[[scores]]`, `[["MultiHeadAttention.forward"]]`, or `[["encode, decode"]]` if
one mistake is made in several functions. A wrong entry is refused with file and line.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from softmark.course.toml import Key, LocatedToml
from softmark.edits.changes import EditError, TextChange, change_of
from softmark.records.errors import ConfigError


class _EntryTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    says: str
    edit: str | tuple[str, ...] = ()
    body: str = ""
    hint: str = ""
    id: str | None = None
    worth: float = 0.0
    name: str = ""


@dataclass(frozen=True)
class MistakeEntry:
    """A named mistake as its author wrote it."""

    targets: tuple[str, ...]
    """The functions, methods or classes that it edits, each by its name."""
    changes: tuple[TextChange, ...]
    body: str
    """New statements for the function; empty if the mistake consists of changes."""
    says: str
    hint: str
    id: str | None
    worth: float
    name: str
    """Its name in lists for staff: the edit itself, unless the author chose another one."""
    file: str
    line: int

    def refused(self, problem: str) -> ConfigError:
        """Return the error to raise about this entry."""
        return ConfigError(self.file, self.line, problem)


def entries_of(path: Path) -> Iterator[MistakeEntry]:
    """Yield the entries of a file in their order. Raise ConfigError with the line of a wrong entry."""
    toml = LocatedToml(path, str(path))
    keys: list[Key] = []
    for name, tables in toml.content.items():
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise toml.wrong((name,), f"an entry begins with [[{name}]], in two pairs of brackets")
        keys += [(name, index) for index in range(len(tables))]
    for key in sorted(keys, key=toml.line):
        yield _entry(toml, key, toml.read_as(_EntryTable, key))


def _entry(toml: LocatedToml, key: Key, table: _EntryTable) -> MistakeEntry:
    targets = tuple(name.strip() for name in str(key[0]).split(","))
    texts = (table.edit,) if isinstance(table.edit, str) else table.edit
    if bool(texts) == bool(table.body.strip()):
        raise toml.wrong(key, "an entry has either an edit or a body")
    if not table.says.strip():
        raise toml.wrong((*key, "says"), "says is empty: name the mistake in one sentence")
    if not 0 <= table.worth < 1:
        raise toml.wrong((*key, "worth"), f"worth is {table.worth:g}, it must be at least 0 and less than 1")
    changes = []
    for text in texts:
        try:
            changes.append(change_of(text))
        except EditError as error:
            raise ConfigError(toml.shown_as, toml.line_of_text((*key, "edit"), text), str(error)) from error
    name = table.name or f"{', '.join(targets)}: {_in_one_line(changes, table.body)}"
    words: dict[str, Any] = {field: getattr(table, field) for field in ("says", "hint", "id", "worth")}
    line = toml.line((*key, "body" if table.body else "edit"))
    return MistakeEntry(targets, tuple(changes), table.body, name=name, file=toml.shown_as, line=line, **words)


def _in_one_line(changes: list[TextChange], body: str) -> str:
    if changes:
        return "; ".join(" ".join(str(change).split()) for change in changes)
    return "; ".join(line.strip() for line in body.strip().splitlines())
