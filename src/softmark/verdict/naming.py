"""Names a mistake: finds the named mistakes that give exactly the student's wrong answer.

Every mistake of the reference function, and of the functions it calls, is tried on the inputs of the failed check. A
mistake that gives the student's answer, and not the reference's, explains the answer. If none does, pairs of mistakes
are tried (combinations.py). The search has no time limit, so names do not depend on the machine.

A single wrong answer often fits several mistakes. A student reads only those that fit every failed check of a part and
that no other check contradicts (`common_causes`).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from types import FunctionType
from typing import Any

import torch

from softmark.records.verdict import Category, Cause, Verdict
from softmark.verdict.answers import Combination, Effect
from softmark.verdict.combinations import concerns, effect, fitting, fitting_pairs, tells_pairs_apart
from softmark.verdict.context import Check, TestContext
from softmark.verdict.expected import Expected
from softmark.verdict.mistakes import Mistake, Registry
from softmark.verdict.plant import Target, parts, reachable
from softmark.verdict.values import is_numeric, leaves_in, tensor_of

NAMEABLE = frozenset({Category.TYPE, Category.SHAPE, Category.NAN, Category.VALUE})
"""The categories of failures in which there is an answer to compare with the answers of mistakes."""


def causes_of(answer: Any, expected: Expected, case: TestContext) -> tuple[Cause, ...] | None:
    """Return the mistakes that give a wrong answer, alone or else in pairs; None if no names are searched for."""
    if case.mistakes is None or expected.want is None or not case.naming:
        return None
    suspects = relevant(expected.want, case.mistakes)
    with _undisturbed():
        found = fitting(answer, expected, [(suspect.mistake,) for suspect in suspects], case.before_mistake)
        if not found and tells_pairs_apart(expected):
            found = fitting_pairs(answer, expected, [suspect.mistake for suspect in suspects], case)
    direct = {suspect.mistake for suspect in suspects if suspect.direct}
    return tuple(_cause(mistakes, direct) for mistakes in found)


def repeated_slips(answer: Any, expected: Expected, case: TestContext) -> Combination:
    """Return one or two mistakes that have cost marks in earlier parts and give a wrong answer; none if they do not."""
    if expected.want is None:
        return ()
    slips = [slip for slip in case.slips if concerns((slip,), expected)]
    if not slips:
        return ()
    with _undisturbed():
        pairs = combinations(slips, 2)
        found = fitting(answer, expected, [*((slip,) for slip in slips), *pairs], case.before_mistake)
    return found[0] if found else ()


def common_causes(
    verdicts: Iterable[Verdict],
    checks: Sequence[Check] = (),
    registry: Registry | None = None,
    raised: Sequence[Expected] = (),
    excused: Sequence[Check] = (),
    slips: Collection[Mistake] = (),
) -> tuple[Cause, ...]:
    """Return the causes that explain all failed checks whose answers could be compared; empty if there are none.

    A pair that explains one check also explains a check that one mistake of the pair explains, because the other
    mistake may have no effect there. A cause is left out if other `checks`, or the calls in which the code `raised`,
    contradict it (`_is_contradicted`), or `excused` ones, which were made as if the `slips` of earlier parts were
    mended. Mistakes of the checked function itself precede those of functions that it calls.
    """
    named_in = [verdict.causes for verdict in verdicts if verdict.diagnosed]
    known = {cause.mistakes: cause for causes in named_in for cause in causes}
    common = [cause for cause in known.values() if all(_explains(cause, causes) for causes in named_in)]
    if registry is not None and common:
        named = {mistake.name: mistake for mistake in registry.mistakes}
        with _undisturbed():
            made = {cause.mistakes: tuple(named[name] for name in cause.mistakes) for cause in common}
            common = [
                cause
                for cause in common
                if not _is_contradicted(cause, made[cause.mistakes], checks, raised)
                and _may_pass([mistake for mistake in made[cause.mistakes] if mistake not in slips], excused)
            ]
    return tuple(sorted(common, key=lambda cause: not cause.direct))


def _explains(cause: Cause, causes: Iterable[Cause]) -> bool:
    """Return whether a cause, or one mistake of it, is among the causes of a check."""
    return any(set(other.mistakes) <= set(cause.mistakes) for other in causes)


def _is_contradicted(cause: Cause, mistakes: Combination, checks: Sequence[Check], raised: Sequence[Expected]) -> bool:
    """Return whether the student's code has done something that code with these mistakes does not do.

    * It has passed a check that code with these mistakes fails. (Fill values of -100 and of -10 give the same answer if
      the scores of a test are far apart, but not otherwise.)
    * It has failed a check with another answer, and no larger combination with these mistakes explains that answer.
    * It has raised where code with these mistakes answers. Code may do so for another reason at one size, such as an
      odd width. So this counts only if the mistakes explain no two answers of different sizes.
    """
    explained = set()
    for check in checks:
        expected = check.expected
        if expected is None or not concerns(mistakes, expected):
            continue
        if check.category is not None and _explains(cause, check.causes):
            explained.add(_sizes(expected))
        elif _speaks(cause, mistakes, check) and effect(mistakes, expected) is not Effect.NONE:
            return True
    if len(explained) > 1:
        return False
    return any(concerns(mistakes, e) and effect(mistakes, e) is not Effect.RAISES for e in raised)


def _may_pass(mistakes: Sequence[Mistake], checks: Iterable[Check]) -> bool:
    """Return whether code with these mistakes, or with none, passes the checks that the student's code has passed."""
    passed = [check.expected for check in checks if check.category is None]
    return not any(
        mistakes and concerns(tuple(mistakes), expected) and effect(tuple(mistakes), expected) is not Effect.NONE
        for expected in passed
        if expected is not None
    )


def _speaks(cause: Cause, mistakes: Combination, check: Check) -> bool:
    """Return whether a check which mistakes do not explain contradicts them, if they have an effect on it.

    A check that passed does. A check that failed does if the mistakes were tried on it, alone and with others, and none
    of these combinations explains it.
    """
    if check.category is None:
        return True
    tried = check.tried is not None and all(mistake in check.tried.mistakes for mistake in mistakes)
    return tried and not any(set(cause.mistakes) <= set(other.mistakes) for other in check.causes)


def _sizes(expected: Expected) -> tuple[object, ...]:
    """Return the sizes in a question: the integers among its arguments, and all shapes."""
    inputs = list(leaves_in((expected.args, expected.kwargs)))
    shapes = [tensor_of(leaf).shape for leaf in inputs if is_numeric(leaf)]
    return *(leaf for leaf in inputs if type(leaf) is int), *shapes, *(leaf.shape for leaf in expected.leaves)


@dataclass(frozen=True, slots=True)
class Suspect:
    """A mistake that could explain a check. `direct` is True if it is a mistake of the checked function itself."""

    mistake: Mistake
    direct: bool


def relevant(want: Target, registry: Registry) -> Sequence[Suspect]:
    """Return the mistakes of the checked reference function, then those of the functions that it calls."""
    mistakes = tuple(registry.mistakes)
    return _suspects_of_function(want, mistakes) if isinstance(want, FunctionType) else _suspects(want, mistakes)


@lru_cache(maxsize=512)
def _suspects_of_function(want: FunctionType, mistakes: Combination) -> Sequence[Suspect]:
    return _suspects(want, mistakes)


def _suspects(want: Target, mistakes: Combination) -> Sequence[Suspect]:
    own = {id(target) for target in parts(want)}
    called = {id(target) for target in reachable(want)}
    suspects = [
        Suspect(mistake, any(id(target) in own for target in mistake.targets))
        for mistake in mistakes
        if any(id(target) in called for target in mistake.targets)
    ]
    return sorted(suspects, key=lambda suspect: not suspect.direct)


def _cause(mistakes: Combination, direct: set[Mistake]) -> Cause:
    names = tuple(mistake.name for mistake in mistakes)
    return Cause(
        " + ".join(names),
        " ".join(mistake.says for mistake in mistakes),
        " ".join(mistake.hint for mistake in mistakes if mistake.hint),
        names,
        math.prod(mistake.worth for mistake in mistakes),
        not direct.isdisjoint(mistakes),
    )


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Hide warnings, and restore the random state, of variants that run inside this block."""
    state = torch.get_rng_state()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            torch.set_rng_state(state)
