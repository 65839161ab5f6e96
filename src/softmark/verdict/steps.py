"""Notes the steps of a test, so that they can be taken again for another submission without the test's own code.

A step is one check: a question to a function of the student's, and the comparison of the answer. The question and the
expected answer are the same for every submission. A test that only takes such steps draws the same numbers, asks the
same questions and expects the same answers each time, so its own code need not run again.

A step is noted only if nothing but the end of the test can follow its failure: no function between the test and the
check handles exceptions. Steps are no copies. They name the expected value (expected.py), which holds the inputs; when
that is forgotten, the test runs as usual.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import torch

from softmark.verdict.callee import Lent, StudentCallable
from softmark.verdict.context import Step, current_test
from softmark.verdict.expected import Expected
from softmark.verdict.values import Path, flatten


def note_step(got: Any, expected: Expected, inputs: Any, check: Callable[[StudentCallable, Expected], None]) -> None:
    """Note a check that has held, if the running test wants its steps and this one can be taken again.

    `inputs` are those of the question; `check` asks it with the copies that the expected value holds.
    """
    case = current_test()
    function = getattr(got, "defined_as", None)
    if case.steps is None or case.body is None or function is None or expected.place is None:
        return
    if all(map(_is_copied_whole, flatten(inputs))) and _ends_test(sys._getframe(1), case.body):
        case.steps.append(Step(function, expected.place, check))


def _is_copied_whole(leaf: tuple[Path, Any]) -> bool:
    """Return whether the copy of an input is sent just as the input was."""
    value = leaf[1]
    if isinstance(value, torch.Tensor):
        return not value.requires_grad
    return value is None or type(value) in (bool, int, float, complex, str, bytes) or isinstance(value, Lent)


def _ends_test(frame: FrameType | None, body: CodeType) -> bool:
    """Return whether an exception raised here ends the test, because no function up to its own handles exceptions."""
    while frame is not None:
        ours = frame.f_globals.get("__name__", "").startswith("softmark.")
        if frame.f_code.co_exceptiontable and not ours:
            return False
        if frame.f_code is body:
            return True
        frame = frame.f_back
    return False
