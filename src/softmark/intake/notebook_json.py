"""Reads the JSON of a notebook, and builds of it only what is graded.

Outputs make a notebook large, and are not looked at. So it is read with a form in which there is only what matters
(`_Book`): what is not in the form is passed over, and costs nothing. What is not in the form because a tool or a person
wrote it otherwise, is read as any JSON, if it is not too large for that.
"""

from __future__ import annotations

import json
from typing import Any, Literal, TypeAlias

import msgspec

from softmark.intake.source import Refusal

Json: TypeAlias = Any

MOST_CELLS, MOST_CHARACTERS = 2000, 500_000  # so many cells, and so much in one of them
LARGEST_ODD, LARGEST_CELL, LARGEST_LANGUAGE = 5_000_000, 5_000_000, 100_000
"""Bytes of JSON: of a notebook that is not in the form, of the lines of a cell, of what is said about a language."""
AGAIN = "open it in Jupyter, save it and hand it in again"
_CLEARED = "clear its outputs (Kernel → Restart & Clear Output), save it and hand it in again"
_BRACKETS = 1_000_000  # each costs memory, be there nothing between them
_TOO_LONG = "#" * (MOST_CHARACTERS + 1)
"""Stands for the text of a code cell that is longer than is read."""
_NONE = msgspec.Raw(b"null")
_BOM = b"\xef\xbb\xbf"


class _Cell(msgspec.Struct, gc=False):
    """A cell: its text is only looked at once it is known how long it is. Version 3 called it `input`."""

    cell_type: Literal["code", "markdown", "raw", "heading"]
    source: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    input: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


class _Sheet(msgspec.Struct):
    cells: list[_Cell]


class _Metadata(msgspec.Struct):
    language_info: msgspec.Raw = _NONE
    kernelspec: msgspec.Raw = _NONE


class _Book(msgspec.Struct):
    """A notebook as Jupyter writes it; version 3 had the cells in worksheets."""

    nbformat: float
    metadata: _Metadata
    cells: list[_Cell] | msgspec.UnsetType = msgspec.UNSET
    worksheets: list[_Sheet] | msgspec.UnsetType = msgspec.UNSET


def parsed(data: bytes) -> tuple[dict[str, Json], tuple[str, ...]]:
    """Return what is needed of a notebook's JSON, and what staff should know of how it was read."""
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
        about = {name: _value(getattr(book.metadata, name), LARGEST_LANGUAGE) for name in _Metadata.__struct_fields__}
        content: dict[str, Json] = {"nbformat": book.nbformat, "metadata": about}
        if book.cells is not msgspec.UNSET:
            content["cells"] = _texts(book.cells)
        if book.worksheets is not msgspec.UNSET:
            content["worksheets"] = [{"cells": _texts(sheet.cells)} for sheet in book.worksheets]
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return content


def _texts(cells: list[_Cell]) -> list[dict[str, Json]]:
    """The cells with their texts, or without them if there are too many."""
    if len(cells) > MOST_CELLS:
        return [{}] * len(cells)
    return [{"cell_type": cell.cell_type, "source": _text(cell)} for cell in cells]


def _text(cell: _Cell) -> Json:
    raw = cell.input if cell.source is msgspec.UNSET else cell.source
    return _value(_NONE if raw is msgspec.UNSET else raw, LARGEST_CELL, _TOO_LONG if cell.cell_type == "code" else None)


def _value(raw: msgspec.Raw, most: int, instead: Json = None) -> Json:
    """A value in JSON, or what is put in its place if it is larger than is read."""
    text = bytes(raw)
    return json.loads(text, strict=False, parse_int=float) if len(text) <= most else instead


def _decoded(data: bytes) -> tuple[str, tuple[str, ...]]:
    """The text of the file, and what staff should know of how it was come by."""
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
