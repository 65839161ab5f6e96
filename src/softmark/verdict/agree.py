"""Checks whether a student's answer agrees with the reference, and says why if it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import torch

from softmark.records.verdict import Category, Failed, Verdict
from softmark.verdict.callee import Answer, StudentCallable, ask, named, why_it_varies
from softmark.verdict.compare import compare
from softmark.verdict.context import NOT_DESCRIBED, current_test
from softmark.verdict.expected import Expected, expected_for, numeric_leaves
from softmark.verdict.naming import NAMEABLE, causes_of, repeated_slips
from softmark.verdict.steps import note_step


def agree(got: StudentCallable | Any, want: Callable[..., Any] | Any, *args: Any, **kwargs: Any) -> None:
    """Call both on the same inputs and compare; raise `Failed` with one verdict if they differ.

    `got` is a student's callable or a value, `want` a reference function or an expected value.
    """
    expected = expected_for(want, args, kwargs, current_test().id)
    _agree(got, expected, args, kwargs)
    note_step(got, expected, (args, kwargs), _agree_again)


def _agree_again(got: StudentCallable, expected: Expected) -> None:
    with current_test().repeating(expected.packed):
        _agree(got, expected, expected.args, expected.kwargs)


def _agree(got: Any, expected: Expected, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Ask the student's callable and compare; raise `Failed` if the answer is wrong."""
    case = current_test()
    name = str(getattr(got, "name", "value")) if callable(got) else "value"
    try:
        with case.expecting(expected.size):
            answer = ask(got, args, kwargs)
    except Failed as failure:
        if failure.verdict.category is Category.ERROR and failure.verdict.exception != "NotImplementedError":
            case.raised.append(expected)
        raise
    found = compare(answer.value, expected)
    double = expected.coarsest_input is torch.float64
    if found.category is None:
        case.record(name, found.ratio, double=double, expected=expected)
        return
    nameable = found.category in NAMEABLE
    if nameable and (slips := repeated_slips(answer.value, expected, case)):
        case.repeated.extend(slips)
        case.record(name, 0.0, double=double)
        return
    if not case.described:
        raise Failed(Verdict(found.category, NOT_DESCRIBED))
    causes = causes_of(answer.value, expected, case) if nameable else None
    tried = case.mistakes if causes is not None else None
    case.record(name, found.ratio, found.category, double=double, expected=expected, tried=tried, causes=causes or ())
    verdict = found.verdict
    assert verdict is not None
    fact = verdict.fact
    if not causes:
        with case.expecting(expected.size):
            fact += _besides(verdict, got, args, kwargs, answer)
    staff = f"check {len(case.checks)} ({name}) of case {case.id or 'without id'}, seed {case.seed}"
    staff += f", worst error over tolerance {found.ratio:.3g}"
    raise Failed(
        msgspec.structs.replace(verdict, fact=fact, staff=staff, causes=causes or (), diagnosed=causes is not None)
    )


def _besides(verdict: Verdict, got: Any, args: tuple[Any, ...], kwargs: dict[str, Any], answer: Answer) -> str:
    """Return a clause that may explain a wrong answer if no named mistake does."""
    if answer.changed:
        return named(got, f"; it also changes its input in place ({', '.join(answer.changed)})")
    case = current_test()
    if verdict.category is Category.VALUE and not case.steady and callable(got):
        if _is_random(got, args, kwargs, answer):
            return f"; a second call gives other values: {why_it_varies(got)}"
        case.steady = True
    return ""


def _is_random(got: Any, args: tuple[Any, ...], kwargs: dict[str, Any], answer: Answer) -> bool:
    """Return whether the same call gives another answer of the same form."""
    try:
        again = ask(got, args, kwargs)
    except Failed:
        return False
    leaves = [leaf.nan_to_num() for leaf in numeric_leaves(answer.value)]
    others = [leaf.nan_to_num() for leaf in numeric_leaves(again.value)]
    if [leaf.shape for leaf in leaves] != [leaf.shape for leaf in others]:
        return False
    return not all(torch.allclose(a.double(), b.double()) for a, b in zip(leaves, others, strict=True))
