"""Naming the mistake: which registered variant of the reference gives exactly the student's wrong answer?

Every mistake of the reference function, and of the functions it calls, is run in its place on the same inputs, on the
trusted side. One that agrees with the answer, and not with the reference, explains the answer. When none does, two made
together are tried. An exception inside a variant, or the end of the time, is "does not fit".
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import torch

from softmark.records.verdict import Category, Cause, Verdict
from softmark.verdict.compare import agrees, compare
from softmark.verdict.context import Check, TestContext
from softmark.verdict.mistakes import Mistake, MistakeError, Registry
from softmark.verdict.outcome import outcome, run
from softmark.verdict.plant import Target, parts, reachable
from softmark.verdict.truth import Truth

NAMEABLE = frozenset({Category.TYPE, Category.SHAPE, Category.NAN, Category.VALUE})
"""Categories in which an answer is there and can be compared with what a mistake gives."""


def causes_of(answer: Any, truth: Truth, case: TestContext) -> tuple[tuple[Cause, ...], bool]:
    """The mistakes, alone or else in pairs, that reproduce a wrong answer, and whether each of them was tried."""
    if case.mistakes is None or truth.want is None:
        return (), False
    start = time.process_time()
    trial = _Trial(answer, truth, start + case.budget)
    suspects = relevant(truth.want, case.mistakes)
    with _undisturbed():
        fitting = [(suspect,) for suspect in suspects if trial.explains((suspect.mistake,))]
        complete = not trial.is_late()
        found: list[tuple[Suspect, ...]] = [*fitting]
        if not found and complete:
            acting = [suspect for suspect in suspects if suspect.mistake.name in trial.acting]
            found.extend(pair for pair in _pairs(acting, truth.want) if trial.explains([s.mistake for s in pair]))
    case.spent += time.process_time() - start
    return tuple(_cause(suspects) for suspects in found), complete or bool(found)


def common_causes(
    verdicts: Iterable[Verdict],
    passed: Iterable[Check] = (),
    registry: Registry | None = None,
    raised: Sequence[Truth] = (),
) -> tuple[Cause, ...]:
    """What explains all failing cases whose answers could be compared; empty when nothing does.

    A cause of one case holds for another case if that names it, or names a part of it (the other half of a pair may be
    without effect there). With the checks that the same code `passed`, causes that would have failed one of them are
    left out: a fill value of -100 gives what -10 gives where scores are spread, but not elsewhere. So are causes that
    would have given an answer where the code `raised`.
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
    if registry is not None:
        named = {mistake.name: mistake for mistake in registry.mistakes}
        evidence = [check.truth for check in passed if check.truth is not None]
        with _undisturbed():
            common = [
                cause
                for cause in common
                if not _would_show(mistakes := [named[name] for name in cause.mistakes], evidence)
                and not _would_answer(mistakes, raised)
            ]
    smallest = min((len(cause.mistakes) for cause in common), default=0)
    shortest = [cause for cause in common if len(cause.mistakes) == smallest]
    return tuple(sorted(shortest, key=lambda cause: not cause.direct))


def probe(truth: Truth, registry: Registry, seen: dict[str, float]) -> None:
    """Note how far each mistake is from the reference on a check's inputs: the largest error over its tolerance."""
    if truth.want is None:
        return
    with _undisturbed():
        for suspect in relevant(truth.want, registry):
            name = suspect.mistake.name
            try:
                ratio = compare(run(truth, (suspect.mistake,)), truth).ratio
            except Exception:  # a mistake that raises is as visible as can be
                ratio = math.inf
            seen[name] = max(seen.get(name, 0.0), ratio)


def require_seen(registry: Registry, seen: dict[str, float]) -> None:
    """Refuse mistakes that equal the reference on every input of every check, after a probing run of the tests.

    A mistake that shows in a property only (a changed input, another dtype) has the right values: note it in `seen`
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


def relevant(want: Target, registry: Registry) -> list[Suspect]:
    """The mistakes of the checked reference function, then those of what it calls."""
    own = {id(target) for target in parts(want)}
    called = {id(target) for target in reachable(want)}
    suspects = [
        Suspect(mistake, id(mistake.target) in own) for mistake in registry.mistakes if id(mistake.target) in called
    ]
    return sorted(suspects, key=lambda suspect: not suspect.direct)


def _pairs(acting: Sequence[Suspect], want: Target) -> Iterator[tuple[Suspect, Suspect]]:
    """Pairs of mistakes in two functions, one of which may only be reached through the other's variant."""
    own = {id(target) for target in parts(want)}
    called = {suspect.mistake.name: {id(t) for t in reachable(suspect.mistake.variant)} for suspect in acting}
    for first, second in combinations(acting, 2):
        a, b = first.mistake, second.mistake
        meets = id(b.target) in called[a.name] or id(a.target) in called[b.name]
        if a.target is not b.target and (meets or not {id(a.target), id(b.target)} & own):
            yield first, second


class _Trial:
    """One wrong answer, held against what mistakes give."""

    def __init__(self, answer: Any, truth: Truth, deadline: float) -> None:
        self.answer = answer
        self.truth = truth
        self.deadline = deadline
        self.acting: set[str] = set()
        """Mistakes that, alone, change the reference's answer here."""

    def is_late(self) -> bool:
        return time.process_time() > self.deadline

    def explains(self, mistakes: Sequence[Mistake]) -> bool:
        if self.is_late():
            return False
        another = outcome(self.truth, mistakes).another
        if another is None:  # nothing else than the reference, or an exception: then it is not what the student wrote
            return False
        self.acting.update(mistake.name for mistake in mistakes)
        try:
            return agrees(self.answer, another)
        except Exception:  # it may have been anything that the variant gave
            return False


def _would_show(mistakes: Sequence[Mistake], evidence: Iterable[Truth]) -> bool:
    """Whether code with these mistakes would have failed a check that was passed."""
    targets = {id(mistake.target) for mistake in mistakes}
    for truth in evidence:
        if truth.want is None or not targets & {id(target) for target in reachable(truth.want)}:
            continue
        given = outcome(truth, mistakes)
        if given.raised or given.another is not None:
            return True
    return False


def _would_answer(mistakes: Sequence[Mistake], raised: Iterable[Truth]) -> bool:
    """Whether code with these mistakes would have answered where the student's code raised."""
    targets = {id(mistake.target) for mistake in mistakes}
    for truth in raised:
        if truth.want is None or not targets & {id(target) for target in reachable(truth.want)}:
            continue
        if not outcome(truth, mistakes).raised:  # the same mistake raises as well
            return True
    return False


def _cause(suspects: Sequence[Suspect]) -> Cause:
    mistakes = [suspect.mistake for suspect in suspects]
    names = tuple(mistake.name for mistake in mistakes)
    return Cause(
        " + ".join(names),
        " ".join(mistake.says for mistake in mistakes),
        " ".join(mistake.hint for mistake in mistakes if mistake.hint),
        names,
        math.prod(mistake.worth for mistake in mistakes),
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
