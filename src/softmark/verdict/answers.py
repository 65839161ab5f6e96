"""The answers of named mistakes on the inputs of one check, kept so that naming a mistake is a comparison.

A mistake is run once, in the place of the function that it varies, on the trusted side. Of its answer some numbers are
kept. A student's answer is compared with the kept numbers of all mistakes at once. Only a mistake whose kept numbers
agree is run again, to compare all of them. So little is kept for each mistake, and a name is never lost: where there is
no room for the numbers, the mistake is run again for every wrong answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any

import torch

from softmark.verdict.compare import agrees
from softmark.verdict.expected import Expected, make_room
from softmark.verdict.mistakes import Mistake
from softmark.verdict.plant import instead, planted, stand_in
from softmark.verdict.tolerance import within
from softmark.verdict.values import Path, flatten, is_numeric, map_tensors, tensor_of

Combination = tuple[Mistake, ...]
"""Mistakes that are made together."""
Form = tuple[tuple[Path, tuple[int, ...], bool], ...]
"""Of each leaf of numbers its place, its shape, and whether it is complex."""

_OF_EACH_LEAF = 16
"""Numbers that are kept of each leaf of an answer."""
_OF_A_COMBINATION, _OF_A_ROW = 200, 600
"""Bytes of what is kept of each combination, and of one that has an answer of its own, beside its numbers."""


class Effect(Enum):
    """The effect of a mistake on the reference's answer, for the inputs of a check."""

    RAISES = "raises"
    NONE = "gives the reference's answer"
    OTHER = "gives another answer"


def run(expected: Expected, mistakes: Sequence[Mistake]) -> Any:
    """Return the reference's answer with the mistakes made in it, on the inputs as the student got them."""
    assert expected.want is not None
    plants = [(mistake.target, stand_in(mistake.target, mistake.variant)) for mistake in mistakes]
    args, kwargs = map_tensors((expected.args, expected.kwargs), torch.Tensor.clone)
    with planted(plants):
        return instead(expected.want, plants)(*args, **kwargs)


@dataclass
class _Rows:
    """Kept numbers of answers of one form, a row for each combination."""

    combinations: list[Combination] = field(default_factory=list)
    numbers: list[torch.Tensor] = field(default_factory=list)
    scales: list[torch.Tensor] = field(default_factory=list)
    """The largest number of each leaf."""

    def table(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the numbers and the scales of all rows."""
        if len(self.numbers) > 1:
            self.numbers, self.scales = [torch.cat(self.numbers)], [torch.cat(self.scales)]
        return self.numbers[0], self.scales[0]


class Answers:
    """The answers of combinations of mistakes on the inputs of one check, as far as they were tried."""

    def __init__(self, expected: Expected) -> None:
        self._expected = expected
        self._effects: dict[Combination, Effect] = {}
        self._rows: dict[Form, _Rows] = {}
        self._kept: set[Combination] = set()
        self.pairs: dict[Combination, list[Combination]] = {}
        """The pairs that are worth trying, by the mistakes that change the reference's answer here."""

    def fitting(
        self, answer: Any, combinations: Iterable[Combination], before_each: Callable[[], None]
    ) -> list[Combination]:
        """Return the combinations that give this wrong answer. `before_each` is called before a mistake is run."""
        near = self._near(answer)
        found = []
        for combination in combinations:
            effect = self._effects.get(combination)
            if effect is None or (effect is Effect.OTHER and (combination in near or combination not in self._kept)):
                before_each()
                another = self._tried(combination)[1]
                if another is not None and _agrees(answer, another):
                    found.append(combination)
        return found

    def effect(self, combination: Combination) -> Effect:
        """Return what a combination does here."""
        return self._effects.get(combination) or self._tried(combination)[0]

    def _tried(self, combination: Combination) -> tuple[Effect, Expected | None]:
        """Run a combination; return what it does and, if it gives another answer than the reference, that answer."""
        try:
            value = map_tensors(run(self._expected, combination), torch.Tensor.detach)
            another = None if agrees(value, self._expected) else self._expected.replaced(value)
            effect = Effect.NONE if another is None else Effect.OTHER
        except Exception:  # a variant may fail on these inputs in any way
            another, effect = None, Effect.RAISES
        if combination not in self._effects and make_room(self._expected, _OF_A_COMBINATION):
            self._effects[combination] = effect
            if another is not None:
                self._keep(combination, another.value)
        return effect, another

    def _keep(self, combination: Combination, value: Any) -> None:
        """Keep some numbers of an answer, if there is room."""
        leaves = _leaves(value)
        form, numbers, scales = _form(leaves), _numbers(leaves), _scales(leaves)
        if make_room(self._expected, _OF_A_ROW + numbers.nbytes + scales.nbytes):
            rows = self._rows.setdefault(form, _Rows())
            rows.combinations.append(combination)
            rows.numbers.append(numbers.unsqueeze(0))
            rows.scales.append(scales.unsqueeze(0))
            self._kept.add(combination)

    def _near(self, answer: Any) -> set[Combination]:
        """Return the kept combinations whose kept numbers agree with an answer."""
        leaves = _leaves(answer)
        form = _form(leaves)
        rows = self._rows.get(form)
        if rows is None:
            return set()
        numbers, scales = rows.table()
        sample = _numbers(leaves)
        close = (numbers == sample) | (numbers.isnan() & sample.isnan())
        start = 0
        for number, (_, leaf) in enumerate(leaves):
            places = _places(leaf.shape, leaf.is_complex())
            here = slice(start, start := start + len(places))
            level, of_leaf, scale = self._expected.level(leaf.dtype), numbers[:, here], scales[:, number : number + 1]
            limits = within(level, of_leaf.abs(), scale, self._noise(level.roundoff, number, form, places, scale))
            close[:, here] |= (of_leaf - sample[here]).abs() <= limits
        return {rows.combinations[hit] for hit in close.all(dim=1).nonzero().flatten().tolist()}

    def _noise(
        self, roundoff: float, number: int, form: Form, places: torch.Tensor, scale: torch.Tensor
    ) -> torch.Tensor:
        """Return the noise of a leaf's kept numbers, as `Expected.replaced` has it, or more."""
        plain = (roundoff * scale).expand(-1, len(places))
        noises = self._expected.noise(roundoff)
        if _has_entries(form):  # their order may be another one
            return plain + max((float(seen.max()) for seen in noises if seen.numel()), default=0.0)
        if [shape for _, shape, _ in form] != [tuple(leaf.shape) for leaf in self._expected.leaves]:
            return plain
        return noises[number].reshape(-1)[places].expand(len(scale), -1)


def answers_for(expected: Expected) -> Answers:
    """Return the answers of mistakes on the inputs of a check."""
    if expected.answers is None:
        expected.answers = Answers(expected)
    return expected.answers


def _agrees(answer: Any, another: Expected) -> bool:
    try:
        return agrees(answer, another)
    except Exception:  # the variant may have given anything
        return False


def _leaves(value: Any) -> list[tuple[Path, torch.Tensor]]:
    """Return the leaves of numbers with their places; entries of dictionaries in the order of their places."""
    leaves = [(path, tensor_of(leaf)) for path, leaf in flatten(value) if is_numeric(leaf)]
    return sorted(leaves, key=lambda leaf: leaf[0]) if _has_entries(_form(leaves)) else leaves


def _form(leaves: list[tuple[Path, torch.Tensor]]) -> Form:
    return tuple((path, tuple(leaf.shape), leaf.is_complex()) for path, leaf in leaves)


def _has_entries(form: Form) -> bool:
    return any(part.startswith("entry") for path, _, _ in form for part in path)


def _numbers(leaves: list[tuple[Path, torch.Tensor]]) -> torch.Tensor:
    """Return the numbers of each leaf that are kept."""
    kept = [
        leaf.reshape(-1)[_places(leaf.shape, leaf.is_complex())].double() for _, leaf in leaves if not leaf.is_complex()
    ]
    return torch.cat([torch.empty(0, dtype=torch.float64), *kept])


def _scales(leaves: list[tuple[Path, torch.Tensor]]) -> torch.Tensor:
    """Return the largest finite number of each leaf."""
    sizes = [leaf.abs().double() if leaf.is_complex() else leaf.double().abs() for _, leaf in leaves]
    largest = [float(size.nan_to_num(0.0, 0.0, 0.0).max()) if size.numel() else 0.0 for size in sizes]
    return torch.tensor(largest, dtype=torch.float64)


@lru_cache(maxsize=4096)
def _places(shape: torch.Size, is_complex: bool) -> torch.Tensor:
    """Return the places whose numbers are kept of a leaf: none of a complex one, whose size they do not show."""
    if is_complex:
        return torch.empty(0, dtype=torch.int64)
    chance = torch.Generator().manual_seed(shape.numel())
    return torch.randperm(shape.numel(), generator=chance)[:_OF_EACH_LEAF].sort().values
