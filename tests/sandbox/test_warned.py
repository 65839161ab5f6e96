"""A warning is shown for the student's line, whatever watches the call."""

from __future__ import annotations

import sys
import warnings

import pytest
import torch

from softmark.sandbox.wire.protocol import Rule
from softmark.sandbox.worker import pretended
from softmark.sandbox.worker.forbidden import Guard
from softmark.sandbox.worker.warned import at_the_students_line

RULES = (Rule(("torch.nn.LSTM",)),)


def deprecated() -> int:
    """Uses what PyTorch warns of; the line that does."""
    torch.range(0, 3)
    return sys._getframe().f_lineno - 1


def test_points_to_the_line_that_led_there(capsys: pytest.CaptureFixture[str]) -> None:
    """A warning of torch's under the guard and on the pretended device has this file and line, not the watcher's."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = _printed
        with at_the_students_line(), Guard(RULES).watching("f"), pretended.on():
            line = deprecated()
    assert capsys.readouterr().out == f"{__file__}:{line} UserWarning\n"


def test_own_warnings_are_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """What the student's code warns of itself has its place already."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = _printed
        with at_the_students_line():
            warnings.warn_explicit("mind this", UserWarning, "mine.py", 7)
        assert warnings.showwarning is _printed
    assert capsys.readouterr().out == "mine.py:7 UserWarning\n"


def _printed(message: Warning | str, category: type[Warning], filename: str, lineno: int, *rest: object) -> None:
    print(f"{filename}:{lineno} {category.__name__}")
