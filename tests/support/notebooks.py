"""Makes notebooks for tests, as Jupyter writes them and as it does not."""

from __future__ import annotations

import json
from typing import Any

from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.intake.notebook import read_notebook
from softmark.records.result import Submission


def code(source: Any, **more: Any) -> dict[str, Any]:
    """Return a code cell; `more` takes the place of its fields."""
    return {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": source, **more}


def markdown(source: Any, **more: Any) -> dict[str, Any]:
    """Return a cell of text."""
    return {"cell_type": "markdown", "metadata": {}, "source": source, **more}


def written(*cells: Any, **more: Any) -> bytes:
    """Return the file: of texts, which become code cells, and of cells as they are."""
    content = {
        "cells": [code(cell) if isinstance(cell, str) else cell for cell in cells],
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 4,
    }
    return json.dumps({**content, **more}).encode()


def job(name: str, data: bytes) -> Job:
    """Return a notebook handed in under this name, for the engine."""
    found = read_notebook(data)
    return Job(Submission(id=name), SubmittedFiles(name, found.cells, tuple(found.cells), found.notes))
