"""Naming the mistake: which registered variant of the reference gives exactly the student's wrong answer?

Every mistake of the reference function, and of the functions it calls, is run in its place on the same inputs, in
float64, on the trusted side. One that agrees with the answer, and not with the reference, explains the answer. When
none does, two made together are tried. An exception inside a variant, or the end of the time, is "does not fit".
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import torch

from softmark.verdict.compare import agrees, compare
from softmark.verdict.leaves import map_tensors
from softmark.verdict.mistakes import Mistake, MistakeError, Registry
from softmark.verdict.model import Category, Cause, Verdict
from softmark.verdict.noise import default_float64
from softmark.verdict.plant import instead, parts, planted, reachable
from softmark.verdict.truth import Truth

NAMEABLE = frozenset({Category.TYPE, Category.SHAPE, Category.NAN, Category.VALUE})
"""Categories in which an answer is there and can be compared with what a mistake gives."""


def causes_of(answer: Any, truth: Truth, registry: Registry | None, budget: float) -> tuple[Cause, ...]:
    """The mistakes, alone or else in pairs, that reproduce a wrong answer. All that fit are given."""
    if registry is None or truth.compute is None or not registry.mistakes:
        return ()
    trial = _Trial(answer, truth, time.monotonic() + budget)
    suspects = relevant(truth, registry)
    with _undisturbed():
        alone = [suspect for suspect in suspects if trial.explains((suspect.mistake,))]
        if alone:
            return tuple(_cause((suspect,)) for suspect in alone)
        acting = [suspect for suspect in suspects if suspect.mistake.name in trial.acting]
        pairs = [pair for pair in combinations(acting, 2) if pair[0].mistake.target is not pair[1].mistake.target]
        pairs.sort(key=lambda pair: not (pair[0].direct or pair[1].direct))
        return tuple(_cause(pair) for pair in pairs if trial.explains(tuple(one.mistake for one in pair)))


def common_causes(verdicts: Iterable[Verdict]) -> tuple[Cause, ...]:
    """What explains all failing cases of a test whose answers could be compared; empty when nothing does.

    A cause of one case holds for another case if that names it, or names a part of it (the other half of a pair may be
    without effect there). Mistakes of the function itself go before mistakes of functions that it calls.
    """
    cases = [verdict.causes for verdict in verdicts if verdict.diagnosed]
    if not cases:
        return ()
    known = {cause.mistakes: cause for causes in cases for cause in causes}
    common = [
        cause
        for cause in known.values()
        if all(any(set(other.mistakes) <= set(cause.mistakes) for other in causes) for causes in cases)
    ]
    smallest = min((len(cause.mistakes) for cause in common), default=0)
    common = [cause for cause in common if len(cause.mistakes) == smallest]
    return tuple([cause for cause in common if cause.direct] or common)


def probe(truth: Truth, registry: Registry, seen: dict[str, float]) -> None:
    """Note how far each mistake is from the reference on a check's inputs: the largest error over its tolerance."""
    if truth.compute is None:
        return
    with _undisturbed():
        for suspect in relevant(truth, registry):
            name = suspect.mistake.name
            try:
                ratio = compare(_run(truth, (suspect.mistake,)), truth).ratio
            except Exception:  # a mistake that raises is as visible as can be
                ratio = float("inf")
            seen[name] = max(seen.get(name, 0.0), ratio)


def require_seen(registry: Registry, seen: dict[str, float]) -> None:
    """Refuse mistakes that equal the reference on every input of every check, after a probing run of the tests.

    A mistake that shows in a property only (a changed input, another dtype) has the right values: name it in `seen`
    when a test that looks for it has failed.
    """
    hidden = [mistake for mistake in registry.mistakes if seen.get(mistake.name, 0.0) <= 1]
    if hidden:
        first = hidden[0]
        more = f" (and {len(hidden) - 1} more)" if len(hidden) > 1 else ""
        raise MistakeError(
            f"{first.file}:{first.line}: {first.name}: equals {first.target_name} on every input that the hidden "
            f"tests draw{more}"
        )


@dataclass(frozen=True, slots=True)
class Suspect:
    """A mistake that could matter to a check; `direct` when it is one of the checked function itself."""

    mistake: Mistake
    direct: bool


def relevant(truth: Truth, registry: Registry) -> list[Suspect]:
    """The mistakes of the checked reference function, then those of what it calls."""
    if truth.compute is None:
        return []
    targets = reachable(truth.compute)
    own = parts(truth.compute)
    suspects = [
        Suspect(mistake, any(mistake.target is target for target in own))
        for mistake in registry.mistakes
        if any(mistake.target is target for target in targets)
    ]
    return sorted(suspects, key=lambda suspect: not suspect.direct)


class _Trial:
    """One wrong answer, held against what mistakes give."""

    def __init__(self, answer: Any, truth: Truth, deadline: float) -> None:
        self.answer = answer
        self.truth = truth
        self.deadline = deadline
        self.acting: set[str] = set()
        """Mistakes that, alone, change the reference's answer here."""

    def explains(self, mistakes: Sequence[Mistake]) -> bool:
        if time.monotonic() > self.deadline:
            return False
        try:
            value = _run(self.truth, mistakes)
            if agrees(value, self.truth):
                return False
            self.acting.update(mistake.name for mistake in mistakes)
            return agrees(self.answer, self.truth.replaced(value))
        except Exception:  # a variant may fail on these inputs in any way: then it is not what the student wrote
            return False


def _run(truth: Truth, mistakes: Sequence[Mistake]) -> Any:
    """The reference's answer with the mistakes made in it."""
    assert truth.compute is not None
    plants = [(mistake.target, mistake.variant) for mistake in mistakes]
    args, kwargs = map_tensors((truth.args, truth.kwargs), torch.Tensor.clone)
    with planted(plants), default_float64():
        return instead(truth.compute, plants)(*args, **kwargs)


def _cause(suspects: Sequence[Suspect]) -> Cause:
    mistakes = [suspect.mistake for suspect in suspects]
    worth = 1.0
    for mistake in mistakes:
        worth *= mistake.worth
    return Cause(
        tuple(mistake.name for mistake in mistakes),
        " ".join(mistake.says for mistake in mistakes),
        " ".join(mistake.hint for mistake in mistakes if mistake.hint),
        worth,
        any(suspect.direct for suspect in suspects),
    )


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Variants may warn and draw random numbers; neither is to be noticed outside."""
    state = torch.get_rng_state()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            torch.set_rng_state(state)
