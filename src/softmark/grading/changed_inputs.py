"""Makes one test of a part fail if the part's functions changed inputs in place, in any call.

A function must not change the caller's tensors. A function that changes them only without a batch, or only in float64,
is as wrong as one that always does. So each call of a student's function reports the inputs that it changed, and the
running test notes them. When all tests of a part have run, and none of those with a changed input has lost marks, the
cheapest of them fails (of several the last). That is mostly the test that asks about inputs (`leaves_inputs`). So a
change under a condition costs as much as a change in every call, and one slip does not cost all tests of the part.

A part whose functions are meant to work in place says `in_place = true` in homework.toml.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from softmark.course.homework import Homework
from softmark.grading.case_run import CaseRun
from softmark.records.verdict import Category, Failed, Verdict
from softmark.verdict.callee import StudentCallable, named
from softmark.verdict.context import ChangedInput, current_test
from softmark.verdict.values import dtype_name, shape


def by_name(args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs of a call by the names that the worker uses for them."""
    return {**{f"argument {position + 1}": value for position, value in enumerate(args)}, **kwargs}


def note_changed(got: StudentCallable, inputs: Mapping[str, Any], changed: Sequence[str]) -> None:
    """Note for the running test which inputs a call has changed. Ignore names of the worker's that are no inputs."""
    for name, value in inputs.items():
        if name in changed:
            words = named(got, name)
            if isinstance(value, torch.Tensor):
                words += f", of shape {shape(value.shape)} and dtype {dtype_name(value.dtype)}"
            current_test().changed.append(ChangedInput(got.name.partition(".")[0], words))


def charge_changes(homework: Homework, number: str, runs: Sequence[CaseRun]) -> None:
    """Make the cheapest of the tests with changed inputs fail, if none of these tests has lost marks."""
    part = next(known for known in homework.parts if known.number == number)
    saw = [run for run in runs if run.fault is None and _seen(run, part.roots) is not None]
    if part.in_place or not saw or any(run.lost_marks for run in saw):
        return
    cheapest = min(reversed(saw), key=lambda run: (run.spec.weight == 0, run.spec.weight)).spec
    for run in saw:
        first = _seen(run, part.roots)
        if run.spec is cheapest and first is not None:
            fact = f"changes its input in place: {first.words}; make a new one"
            run.charge(Failed(Verdict(Category.INPUT_CHANGED, fact, staff=f"in a call of {first.function}")))


def _seen(run: CaseRun, functions: frozenset[str]) -> ChangedInput | None:
    """Return the first change that a call of these functions made in a case; None if there was none."""
    return next((change for change in run.context.changed if change.function in functions), None)
