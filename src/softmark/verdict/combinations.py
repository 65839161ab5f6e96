"""Finds the mistakes, alone or in pairs, that give a wrong answer when they are run on the inputs of its check.

The answer of a mistake is computed once for all submissions (answers.py). There are thousands of pairs, so few checks
of a part try all of them (`fitting_pairs`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

import torch

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
from softmark.verdict.context import TestContext
from softmark.verdict.expected import Expected, make_room
from softmark.verdict.mistakes import Mistake
from softmark.verdict.plain_values import has_many_entries
from softmark.verdict.plant import Planting, Target, instead, parts, planted, reachable
from softmark.verdict.together import can_be_made_together, plants_of
from softmark.verdict.tolerance import within
from softmark.verdict.values import map_tensors

_OF_A_COMBINATION, _OF_A_ROW = 200, 600
"""Bytes that a combination takes, and that its row takes in addition to its numbers."""
_SEED = 0
"""The seed of every variant that is run."""


def fitting_pairs(answer: Any, expected: Expected, suspects: Sequence[Mistake], case: TestContext) -> list[Combination]:
    """Return the pairs that give this wrong answer. Pairs that gave another answer of the part are tried first."""
    assert expected.want is not None
    known = [pair for pair in case.pairs.fitting if concerns(pair, expected)]
    found = fitting(answer, expected, known, case.before_mistake)
    if not found and case.pairs.wanted:
        found = fitting(answer, expected, _pairs(expected, suspects, expected.want), case.before_mistake)
        case.pairs.fitting.update(dict.fromkeys(found))
        case.pairs.wanted = bool(found)
    return found


def tells_pairs_apart(expected: Expected) -> bool:
    """Return whether an answer has an axis or many entries: of thousands of pairs, one fits a few numbers by chance."""
    return any(leaf.dim() for leaf in expected.leaves) or has_many_entries(expected.value)


def concerns(mistakes: Combination, expected: Expected) -> bool:
    """Return whether a check's reference calls one of the functions in which the mistakes are made."""
    targets = {id(target) for mistake in mistakes for target in mistake.targets}
    return expected.want is not None and any(id(target) in targets for target in reachable(expected.want))


def fitting(
    answer: Any, expected: Expected, combinations: Iterable[Combination], before_each: Callable[[], None]
) -> list[Combination]:
    """Return the combinations that give this wrong answer. Call `before_each` before a combination is run."""
    near, tried = _near(answer, expected), expected.answers
    found = []
    for combination in combinations:
        seen = tried.effects.get(combination)
        if seen is None or (seen is Effect.OTHER and (combination in near or combination not in tried.kept)):
            before_each()
            another = _tried(combination, expected)[1]
            if another is not None and _agrees(answer, another):
                found.append(combination)
    return found


def effect(combination: Combination, expected: Expected) -> Effect:
    """Return the effect of a combination on the inputs of a check."""
    return expected.answers.effects.get(combination) or _tried(combination, expected)[0]


def _tried(combination: Combination, expected: Expected) -> tuple[Effect, Expected | None]:
    """Run a combination; return its effect and, if it differs from the reference, its answer."""
    plants = plants_of(combination)
    try:
        value = map_tensors(run(expected, plants), torch.Tensor.detach)
        another = None if agrees(value, expected) else expected.replaced(value)
        seen = Effect.NONE if another is None else Effect.OTHER
    except Exception:  # a variant may fail on these inputs in any way
        another, seen = None, Effect.RAISES
    if combination not in expected.answers.effects and make_room(expected, _OF_A_COMBINATION):
        expected.answers.effects[combination] = seen
        if another is not None:
            _keep(combination, another.value, expected)
    return seen, another


def run(expected: Expected, plants: Planting) -> Any:
    """Return the reference's answer with these variants planted, on the inputs as the student got them.

    All variants draw the same random numbers. So a pair whose second mistake has no effect gives the same answer as the
    first mistake alone, even if the answer is random. Otherwise such a pair could be named instead of the mistake.
    """
    assert expected.want is not None
    args, kwargs = map_tensors((expected.args, expected.kwargs), torch.Tensor.clone)
    torch.default_generator.manual_seed(_SEED)
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
    """Return the noise of a leaf's kept numbers: at least the noise that `Expected.replaced` gives them."""
    plain = (roundoff * scale).expand(-1, len(kept))
    noises = expected.noise(roundoff)
    if has_entries(form):  # the entries may be in another order
        return plain + max((float(seen.max()) for seen in noises if seen.numel()), default=0.0)
    if [shape for _, shape, _ in form] != [tuple(leaf.shape) for leaf in expected.leaves]:
        return plain
    return noises[number].reshape(-1)[kept].expand(len(scale), -1)


def _pairs(expected: Expected, suspects: Sequence[Mistake], want: Target) -> list[Combination]:
    """Return the pairs of mistakes of which each one alone changes the reference's answer."""
    acting = tuple(mistake for mistake in suspects if effect((mistake,), expected) is Effect.OTHER)
    pairs = expected.answers.pairs
    if acting not in pairs:
        pairs[acting] = list(_that_meet(acting, want))
    return pairs[acting]


def _that_meet(acting: Sequence[Mistake], want: Target) -> Iterator[tuple[Mistake, Mistake]]:
    """Yield the pairs in which neither mistake hides the other.

    Two edits of one function must not overlap. If the functions differ, the variant of one must call the other, unless
    neither is the checked function itself.
    """
    own = {id(target) for target in parts(want)}
    called = {m: {id(target) for _, made in m.plants for target in reachable(made)} for m in acting}
    targets = {mistake: {id(target) for target in mistake.targets} for mistake in acting}
    for a, b in combinations(acting, 2):
        if targets[a] & targets[b]:
            if can_be_made_together(a, b):
                yield a, b
        elif targets[b] & called[a] or targets[a] & called[b] or not (targets[a] | targets[b]) & own:
            yield a, b
