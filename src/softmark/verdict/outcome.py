"""What the reference gives with mistakes made in it.

The hidden inputs of a case are the same for every submission, and so is what a mistake makes of them. Where the truth
of a check is remembered, the outcomes of the mistakes that were tried on it are remembered with it: naming the mistake
of the second wrong answer costs comparisons, and runs no variant again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from softmark.verdict.compare import agrees
from softmark.verdict.leaves import map_tensors
from softmark.verdict.memory import remember_outcome
from softmark.verdict.mistakes import Mistake
from softmark.verdict.plant import instead, planted, stand_in
from softmark.verdict.truth import Truth


@dataclass(frozen=True, slots=True)
class Outcome:
    """An exception, the reference's answer (then `another` is None), or another one."""

    raised: bool = False
    another: Truth | None = None


RAISED, SAME = Outcome(raised=True), Outcome()


def outcome(truth: Truth, mistakes: Sequence[Mistake]) -> Outcome:
    """What the mistakes, made together, come to on the inputs of a check."""
    key = tuple(mistakes)
    known: Outcome | None = truth.outcomes.get(key)
    if known is None:
        known = _found_out(truth, mistakes)
        remember_outcome(truth, key, known, known.another)
    return known


def run(truth: Truth, mistakes: Sequence[Mistake]) -> Any:
    """The reference's answer with the mistakes made in it: on the inputs as the student got them, in their dtype."""
    assert truth.want is not None
    plants = [(mistake.target, stand_in(mistake.target, mistake.variant)) for mistake in mistakes]
    args, kwargs = map_tensors((truth.args, truth.kwargs), torch.Tensor.clone)
    with planted(plants):
        return instead(truth.want, plants)(*args, **kwargs)


def _found_out(truth: Truth, mistakes: Sequence[Mistake]) -> Outcome:
    try:
        value = map_tensors(run(truth, mistakes), torch.Tensor.detach)
        return SAME if agrees(value, truth) else Outcome(another=truth.replaced(value))
    except Exception:  # a variant may fail on these inputs in any way
        return RAISED
