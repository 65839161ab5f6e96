"""The modules that run beside a student's code: they bring nothing of the trusted side with them."""

from __future__ import annotations

import subprocess
import sys

ALLOWED = ("softmark.sandbox.worker", "softmark.sandbox.walls", "softmark.sandbox.wire")
DATA = {"softmark", "softmark.sandbox", "softmark.sandbox.environment", "softmark.records", "softmark.records.limits"}
OPERATORS = """
    additions all_places bounds exchanges families kinds lists_and_texts logarithms operators
    regular_expressions repairs scopes slips statements substitutes
""".split()
EDITS = {"softmark.edits", *(f"softmark.edits.{name}" for name in OPERATORS)}
"""They propose edits of a text, and know no reference and no mistake."""


def test_the_worker_loads_no_other_module_of_softmark() -> None:
    """The import contract is static; this is what a process has in its memory, whatever the way of the import."""
    program = "import sys, softmark.sandbox.worker, softmark.sandbox.walls; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    ours = {name for name in loaded.stdout.split() if name.partition(".")[0] == "softmark"}
    assert "softmark.sandbox.worker.calls" in ours
    assert {name for name in ours if not name.startswith(ALLOWED)} == DATA | EDITS
