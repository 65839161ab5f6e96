"""Runs a notebook's cells as Jupyter does, in one namespace, without Jupyter."""

from __future__ import annotations

import json
import linecache
from pathlib import Path
from typing import Any


def run_notebook(content: bytes, folder: Path) -> dict[str, Any]:
    """The namespace after all code cells; an exception in one of them is not caught."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in json.loads(content)["cells"]:
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            file = str(folder / f"cell-{cell['id']}")
            linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
            exec(compile(source, file, "exec"), namespace)
    return namespace
