"""Reads a TOML file into a typed struct, and says file and line of whatever is wrong with it."""

import re
import tomllib
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from softmark.records.errors import ConfigError

AnyTable = TypeVar("AnyTable", bound=msgspec.Struct)
Key = tuple[str | int, ...]

HEADER = re.compile(r"""\s*(\[\[?)\s*(?:([A-Za-z0-9_-]+)|"([^"\n]*)"|'([^'\n]*)')\s*\]\]?""")
ASSIGNMENT = re.compile(r"\s*([A-Za-z0-9_-]+)\s*=")
AT = re.compile(r"^(?P<problem>.*?)(?: - at `\$(?P<path>[^`]*)`)?$", re.DOTALL)
STEP = re.compile(r"\.([A-Za-z0-9_-]+)|\[(\d+)\]")
FIELD = re.compile(r"(unknown|missing required) field `([^`]*)`")

IN_WORDS = {
    "`float`": "a number",
    "`int`": "a whole number",
    "`str`": "text",
    "`bool`": "true or false",
    "`array`": "a list",
    "`object`": "a table",
    "`datetime`": "a date with a time",
    "`date`": "a date",
    "`time`": "a time of day",
    "Invalid RFC3339 encoded datetime": "a time looks like 2026-03-02T23:59:00+01:00",
}


class LocatedToml:
    """A parsed file, with the line of each key."""

    def __init__(self, path: Path, shown_as: str) -> None:
        self.shown_as = shown_as
        try:
            text = path.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise ConfigError(shown_as, 1, f"is not UTF-8 text ({error.reason})") from error
        try:
            self.content = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            line = re.search(r"at line (\d+)", str(error))
            number = int(line[1]) if line else len(text.splitlines()) or 1
            raise ConfigError(shown_as, number, f"is not valid TOML: {error}") from error
        self._lines = _lines_of_keys(text)
        self._text = text.splitlines()

    def line(self, key: Key) -> int:
        """Return the line of a key such as ("part", 2, "points"), or of the nearest thing around it."""
        while key and key not in self._lines:
            key = key[:-1]
        return self._lines.get(key, 1)

    def line_of_text(self, key: Key, value: str) -> int:
        """Return the line of a text in a key's value, which may be a list over several lines."""
        start = self.line(key)
        quoted = (f'"{value}"', f"'{value}'")
        lines = enumerate(self._text[start - 1 :], start)
        return next((number for number, line in lines if any(text in line for text in quoted)), start)

    def wrong(self, key: Key, problem: str) -> ConfigError:
        """Return the error to raise about this key."""
        return ConfigError(self.shown_as, self.line(key), problem)

    def read_as(self, table: type[AnyTable], key: Key = ()) -> AnyTable:
        """Return the content, or the table of a key in it, as that struct.

        Raise ConfigError for unknown or missing keys and for wrong types.
        """
        content: Any = self.content
        for step in key:
            content = content[step]
        try:
            return msgspec.convert(content, table)
        except msgspec.ValidationError as error:
            raise self._in_words(str(error), key) from error

    def _in_words(self, message: str, within: Key) -> ConfigError:
        found = AT.match(message)
        problem, path = (found["problem"], found["path"] or "") if found else (message, "")
        key: Key = (*within, *(name or int(index) for name, index in STEP.findall(path)))
        field = FIELD.search(problem)
        if field and field[1] == "unknown":
            key = (*key, field[2])
            problem = f"unknown key {field[2]!r}"
        elif field:
            problem = f"the key {field[2]!r} is missing"
        for machine, words in IN_WORDS.items():
            problem = problem.replace(machine, words)
        place = _key_in_words(key)
        return self.wrong(key, f"{place}{problem[0].lower()}{problem[1:]}")


def _lines_of_keys(text: str) -> dict[Key, int]:
    lines: dict[Key, int] = {}
    tables_so_far: dict[str, int] = {}
    table: Key = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := HEADER.match(line):
            name = header[2] or header[3] or header[4] or ""
            if header[1] == "[[":
                index = tables_so_far.get(name, 0)
                tables_so_far[name] = index + 1
                table = (name, index)
                lines.setdefault((name,), number)
            else:
                table = (name,)
            lines.setdefault(table, number)
        elif assignment := ASSIGNMENT.match(line):
            lines.setdefault((*table, assignment[1]), number)
    return lines


def _key_in_words(key: Key) -> str:
    named = [str(step + 1) if isinstance(step, int) else step for step in key]
    return " ".join(named) + ": " if named else ""
