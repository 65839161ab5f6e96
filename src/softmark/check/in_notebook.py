"""Checks the functions of an open notebook, and shows the result below the cell.

In Jupyter, VS Code and Colab the result is a table in HTML; in IPython on a terminal, and in Python, it is text.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from softmark.check.asked import Asked, find_asked
from softmark.check.checking import run_public_tests
from softmark.check.missing_imports import of_namespace
from softmark.check.namespace import NotebookNamespace
from softmark.feedback.cell import as_cell
from softmark.feedback.checked import check_feedback
from softmark.feedback.terminal import show_checked
from softmark.intake.model import SubmittedFiles
from softmark.records.errors import ConfigError, UsageError
from softmark.records.result import Result

_WIDTH = 80


def check_and_show(namespace: Mapping[str, Any], what: object, part: str | int | None, homework: str | None) -> None:
    """Check functions of a namespace, and show the result, or a sentence if nothing could be checked."""
    try:
        asked = find_asked(what, part, homework, namespace, Path.cwd())
        _insist_on(asked.names, namespace)
        result = check_namespace(asked, namespace)
    except (UsageError, ConfigError) as error:
        print(f"softmark: {error}")
    except KeyboardInterrupt:
        raise KeyboardInterrupt("the check was stopped") from None  # without a page of frames of the test's
    else:
        _show(result)


def _insist_on(names: Sequence[str], namespace: Mapping[str, Any]) -> None:
    """Raise UsageError if the notebook has none of these functions, as after a restart of its kernel."""
    if not any(name in namespace for name in names):
        what, it = ("is", "it") if len(names) == 1 else ("are", "them")
        raise UsageError(f"{', '.join(names)} {what} not defined yet: run the cells that define {it}, then this one")


def check_namespace(asked: Asked, namespace: Mapping[str, Any]) -> Result:
    """Return the result of the public tests that are asked for, on the functions of a namespace."""
    notebook = NotebookNamespace(namespace)
    handed = SubmittedFiles("the notebook", notebook.files, tuple(notebook.files))
    handout = asked.handout
    foreign = of_namespace(namespace, handout.wanted, handout.packages)
    return run_public_tests(asked.folder, handout, handed, notebook, asked.part, foreign, function=asked.function)


def _show(result: Result) -> None:
    shell = _shell_of_kernel()
    if shell is None:
        show_checked(result, Console())
        return
    text = io.StringIO()
    show_checked(result, Console(file=text, width=_WIDTH, force_jupyter=False, color_system=None))
    shell.display_pub.publish({"text/html": as_cell(check_feedback(result)), "text/plain": text.getvalue()})


def _shell_of_kernel() -> Any:
    """Return IPython's shell if it runs in a kernel, which can show HTML; None on a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if hasattr(shell, "kernel") else None
