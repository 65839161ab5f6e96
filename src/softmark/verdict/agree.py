"""One check of a hidden test: does the student's answer agree with the reference, and if not, why not?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from softmark.verdict.callee import Answer, StudentCallable, ask
from softmark.verdict.carried import is_carried, require_called
from softmark.verdict.case import Case, current
from softmark.verdict.compare import Difference, compare
from softmark.verdict.diagnose import NAMEABLE, causes_of, probe
from softmark.verdict.model import Category, Cause, Failed, Verdict
from softmark.verdict.truth import truth_of


def agree(
    got: StudentCallable | Any,
    want: Callable[..., Any] | Any,
    *args: Any,
    carried: Mapping[str, Callable[..., Any]] | None = None,
    **kwargs: Any,
) -> None:
    """Call both on the same inputs and compare; raise `Failed` with one verdict if they differ.

    `got` is a student's callable or a value, `want` a reference function or an expected value. Names in `carried`
    are earlier functions of the homework, with the student's versions: an answer that is right given those is right.
    """
    case = current()
    if carried:
        require_called(want, carried)
    name = str(getattr(got, "name", "value")) if callable(got) else "value"
    try:
        answer = ask(got, args, kwargs)
    except Failed as failure:
        if failure.verdict.category is Category.ERROR and failure.verdict.exception != "NotImplementedError":
            case.raised.append(truth_of(want, args, kwargs, case.id))
        raise
    truth = truth_of(want, args, kwargs, case.id)
    if case.probe and case.mistakes is not None:
        probe(truth, case.mistakes, case.seen)
    found = compare(answer.value, truth)
    difference, double = found.difference, truth.coarsest_input is torch.float64
    if difference is None:
        case.record(name, found.ratio, double=double, truth=truth)
        return
    nameable = difference.category in NAMEABLE
    if nameable and carried and is_carried(answer.value, truth, carried, case):
        case.record(name, 0.0, double=double)
        return
    case.record(name, found.ratio, difference.category, double=double)
    causes, diagnosed = causes_of(answer.value, truth, case) if nameable else ((), False)
    raise Failed(_verdict(difference, case, name, answer, causes, diagnosed))


def _verdict(
    difference: Difference, case: Case, name: str, answer: Answer, causes: tuple[Cause, ...], diagnosed: bool
) -> Verdict:
    """The difference and its causes as one verdict. A changed input explains what no named mistake does."""
    staff = f"check {len(case.checks)} ({name}) of case {case.id or 'without id'}, seed {case.seed}"
    staff += f", worst error over tolerance {difference.ratio:.3g}"
    fact = difference.fact
    if answer.changed and not causes:
        fact += f"; it also changes its input in place ({', '.join(answer.changed)})"
    return Verdict(
        difference.category, fact, difference.where, staff, causes, picture=difference.picture, diagnosed=diagnosed
    )
