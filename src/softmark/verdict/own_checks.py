"""Has functions for an author's own checks, besides `agree` and the properties."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NoReturn

import torch

from softmark.records.verdict import Category, Failed, Verdict
from softmark.verdict.agree import agree
from softmark.verdict.call_properties import keeps_dtype, leaves_inputs, works_on_meta
from softmark.verdict.callee import StudentCallable
from softmark.verdict.context import current_test
from softmark.verdict.draw import to_float32
from softmark.verdict.mistakes import Registry
from softmark.verdict.properties import repeatable
from softmark.verdict.values import flatten, tensor_of

_WITNESS_TOLERANCE = 1e-9
_CONFIRMED: set[tuple[str, int, str]] = set()
"""Test id, seed and witness of each comparison that held. Comparisons do not depend on the submission: one suffices."""


def fail(category: Category, fact: str) -> NoReturn:
    """Raise `Failed` with a category and a fact of the test's own.

    Students read the fact whatever the test's visibility is: it must not name a hidden input or an expected value.
    """
    raise Failed(Verdict(category, fact))


def within_limit(error: float, limit: float, category: Category, fact: str, *, name: str = "value") -> None:
    """Raise `Failed` with this category and fact if the error is above the limit, or NaN.

    `softmark verify` reads how far the error was from the limit; `name` says in its table what was compared.
    """
    ratio = error / limit
    held = ratio <= 1
    current_test().record(name, ratio, None if held else category)
    if not held:
        fail(category, fact)


def confirm_reference(reference: Callable[[], Any], witness: Callable[[], Any], name: str) -> None:
    """Raise RuntimeError if the reference disagrees with a second witness, such as PyTorch's own module.

    Both are functions without arguments. Their values must have the same structure and shapes, and agree to 1e-9. The
    comparison does not depend on the submission, so it is made once for each case of a test. A disagreement is an
    error of the course, and costs no student a mark.
    """
    case = current_test()
    key = (case.id, case.seed, name)
    if case.id and key in _CONFIRMED:
        return
    ours, theirs = dict(flatten(reference())), dict(flatten(witness()))
    if ours.keys() != theirs.keys() or not all(_close(ours[path], theirs[path]) for path in ours):
        raise RuntimeError(f"the reference and {name} disagree")
    _CONFIRMED.add(key)


def _close(ours: Any, theirs: Any) -> bool:
    a, b = tensor_of(ours), tensor_of(theirs)
    return a.shape == b.shape and torch.allclose(a, b, rtol=_WITNESS_TOLERANCE, atol=_WITNESS_TOLERANCE)


def without_values(parameters: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return parameters by name with every number 0, to compare only names and shapes."""
    return {name: torch.zeros(value.shape) for name, value in parameters.items()}


def well_behaved(got: StudentCallable, want: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Raise `Failed` unless a function is right in float32, too, and behaves well.

    It must keep the dtype of its inputs, leave the inputs unchanged, give the same answer in a second call, and work on
    any device: `keeps_dtype`, `leaves_inputs`, `repeatable`, `works_on_meta`.
    """
    keeps_dtype(got, *args, **kwargs)
    narrow_args, narrow_kwargs = to_float32((args, kwargs))
    agree(got, want, *narrow_args, **narrow_kwargs)
    leaves_inputs(got, *args, **kwargs)
    repeatable(got, *args, **kwargs)
    works_on_meta(got, *args, **kwargs)


@contextmanager
def naming_only(target: str) -> Iterator[None]:
    """Name only the mistakes of one function or class inside this block, not those of the functions it calls.

    A wrong answer that gets no name here may come of such a mistake and one of another function together. So the answer
    contradicts no mistake, and the search for pairs is not over.
    """
    case = current_test()
    everything, wanted, before = case.mistakes, case.pairs.wanted, len(case.checks)
    if everything is not None:
        of_target = [m for m in everything.mistakes if any(n.partition(".")[0] == target for n in m.target_names)]
        case.mistakes = Registry(of_target)
    try:
        yield
    finally:
        case.mistakes, case.pairs.wanted = everything, wanted
        case.checks[before:] = [c if c.causes else replace(c, tried=None) for c in case.checks[before:]]
