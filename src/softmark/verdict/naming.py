"""Names a mistake: finds the registered variants of the reference that give exactly the student's wrong answer.

Every mistake of the reference function, and of the functions it calls, is tried on the inputs of the failed check. A
mistake that gives the student's answer, and not the reference's, explains it. When none does, pairs of mistakes are
tried. The answer of a mistake is computed once for all submissions (answers.py). No clock decides whether a name is
found.

A single wrong answer often fits several mistakes. A student is told those that fit every failed check of a part and
that no other check contradicts (`common_causes`).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import torch

from softmark.records.verdict import Category, Cause, Verdict
from softmark.verdict.answers import (
    Combination,
    Effect,
    Form,
    form_of,
    has_entries,
    leaves_of,
    numbers_of,
    places,
    scales_of,
)
from softmark.verdict.compare import agrees
from softmark.verdict.context import Check, TestContext
from softmark.verdict.expected import Expected, make_room
from softmark.verdict.mistakes import Mistake, Registry
from softmark.verdict.plant import Target, instead, parts, planted, reachable, stand_in
from softmark.verdict.tolerance import within
from softmark.verdict.values import map_tensors

NAMEABLE = frozenset({Category.TYPE, Category.SHAPE, Category.NAN, Category.VALUE})
"""Categories in which an answer is there and can be compared with what a mistake gives."""
_OF_A_COMBINATION, _OF_A_ROW = 200, 600
"""Bytes that each combination takes, and that the numbers of its answer take in addition, without the numbers
themselves."""


def causes_of(answer: Any, expected: Expected, case: TestContext) -> tuple[Cause, ...] | None:
    """Return the mistakes, alone or else in pairs, that give a wrong answer; None if no names are looked for."""
    if case.mistakes is None or expected.want is None or not case.naming:
        return None
    suspects = relevant(expected.want, case.mistakes)
    with _undisturbed():
        found = _fitting(answer, expected, [(suspect.mistake,) for suspect in suspects], case.before_mistake)
        if not found:
            found = _fitting(answer, expected, _pairs(expected, suspects, expected.want), case.before_mistake)
    direct = {suspect.mistake for suspect in suspects if suspect.direct}
    return tuple(_cause(mistakes, direct) for mistakes in found)


def repeated_slips(answer: Any, expected: Expected, case: TestContext) -> Combination:
    """Return the mistakes that have cost marks in earlier parts and explain a wrong answer, one or two; else none."""
    if expected.want is None:
        return ()
    slips = [slip for slip in case.slips if _concerns((slip,), expected)]
    with _undisturbed():
        pairs = combinations(slips, 2)
        found = _fitting(answer, expected, [*((slip,) for slip in slips), *pairs], case.before_mistake)
    return found[0] if found else ()


def common_causes(
    verdicts: Iterable[Verdict],
    passed: Iterable[Check] = (),
    registry: Registry | None = None,
    raised: Sequence[Expected] = (),
) -> tuple[Cause, ...]:
    """Return the causes that explain all failed checks whose answers could be compared; empty if there are none.

    A cause of one check also holds for another check that names one half of it, because the other half may have no
    effect there. A cause is left out if it would have failed one of the `passed` checks. (A fill value of -100 gives
    the same as -10 where scores are spread, but not elsewhere.) It is also left out if it would have given an answer
    where the code `raised`. Mistakes of the checked function itself go before those of functions that it calls.
    """
    checks = [verdict.causes for verdict in verdicts if verdict.diagnosed]
    known = {cause.mistakes: cause for causes in checks for cause in causes}
    common = [
        cause
        for cause in known.values()
        if all(any(set(other.mistakes) <= set(cause.mistakes) for other in causes) for causes in checks)
    ]
    if registry is not None and common:
        named = {mistake.name: mistake for mistake in registry.mistakes}
        right = [check.expected for check in passed if check.expected is not None]
        with _undisturbed():
            common = [
                cause
                for cause in common
                if not _is_contradicted(tuple(named[name] for name in cause.mistakes), right, raised)
            ]
    return tuple(sorted(common, key=lambda cause: not cause.direct))


def _is_contradicted(mistakes: Combination, right: Iterable[Expected], raised: Iterable[Expected]) -> bool:
    """Return whether code with these mistakes would have failed a check that passed, or answered where it raised."""
    return any(
        _effect(mistakes, expected) is not allowed
        for checks, allowed in ((right, Effect.NONE), (raised, Effect.RAISES))
        for expected in checks
        if _concerns(mistakes, expected)
    )


def _concerns(mistakes: Combination, expected: Expected) -> bool:
    """Return whether a check's reference calls one of the functions in which the mistakes are made."""
    targets = {id(mistake.target) for mistake in mistakes}
    return expected.want is not None and any(id(target) in targets for target in reachable(expected.want))


@dataclass(frozen=True, slots=True)
class Suspect:
    """A mistake that could matter to a check; `direct` when it is one of the checked function itself."""

    mistake: Mistake
    direct: bool


def relevant(want: Target, registry: Registry) -> list[Suspect]:
    """Return the mistakes of the checked reference function, then those of the functions that it calls."""
    own = {id(target) for target in parts(want)}
    called = {id(target) for target in reachable(want)}
    suspects = [
        Suspect(mistake, id(mistake.target) in own) for mistake in registry.mistakes if id(mistake.target) in called
    ]
    return sorted(suspects, key=lambda suspect: not suspect.direct)


def _fitting(
    answer: Any, expected: Expected, combinations: Iterable[Combination], before_each: Callable[[], None]
) -> list[Combination]:
    """Return the combinations that give this wrong answer. `before_each` is called before a mistake is run."""
    near, tried = _near(answer, expected), expected.answers
    found = []
    for combination in combinations:
        effect = tried.effects.get(combination)
        if effect is None or (effect is Effect.OTHER and (combination in near or combination not in tried.kept)):
            before_each()
            another = _tried(combination, expected)[1]
            if another is not None and _agrees(answer, another):
                found.append(combination)
    return found


def _effect(combination: Combination, expected: Expected) -> Effect:
    """Return what a combination does on the inputs of a check."""
    return expected.answers.effects.get(combination) or _tried(combination, expected)[0]


def _tried(combination: Combination, expected: Expected) -> tuple[Effect, Expected | None]:
    """Run a combination; return what it does and, if it gives another answer than the reference, that answer."""
    try:
        value = map_tensors(run(expected, combination), torch.Tensor.detach)
        another = None if agrees(value, expected) else expected.replaced(value)
        effect = Effect.NONE if another is None else Effect.OTHER
    except Exception:  # a variant may fail on these inputs in any way
        another, effect = None, Effect.RAISES
    if combination not in expected.answers.effects and make_room(expected, _OF_A_COMBINATION):
        expected.answers.effects[combination] = effect
        if another is not None:
            _keep(combination, another.value, expected)
    return effect, another


def run(expected: Expected, mistakes: Sequence[Mistake]) -> Any:
    """Return the reference's answer with these mistakes in it, on the inputs as the student got them."""
    assert expected.want is not None
    plants = [(mistake.target, stand_in(mistake.target, mistake.variant)) for mistake in mistakes]
    args, kwargs = map_tensors((expected.args, expected.kwargs), torch.Tensor.clone)
    with planted(plants):
        return instead(expected.want, plants)(*args, **kwargs)


def _agrees(answer: Any, another: Expected) -> bool:
    try:
        return agrees(answer, another)
    except Exception:  # the variant may have given anything
        return False


def _keep(combination: Combination, value: Any, expected: Expected) -> None:
    """Keep some numbers of an answer, if there is room."""
    leaves = leaves_of(value)
    numbers, scales = numbers_of(leaves), scales_of(leaves)
    if make_room(expected, _OF_A_ROW + numbers.nbytes + scales.nbytes):
        expected.answers.keep(combination, form_of(leaves), numbers, scales)


def _near(answer: Any, expected: Expected) -> set[Combination]:
    """Return the kept combinations whose kept numbers agree with an answer."""
    leaves = leaves_of(answer)
    form = form_of(leaves)
    rows = expected.answers.rows.get(form)
    if rows is None:
        return set()
    numbers, scales = rows.table()
    sample = numbers_of(leaves)
    close = (numbers == sample) | (numbers.isnan() & sample.isnan())
    start = 0
    for number, (_, leaf) in enumerate(leaves):
        kept = places(leaf.shape, leaf.is_complex())
        here = slice(start, start := start + len(kept))
        level, of_leaf, scale = expected.level(leaf.dtype), numbers[:, here], scales[:, number : number + 1]
        limits = within(level, of_leaf.abs(), scale, _noise(expected, level.roundoff, number, form, kept, scale))
        close[:, here] |= (of_leaf - sample[here]).abs() <= limits
    return {rows.combinations[hit] for hit in close.all(dim=1).nonzero().flatten().tolist()}


def _noise(
    expected: Expected, roundoff: float, number: int, form: Form, kept: torch.Tensor, scale: torch.Tensor
) -> torch.Tensor:
    """Return the noise of a leaf's kept numbers, as `Expected.replaced` has it, or more."""
    plain = (roundoff * scale).expand(-1, len(kept))
    noises = expected.noise(roundoff)
    if has_entries(form):  # the entries may be in another order
        return plain + max((float(seen.max()) for seen in noises if seen.numel()), default=0.0)
    if [shape for _, shape, _ in form] != [tuple(leaf.shape) for leaf in expected.leaves]:
        return plain
    return noises[number].reshape(-1)[kept].expand(len(scale), -1)


def _pairs(expected: Expected, suspects: Sequence[Suspect], want: Target) -> list[Combination]:
    """Return the pairs of mistakes in two functions, each of which alone changes the reference's answer."""
    acting = tuple(s.mistake for s in suspects if _effect((s.mistake,), expected) is Effect.OTHER)
    pairs = expected.answers.pairs
    if acting not in pairs:
        pairs[acting] = list(_that_meet(acting, want))
    return pairs[acting]


def _that_meet(acting: Sequence[Mistake], want: Target) -> Iterator[tuple[Mistake, Mistake]]:
    """Yield the pairs in which neither mistake hides the other: each function is called by the other's variant."""
    own = {id(target) for target in parts(want)}
    called = {mistake: {id(target) for target in reachable(mistake.variant)} for mistake in acting}
    for a, b in combinations(acting, 2):
        meets = id(b.target) in called[a] or id(a.target) in called[b]
        if a.target is not b.target and (meets or not {id(a.target), id(b.target)} & own):
            yield a, b


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
    """Hide warnings and random numbers of variants that run inside this block."""
    state = torch.get_rng_state()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            torch.set_rng_state(state)
