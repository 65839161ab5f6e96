"""Runs a notebook in Jupyter, in a kernel of its own, from top to bottom."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from nbclient import NotebookClient

_COLOURS = re.compile(r"\x1b\[[\d;]*m")


def run_notebook(content: bytes, folder: Path) -> dict[str, str]:
    """Return what each code cell shows, by the cell's id. Raise CellExecutionError if a cell raises an exception."""
    notebook = nbformat.reads(content.decode(), as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    return {cell.id: "".join(map(_text, cell.outputs)) for cell in notebook.cells if cell.cell_type == "code"}


def _text(output: nbformat.NotebookNode) -> str:
    shown = output.text if output.output_type == "stream" else output.data["text/plain"]
    return _COLOURS.sub("", shown)
