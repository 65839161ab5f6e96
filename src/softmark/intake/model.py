"""Defines what was found in a source, student by student. The files of a submission are read when they are needed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Protocol

from softmark.course.homework import Homework
from softmark.records.result import Submission


class Source(Protocol):
    """The place of one submission's files."""

    def load(self, homework: Homework) -> SubmittedFiles:
        """Read the files now. Whatever the student did is a refusal, never an exception."""
        ...


@dataclass(frozen=True, slots=True)
class RefusedSource:
    """A submission that could not be looked into; a `Source` of an entry."""

    why: str

    def load(self, homework: Homework) -> SubmittedFiles:
        return SubmittedFiles(refusal=self.why)


@dataclass(frozen=True)
class Entry:
    """The attempt of one student (or group) that counts. It is found, and not yet read."""

    submission: Submission
    source: Source

    @property
    def id(self) -> str:
        """Return the id of the submission."""
        return self.submission.id

    def load(self, homework: Homework) -> SubmittedFiles:
        """Read the bytes and choose the file that is graded."""
        return self.source.load(homework)


@dataclass(frozen=True)
class Collection:
    """Everything that was found in the paths that were given."""

    format: str
    entries: tuple[Entry, ...]
    ignored: tuple[str, ...] = ()
    """Things that are nobody's submission, such as an export's own files."""
    doubts: tuple[str, ...] = ()
    """Things that may be somebody's submission nevertheless. A run lists them first, and ends with exit code 1."""


_DEFINITION = re.compile(r"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)|^(\w+)[ \t]*=(?!=)", re.MULTILINE)
_OUTERMOST = re.compile(r"(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)")
_KEPT = re.compile(r"^[ \t]*self\.(\w+)[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE)
_OF_TORCH = re.compile(r"(in_proj_)?(weight|bias)(_[ih]h_l\d(_reverse)?)?|\d{1,2}")
COUNTED = "cells are numbered from the top, code cells only"
"""A note for messages that name a cell, because Jupyter itself does not number cells."""

MOST_LINES, MOST_CHARACTERS = 20_000, 500_000
LONGEST_LINE, LONGEST_QUOTED = 1000, 200
_MOST_DEFINITIONS, _LONGEST_NAME = 1000, 60
_MOST_PIECES, _MOST_NUMBERS = 6, 2  # of a parameter's dotted name: "blocks.11.attention.heads.3.weight"


@dataclass(frozen=True)
class SubmittedFiles:
    """The files of one submission, or the reason why it cannot be graded.

    `main` is the file that is loaded, and the name it is graded as. The other files are kept beside it, and their names
    may have folders: `helpers/masks.py`. Of a notebook, `main` is only its name, and its `cells` are files that are
    loaded in order.

    A worker may say anything about its submission, and so might repeat the hidden inputs it was given. So everything
    that a student is told about their file, such as a line or a name in it, is looked up here. Only the beginning of
    the files, and of each line, is searched: more than any homework has, and little enough for a search at every
    failure.
    """

    main: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    cells: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    staff_notes: tuple[str, ...] = ()
    refusal: str = ""
    """The reason why it cannot be graded, one sentence for the student; empty if it can."""

    @property
    def loaded(self) -> tuple[str, ...]:
        """Return the files that are run when the submission is loaded."""
        return self.cells or (self.main,)

    @cached_property
    def text(self) -> str:
        """Return the text of all files that are run when the submission is loaded."""
        return "\n".join(self._text(file) for file in self.loaded)

    @cached_property
    def note(self) -> str:
        """Return a note for the student if not all of it is looked into, else an empty text."""
        if all(len(self._text(file)) == len(self._whole_text(file)) for file in self.loaded):
            return ""
        much = f"the first {MOST_LINES:,} lines and {MOST_CHARACTERS:,} characters"
        return f"what was handed in is very long: all of it was run, but feedback quotes only from {much}"

    def lines(self, file: str) -> list[str]:
        """Return the lines of a file, with their indentation."""
        return self._split.get(file, [])

    def line(self, file: str, number: int) -> str | None:
        """Return the text of a line, or None if there is no such line."""
        lines = self.lines(file)
        return lines[number - 1].strip()[:LONGEST_QUOTED] if 1 <= number <= len(lines) else None

    def has_word(self, word: str) -> bool:
        """Return True if a word stands anywhere in the files."""
        return word in self._words

    def quotes(self, path: str) -> str:
        """Return the path as the files have it between quotation marks, or else its last part; empty if neither is."""
        ways = (path, path.rpartition("/")[2])
        return next((way for way in ways if way and re.search(rf"['\"/]{re.escape(way)}['\"/]", self.text)), "")

    def import_of(self, name: str) -> tuple[str, int, str] | None:
        """Return file, line and text of the first import in which this name stands."""
        return self.first_line(re.compile(rf"[ \t]*(?:import|from)[ \t.](?:.*[^\w.])?\.*{re.escape(name)}\b"))

    def first_line(self, pattern: re.Pattern[str]) -> tuple[str, int, str] | None:
        """Return file, line and text of the first line that begins like this; files that are loaded come first."""
        for file in dict.fromkeys((*self.loaded, *self.files)):
            for number, line in enumerate(self.lines(file), 1):
                if pattern.match(line):
                    return file, number, line.strip()
        return None

    def place_of(self, name: str) -> tuple[str, int] | None:
        """Return file and line where a function, class or variable of this name is defined, if that is one place.

        Of several cells that define it, the last one counts.
        """
        places = self._definitions.get(name, [])
        last = [place for place in places if place[0] == places[-1][0]]
        return last[0] if len(last) == 1 else None

    def around(self, file: str, number: int) -> str:
        """Return the outermost function or class that a line stands in; empty if it stands in none."""
        lines = self.lines(file)[:number]
        return next((found[1] for line in reversed(lines) if (found := _OUTERMOST.match(line))), "")

    def signature(self, callee: str) -> str:
        """Return the parameters of a function, or of a "Class.method", as they are written; empty if none are found."""
        cls, _, name = callee.rpartition(".")
        body = re.search(rf"^class[ \t]+{cls}\b.*(?:\n(?:[ \t#].*)?)*", self.text, re.MULTILINE) if cls else None
        text = self.text if not cls else body[0] if body else ""
        indent = r"[ \t]+" if cls else ""
        found = re.findall(rf"^{indent}(?:async[ \t]+)?def[ \t]+{name}[ \t]*(\([^()]{{0,200}}\))", text, re.MULTILINE)
        set_anew = re.compile(rf"^{name}[ \t]*(?::[^=\n]*)?=(?!=)", re.MULTILINE)
        if not found or (not cls and set_anew.search(text, text.rindex(found[-1]))):
            return ""
        own = " ".join(re.sub(r"#.*", "", found[-1]).split()).replace("( ", "(").replace(" )", ")")
        return re.sub(r"^\( ?self\b(?:, ?)?", "(", own) if cls else own

    def similar(self, name: str, known: tuple[str, ...] = ()) -> str | None:
        """Return the function, class or variable whose name is most like this one, and neither the same nor known."""
        if (name, known) not in self._similar:
            others = [defined for defined in self._definitions if defined != name and defined not in known]
            near = difflib.get_close_matches(name, others, n=1, cutoff=0.6)
            self._similar[name, known] = next(iter(near), None)
        return self._similar[name, known]

    def writes(self, name: str) -> bool:
        """Return True if a parameter's dotted name has only words of the file, and names and numbers that torch gives.

        A name that is longer, or has more numbers, than any name in a homework is refused: it could spell out a hidden
        input.
        """
        pieces = name.split(".")
        words = [piece for piece in pieces if not piece.isdecimal()]
        short = len(pieces) <= _MOST_PIECES and len(pieces) - len(words) <= _MOST_NUMBERS
        return (
            short
            and all(piece in self._words or _OF_TORCH.fullmatch(piece) for piece in words)
            and all(_OF_TORCH.fullmatch(piece) for piece in pieces if piece not in words)
        )

    def cells_that_write(self, name: str) -> tuple[str, ...]:
        """Return the cells in whose text a name stands as a word."""
        word = re.compile(rf"\b{re.escape(name)}\b")
        return tuple(cell for cell in self.cells if word.search(self._text(cell)))

    def keeps(self, name: str) -> bool:
        """Return True if the file has a line `self.name = …`."""
        return name in self._kept

    @cached_property
    def _similar(self) -> dict[tuple[str, tuple[str, ...]], str | None]:
        """The names that were looked up, each with the names that are similar."""
        return {}

    @cached_property
    def _split(self) -> dict[str, list[str]]:
        return {file: [line[:LONGEST_LINE] for line in text.split("\n")] for file, text in self._texts.items()}

    @cached_property
    def _texts(self) -> dict[str, str]:
        """Return the files with one kind of line end, as far as they are looked into, the loaded ones first."""
        texts: dict[str, str] = {}
        characters, lines = MOST_CHARACTERS, MOST_LINES
        for file in dict.fromkeys((*self.loaded, *self.files)):
            text = self._whole_text(file, 4 * characters)[:characters]
            texts[file] = "\n".join(text.split("\n", lines)[:lines])
            characters -= len(texts[file])
            lines -= texts[file].count("\n") + 1
            if characters <= 0 or lines <= 0:
                break
        return texts

    @cached_property
    def _definitions(self) -> dict[str, list[tuple[str, int]]]:
        found: dict[str, list[tuple[str, int]]] = {}
        for name, place in islice(self._defined(), _MOST_DEFINITIONS):
            if len(name) <= _LONGEST_NAME:
                found.setdefault(name, []).append(place)
        return found

    def _defined(self) -> Iterator[tuple[str, tuple[str, int]]]:
        """Return each definition, with its file and line."""
        for file in self.loaded:
            text, line, end = self._text(file), 1, 0
            for match in _DEFINITION.finditer(text):
                line += text.count("\n", end, match.start())
                end = match.start()
                yield match.group(1) or match.group(2), (file, line)

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word for file in self.loaded for word in re.findall(r"\w+", self._text(file)))

    @cached_property
    def _kept(self) -> frozenset[str]:
        return frozenset(name for file in self.loaded for name in _KEPT.findall(self._text(file)))

    def _text(self, file: str) -> str:
        return self._texts.get(file, "")

    def _whole_text(self, file: str, most_bytes: int | None = None) -> str:
        content = self.files.get(file, b"")[:most_bytes].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return content.decode("utf-8", "replace")
