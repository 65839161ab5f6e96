"""Shows warnings that torch raises while a student's function is watched, with the student's line.

The modules that watch calls of torch (forbidden.py, pretended.py, the counting of operations) stand between the
student's line and torch. The interpreter would show the nearest line of Python, which is a line of theirs.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TextIO

import torch

_OURS = str(Path(__file__).parents[1])
_BETWEEN = (_OURS, str(Path(torch.__file__).parent))


@contextmanager
def at_the_students_line() -> Iterator[None]:
    """Show a warning that points into the sandbox with the student's line that led there instead."""
    shown = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        caller = _caller(sys._getframe()) if filename.startswith(_OURS) else None
        if caller is not None:
            filename, lineno, line = caller.f_code.co_filename, caller.f_lineno, None
        shown(message, category, filename, lineno, file, line)

    warnings.showwarning = show
    try:
        yield
    finally:
        if warnings.showwarning is show:
            warnings.showwarning = shown


def _caller(frame: FrameType | None) -> FrameType | None:
    """Return the nearest frame that called a watching module and is neither a frame of the sandbox nor of torch."""
    seen = False
    while frame is not None:
        file = frame.f_code.co_filename
        if file.startswith(_BETWEEN):
            seen |= file.startswith(_OURS) and file != __file__
        elif seen:
            return frame
        frame = frame.f_back
    return None
