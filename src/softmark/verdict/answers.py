"""Keeps the answers that named mistakes give on the inputs of one check.

A mistake is run once, in the place of the function that it varies (naming.py), and some numbers of its answer are kept.
A student's answer is compared with the kept numbers of all mistakes at once. Only a mistake whose kept numbers agree is
run again, to compare all numbers. So each mistake takes little memory, and no name is lost: if there is no room for its
numbers, the mistake is run again for every wrong answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache
from typing import Any

import torch

from softmark.verdict.mistakes import Mistake
from softmark.verdict.values import Path, flatten, is_numeric, tensor_of

Combination = tuple[Mistake, ...]
"""Mistakes that are made together."""
Leaves = list[tuple[Path, torch.Tensor]]
"""The leaves of numbers of an answer, with their places."""
Form = tuple[tuple[Path, tuple[int, ...], bool], ...]
"""For each leaf of numbers its place, its shape, and whether it is complex."""

_OF_EACH_LEAF = 16
"""The number of numbers of each leaf that are kept."""


class Effect(Enum):
    """The effect of a mistake on the reference's answer to the inputs of a check."""

    RAISES = "raises"
    NONE = "gives the reference's answer"
    OTHER = "gives another answer"


@dataclass
class Rows:
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


@dataclass
class Answers:
    """The answers of the combinations of mistakes that were tried on the inputs of one check."""

    effects: dict[Combination, Effect] = field(default_factory=dict)
    rows: dict[Form, Rows] = field(default_factory=dict)
    kept: set[Combination] = field(default_factory=set)
    """The combinations that have a row."""
    pairs: dict[Combination, list[Combination]] = field(default_factory=dict)
    """The pairs that are worth trying, by the mistakes that change the reference's answer here."""

    def keep(self, combination: Combination, form: Form, numbers: torch.Tensor, scales: torch.Tensor) -> None:
        """Keep the row of a combination."""
        rows = self.rows.setdefault(form, Rows())
        rows.combinations.append(combination)
        rows.numbers.append(numbers.unsqueeze(0))
        rows.scales.append(scales.unsqueeze(0))
        self.kept.add(combination)


def leaves_of(value: Any) -> Leaves:
    """Return the leaves of numbers with their places; if there are dictionaries, sorted by place."""
    leaves = [(path, tensor_of(leaf)) for path, leaf in flatten(value) if is_numeric(leaf)]
    return sorted(leaves, key=lambda leaf: leaf[0]) if has_entries(form_of(leaves)) else leaves


def form_of(leaves: Leaves) -> Form:
    """Return the form of an answer with these leaves."""
    return tuple((path, tuple(leaf.shape), leaf.is_complex()) for path, leaf in leaves)


def has_entries(form: Form) -> bool:
    """Return whether an answer of this form holds a dictionary."""
    return any(part.startswith("entry") for path, _, _ in form for part in path)


def numbers_of(leaves: Leaves) -> torch.Tensor:
    """Return those numbers of the leaves that are kept."""
    kept = [
        leaf.reshape(-1)[places(leaf.shape, leaf.is_complex())].double() for _, leaf in leaves if not leaf.is_complex()
    ]
    return torch.cat([torch.empty(0, dtype=torch.float64), *kept])


def scales_of(leaves: Leaves) -> torch.Tensor:
    """Return the largest finite number of each leaf."""
    sizes = [leaf.abs().double() if leaf.is_complex() else leaf.double().abs() for _, leaf in leaves]
    largest = [float(size.nan_to_num(0.0, 0.0, 0.0).max()) if size.numel() else 0.0 for size in sizes]
    return torch.tensor(largest, dtype=torch.float64)


@lru_cache(maxsize=4096)
def places(shape: torch.Size, is_complex: bool) -> torch.Tensor:
    """Return the places in a leaf of this shape whose numbers are kept; none for a complex leaf."""
    if is_complex:
        return torch.empty(0, dtype=torch.int64)
    chance = torch.Generator().manual_seed(shape.numel())
    return torch.randperm(shape.numel(), generator=chance)[:_OF_EACH_LEAF].sort().values
