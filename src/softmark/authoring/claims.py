"""Says what each submission of `verify` must earn, and what its students must read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from softmark.authoring.gaps import Verification, placed
from softmark.authoring.plant import undefined
from softmark.authoring.variants import Variant, kept_tests, lost_by
from softmark.course.homework import Homework
from softmark.course.reference import dependents
from softmark.records.result import Result, Status, TestResult
from softmark.records.verdict import Category, Code, Verdict
from softmark.verdict.mistakes import Mistake, Registry

MARGIN = 100.0
"""Distance from the tolerance, as a factor, that right and wrong answers must keep."""
_NEEDS_A_NAME = (Category.VALUE, Category.NAN)
"""Categories whose fact does not tell what is wrong. Every other fact is the cause in words: a shape, a dtype, a
changed input, an exception that should have come."""
_ENDS = (Category.CRASH, Category.TIMEOUT, Category.MEMORY, Category.LOAD)
"""Categories that no mistake in a formula has."""
_NO_ANSWER = (Code.NOT_DEFINED, Code.ENDLESS_RECURSION)


@dataclass(frozen=True)
class PartsOfMistake:
    """The parts in which a mistake may cost marks."""

    own: frozenset[str]
    """The parts that ask for the function itself. If none does, all parts that use it."""
    users: frozenset[str]
    """The parts that use the function, directly or through others."""


def users_of(homework: Homework) -> dict[str, frozenset[str]]:
    """Return for each function and class of the reference the parts that use it."""
    return dependents(homework.reference, {part.number: part.functions for part in homework.parts})


def parts_of(mistake: Mistake, homework: Homework, users: Mapping[str, frozenset[str]]) -> PartsOfMistake:
    """Return the parts in which a mistake may cost marks. `users` is what `users_of` returns."""
    targets = {name.partition(".")[0] for name in mistake.target_names}
    own = frozenset(part.number for part in homework.parts if targets.intersection(part.functions))
    using = frozenset[str]().union(*(users.get(target, ()) for target in targets))
    return PartsOfMistake(own or using, using)


def judge(
    homework: Homework, variants: Sequence[Variant], registry: Registry, results: Sequence[Result]
) -> Verification:
    """Note every variant whose own result is not as it must be."""
    verification = Verification(homework.name)
    mistakes = {mistake.name: mistake for mistake in registry.mistakes}
    users = users_of(homework)
    judges: dict[str, Callable[[Verification, Variant, Result, Homework], None]] = {
        "reference": _judge_right, "equivalent": _judge_right, "starter": _judge_zero, "trivial": _judge_zero,
        "recorder": _judge_recorder,
    }  # fmt: skip
    for variant, result in zip(variants, results, strict=True):
        if variant.members and not settles(variant, result):
            continue  # each of them is graded alone, too
        if result.status is Status.GRADER_ERROR:
            _judge_fault(verification, variant, result, homework)
        elif variant.kind == "mistake":
            mistake = mistakes[variant.name]
            _judge_mistake(verification, mistake, variant, result, parts_of(mistake, homework, users))
        elif variant.kind == "elsewhere":
            _judge_elsewhere(verification, mistakes, variant, result)
        elif variant.kind in judges:
            judges[variant.kind](verification, variant, result, homework)
    _judge_margins(verification)
    return verification


def settles(variant: Variant, result: Result) -> bool:
    """Return whether the result of a submission with several entries holds for each of them."""
    right = result.status is Status.GRADED and lost_by(variant, result) is None
    return right and _accepted(variant, result) * MARGIN <= 1


def _accepted(variant: Variant, result: Result) -> float:
    """Return the largest error of a right answer, in tolerances."""
    return max((case.accepted for test in kept_tests(variant, result) for case in test.cases), default=0.0)


def _judge_fault(verification: Verification, variant: Variant, result: Result, homework: Homework) -> None:
    """Note a test that cannot judge. The same fault in other tests and submissions is told once."""
    faults: dict[str, TestResult] = {}
    for test in result.tests:
        for verdict in test.verdicts:
            if verdict.category is Category.GRADER:
                faults.setdefault(verdict.staff[:400], test)
    for fault, test in faults.items():
        what = f"{placed(test.number, test.name, homework)}: the grader failed: {fault}"
        verification.add_gap(variant.name, what, same_as=("the grader failed", fault))
    if not faults:
        verification.add_gap(variant.name, f"the grader failed: {'; '.join(result.staff_notes)[:400] or result.reason}")


def _judge_right(verification: Verification, variant: Variant, result: Result, homework: Homework) -> None:
    full = result.total == result.max_score
    if variant.kind == "equivalent":
        number = len(variant.members) or 1
        verification.equivalents += number
        verification.equivalents_full += number * full
    verification.accepted = max(verification.accepted, _accepted(variant, result))
    if full:
        return
    lost = lost_by(variant, result)
    where = f"{placed(lost.number, lost.name, homework)}: " if lost is not None else ""
    said = _first_words([lost] if lost is not None else [], result)
    verification.add_gap(
        variant.name, f"{where}a right solution loses marks: {said}; correct code must not lose marks, mend the test"
    )


def _judge_recorder(verification: Verification, variant: Variant, result: Result, homework: Homework) -> None:
    lost = lost_by(variant, result)
    if lost is not None:
        what = f"the reference loses marks while its calls are noted: {_first_words([lost], result)}"
        verification.add_gap(variant.name, what)


def _judge_elsewhere(
    verification: Verification, mistakes: Mapping[str, Mistake], variant: Variant, result: Result
) -> None:
    """Note a mistake that costs marks in a part that does not use its function."""
    lost = lost_by(variant, result)
    if lost is not None:
        targets = ", ".join(mistakes[variant.name].target_names)
        verification.add_gap(variant.name, f"costs marks in part {lost.part}, which does not depend on {targets}")


def _judge_zero(verification: Verification, variant: Variant, result: Result, homework: Homework) -> None:
    zero = result.status is Status.GRADED and result.total == 0
    if variant.kind == "trivial":
        verification.trivial += 1
        verification.trivial_zero += zero
    else:
        verification.starters += 1
        verification.starters_zero += zero
    if result.status is not Status.GRADED:
        verification.add_gap(variant.name, f"{variant.kind} submission is not graded at all: {result.reason}")
    elif result.total != 0:
        paid = ", ".join(f"{placed(t.number, t.name, homework)}: {t.score:g}" for t in result.tests if t.score)
        verification.add_gap(
            variant.name, f"{variant.kind} submission earns {result.total:g}: tests pay for no knowledge ({paid})"
        )


def _judge_mistake(
    verification: Verification, mistake: Mistake, variant: Variant, result: Result, parts: PartsOfMistake
) -> None:
    verification.mistakes += 1
    broken = _how_it_breaks(variant.source, result)
    if broken:
        verification.add_gap(
            mistake.name, f"{broken}: this says nothing of a test, mend the mistake ({mistake.file}:{mistake.line})"
        )
        return
    failing = [test for test in result.tests if test.part in parts.own and test.verdicts]
    if lost_by(variant, result) is None:
        where = ", ".join(sorted(parts.own))
        verification.add_gap(
            mistake.name, f"keeps full marks in part {where}: no test of it draws an input on which this mistake shows"
        )
        return
    verification.caught += 1
    ratios = [case.refused for test in failing for case in test.cases if case.refused is not None]
    verification.refused = min([verification.refused, *ratios])
    if _is_named(mistake, failing):
        verification.named += 1
    else:
        others = sorted({cause.name for test in failing for verdict in test.verdicts for cause in verdict.causes})
        instead = f"is called {', '.join(others)}" if others else "is not named"
        verification.add_gap(mistake.name, f"{instead} in the feedback of its part: {_first_words(failing, result)}")


def _how_it_breaks(source: str, result: Result) -> str:
    """Return why a planted file fails for a reason that is no mistake in a formula; empty if there is none."""
    if names := undefined(source):
        return f"where it is planted, nothing defines {', '.join(f'`{name}`' for name in names)}"
    if result.status is not Status.GRADED:
        return f"the planted file is not graded at all: {result.reason}"
    for verdict in (verdict for test in result.tests for verdict in test.verdicts):
        if verdict.category in _ENDS or verdict.code in _NO_ANSWER:
            return f"the planted file does not answer: “{verdict.fact}”"
    return ""


def _is_named(mistake: Mistake, failing: Sequence[TestResult]) -> bool:
    """Return whether a student reads this mistake's sentence, or no name where each failure says what is wrong."""
    verdicts = [verdict for test in failing for verdict in test.verdicts]
    if any(verdict.causes for verdict in verdicts):
        return any(mistake.name == cause.name for verdict in verdicts for cause in verdict.causes)
    return all(_speaks_for_itself(verdict) for verdict in verdicts)


def _speaks_for_itself(verdict: Verdict) -> bool:
    return verdict.category not in _NEEDS_A_NAME or verdict.code == Code.GRADIENT


def _judge_margins(verification: Verification) -> None:
    if verification.margin_accept < MARGIN:
        verification.add_gap(
            "margin", f"a right answer comes within 1/{verification.margin_accept:.0f} of the tolerance (needs 1/100)"
        )
    if verification.margin_reject < MARGIN:
        verification.add_gap(
            "margin", f"a wrong answer is only {verification.margin_reject:.3g} times the tolerance away (needs 100)"
        )


def _first_words(tests: Iterable[TestResult], result: Result) -> str:
    for test in tests:
        for verdict in test.verdicts:
            return f"{test.number} says “{verdict.fact}”"
    return f"“{result.reason}”" if result.reason else "no reason is given"
