"""Reads a notebook that was handed in: the text of its code cells, and nothing else of it.

The reader is our own, and tolerant. Jupyter's reader (nbformat, which writes the starters) checks a file against a
schema. But a cell without an id, or an output of an unknown kind, must cost nobody their work. nbformat also upgrades
old files, and touches every field of them for that.

Outputs, metadata and attachments are not looked at here. So nothing that a version, a tool or a student writes there
does harm, and the kernel is Python whatever the file says. Outputs cost no memory, however large they are, because the
JSON is decoded into a form that leaves them out. The code is not parsed: the walled worker finds a magic, a syntax
error or a hostile cell (sandbox/worker/cells.py).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import msgspec

from softmark.intake.contents import MOST_REPORTED, invisible, refuse_too_much_code
from softmark.intake.model import SubmittedFiles
from softmark.intake.places import LARGEST, LARGEST_NOTEBOOK, Refusal

_DEPTH = 8  # lists within the list of a cell's lines
_OLDEST = 3
_DEFINES = re.compile(r"^(?:async[ ]+)?(?:def[ ]+\w+[ ]*\(|class[ ]+\w+[ ]*[(:])", re.MULTILINE)
_FENCE = re.compile(r"^[ ]*(?:```|~~~)", re.MULTILINE)
_LANGUAGE = re.compile(r"[A-Za-z][A-Za-z0-9+#. ]{0,20}")


@dataclass(frozen=True)
class Notebook:
    """The cells that hold code, in the order in which they are to be run.

    They have the names that messages call them by. "cell 3" is the third code cell from the top, "text cell 2" the
    second of all other cells.
    """

    cells: Mapping[str, bytes]
    notes: tuple[str, ...] = ()
    staff_notes: tuple[str, ...] = ()


def with_cells(handed: SubmittedFiles) -> SubmittedFiles:
    """Return a notebook's submission with its cells, as files, in the place of the notebook.

    Raise Refusal if the file is no notebook.
    """
    notebook = read_notebook(handed.files[handed.main])
    beside = {name: content for name, content in handed.files.items() if name != handed.main}
    unseen = [note for name, source in notebook.cells.items() for note in invisible(name, source)]
    return replace(
        handed,
        files={**beside, **notebook.cells},
        cells=tuple(notebook.cells),
        notes=(*handed.notes, *notebook.notes),
        staff_notes=(*handed.staff_notes, *notebook.staff_notes, *unseen[:MOST_REPORTED]),
    )


def read_notebook(data: bytes) -> Notebook:
    """Return the notebook in these bytes, of version 3 or later. Raise Refusal with the next step if there is none."""
    if len(data) > LARGEST_NOTEBOOK:
        limit = LARGEST_NOTEBOOK // 1_000_000
        raise Refusal(f"the notebook is larger than {limit} MB: clear its outputs, save it and hand it in again")
    content, staff_notes = parsed(data)
    cells = _cells(content)
    code = _numbered("cell", [cell for cell in cells if cell.get("cell_type") == "code"])
    others = _numbered("text cell", [cell for cell in cells if cell.get("cell_type") != "code"])
    retyped = {name: source for name, source in others.items() if _defines(source)}
    found = {**retyped, **code}  # what Jupyter runs comes last, so it counts where both define the same name
    if not found:
        raise Refusal("the notebook has no code: there is no code cell with anything in it")
    for name, source in found.items():
        if len(source) > MOST_CHARACTERS:
            raise Refusal(f"{name} of the notebook is longer than {MOST_CHARACTERS:_} characters: shorten or split it")
    if sum(map(len, found.values())) > LARGEST:
        raise Refusal(f"the notebook's cells hold more than {LARGEST // 1_000_000} MB of code: hand in less")
    notes = [f"{name} holds Python code and was read; Jupyter does not run it: make it a code cell" for name in retyped]
    if language := _other_language(content):
        notes.append(f"the notebook says that it is written in {language}; it was graded as Python")
    files = {name: source.encode("utf-8", "replace") for name, source in found.items()}  # lone surrogates are replaced
    refuse_too_much_code(files.values())
    return Notebook(files, tuple(notes), staff_notes)


def _cells(content: dict[str, Json]) -> list[dict[str, Json]]:
    """Return all cells, of whatever kind. Version 3 had them in worksheets, which are read one after the other."""
    version = content.get("nbformat")
    if isinstance(version, float) and math.isfinite(version) and version < _OLDEST:
        raise Refusal(f"the notebook is of version {version:g}, which is too old to be read: {AGAIN}")
    sheets = [content] if "cells" in content else content.get("worksheets")
    lists = [sheet.get("cells") for sheet in _sequence(sheets) if isinstance(sheet, dict)]
    if not any(isinstance(cells, list) for cells in lists):
        raise Refusal(f"the notebook has no list of cells: {AGAIN}")
    found = [cell for cells in lists for cell in _sequence(cells) if isinstance(cell, dict)]
    if len(found) > MOST_CELLS:
        raise Refusal(f"the notebook has {len(found)} cells, and at most {MOST_CELLS} are read: hand in fewer")
    return found


def _numbered(kind: str, cells: Sequence[dict[str, Json]]) -> dict[str, str]:
    """Return the cells that are not empty, by their name. The numbers in the names count empty cells, too."""
    sources = enumerate(map(_source, cells), start=1)
    return {f"{kind} {number}": source for number, source in sources if source.strip()}


def _source(cell: dict[str, Json]) -> str:
    """Return a cell's text, be it one string or a list of lines; version 3 called it `input`."""
    return "".join(_strings(cell.get("source", cell.get("input")), _DEPTH))


def _strings(value: Json, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth:
        for item in _sequence(value):
            yield from _strings(item, depth - 1)


def _sequence(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list) else ()


def _defines(text: str) -> bool:
    """Return True if a text cell was a code cell once, and lost its type. A handout has its examples in a fence."""
    return bool(_DEFINES.search(text)) and not _FENCE.search(text)


def _other_language(content: dict[str, Json]) -> str:
    """Return the language that the metadata names, if it is not Python and its name can be shown."""
    metadata = content.get("metadata")
    for key, field in (("language_info", "name"), ("kernelspec", "language")):
        described = metadata.get(key) if isinstance(metadata, dict) else None
        language = described.get(field) if isinstance(described, dict) else None
        if isinstance(language, str) and _LANGUAGE.fullmatch(language):
            return "" if "python" in language.lower() else language
    return ""


Json: TypeAlias = Any

MOST_CELLS, MOST_CHARACTERS = 2000, 500_000  # so many cells, and so much in one of them
LARGEST_ODD, LARGEST_CELL, LARGEST_LANGUAGE = 5_000_000, 5_000_000, 100_000
"""Bytes of JSON: of a notebook that is not in the form, of the lines of a cell, of the words about a language."""
AGAIN = "open it in Jupyter, save it and hand it in again"
_CLEARED = "clear its outputs (Kernel → Restart & Clear Output), save it and hand it in again"
_BRACKETS = 1_000_000  # each costs memory, even with nothing between them
_TOO_LONG = "#" * (MOST_CHARACTERS + 1)
"""Stands for the text of a code cell that is longer than is read."""
_NONE = msgspec.Raw(b"null")
_BOM = b"\xef\xbb\xbf"


class _Cell(msgspec.Struct, gc=False):
    """A cell. Its text is looked at only when its length is known. Version 3 called it `input`."""

    cell_type: Literal["code", "markdown", "raw", "heading"]
    source: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    input: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Sheet(msgspec.Struct):
    cells: list[_Cell]


class _NotebookMetadata(msgspec.Struct):
    language_info: msgspec.Raw = _NONE
    kernelspec: msgspec.Raw = _NONE


class _Book(msgspec.Struct):
    """A notebook as Jupyter writes it; version 3 had the cells in worksheets."""

    nbformat: float
    metadata: _NotebookMetadata
    cells: list[_Cell] | msgspec.UnsetType = msgspec.UNSET
    worksheets: list[_Sheet] | msgspec.UnsetType = msgspec.UNSET


def parsed(data: bytes) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Return the needed fields of a notebook's JSON, and notes for staff on how it was read."""
    found = _in_form(data.removeprefix(_BOM))
    if found is not None:
        return found, ()
    if len(data) > LARGEST_ODD:
        raise Refusal(f"the notebook has {len(data) / 1e6:.0f} MB and is not as Jupyter writes it: {_CLEARED}")
    text, staff_notes = _decoded(data)
    return _any_json(text), staff_notes


def _in_form(data: bytes) -> dict[str, Json] | None:
    """Return nbformat, metadata and cells of a notebook in the form; None if it is in another one."""
    try:
        book = msgspec.json.decode(data, type=_Book)
        about = {
            name: _value(getattr(book.metadata, name), LARGEST_LANGUAGE) for name in _NotebookMetadata.__struct_fields__
        }
        content: dict[str, Json] = {"nbformat": book.nbformat, "metadata": about}
        if book.cells is not msgspec.UNSET:
            content["cells"] = _texts(book.cells)
        if book.worksheets is not msgspec.UNSET:
            content["worksheets"] = [{"cells": _texts(sheet.cells)} for sheet in book.worksheets]
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return content


def _texts(cells: list[_Cell]) -> list[dict[str, Json]]:
    """Return the cells with their texts, or without them if there are too many."""
    if len(cells) > MOST_CELLS:
        return [{}] * len(cells)
    return [{"cell_type": cell.cell_type, "source": _text(cell)} for cell in cells]


def _text(cell: _Cell) -> Json:
    raw = cell.input if cell.source is msgspec.UNSET else cell.source
    return _value(_NONE if raw is msgspec.UNSET else raw, LARGEST_CELL, _TOO_LONG if cell.cell_type == "code" else None)


def _value(raw: msgspec.Raw, most: int, instead: Json = None) -> Json:
    """Return a value in JSON; a replacement if it is larger than is read."""
    text = bytes(raw)
    return json.loads(text, strict=False, parse_int=float) if len(text) <= most else instead


def _decoded(data: bytes) -> tuple[str, tuple[str, ...]]:
    """Return the text of the file, and notes for staff on how it was decoded."""
    if not data.strip():
        raise Refusal(f"the notebook is empty: {AGAIN}")
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding), ()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return data.decode(encoding, "replace"), (f"line {line} of the notebook is not UTF-8; its bytes were replaced",)


def _any_json(text: str) -> dict[str, Json]:
    start = text.lstrip()[:1]
    if start == "<" and not text.lstrip().startswith("<<<"):
        raise Refusal("the file is a web page (HTML), not a notebook: download the notebook itself and hand that in")
    if text.count("[") + text.count("{") > _BRACKETS:
        raise Refusal("the notebook's outputs hold too much data: clear them, save it and hand it in again")
    try:
        content = json.loads(text, strict=False, parse_int=float)  # an int may be of any length, a float not
    except RecursionError:
        raise Refusal(f"the notebook's JSON is nested too deeply to be read: {AGAIN}") from None
    except json.JSONDecodeError as error:
        raise _not_json(text, error) from None
    if not isinstance(content, dict) or not {"cells", "worksheets", "nbformat"} & content.keys():
        raise Refusal("the file is JSON, but no notebook: hand in the notebook that you wrote")
    return content


def _not_json(text: str, error: json.JSONDecodeError) -> Refusal:
    if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return Refusal(f"the notebook is cut off in line {error.lineno}: {AGAIN}")
    return Refusal(f"the file is not a notebook: line {error.lineno} is no JSON ({error.msg}); {AGAIN}")
