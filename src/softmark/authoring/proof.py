"""The proof that the graders grade: every claim about a homework's hidden tests, tried in the real sandbox.

For each homework: the reference and every equivalent earn everything; the starter and every trivial submission earn
nothing; each mistake, planted alone into the reference, costs marks in its own part and in no part that does not
depend on it, and is named; right and wrong answers keep a distance of a hundred times from the tolerance on either
side; and a second run in another order, on another engine, which takes no precedents, says the same. What does not hold
is a `Hole`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from softmark.authoring.depends import dependents
from softmark.authoring.field_trial import Series, Subject, grade_all
from softmark.authoring.plant import plant
from softmark.authoring.trivial import starter, trivial_submissions
from softmark.grading.entries import entries_of
from softmark.grading.homework import Homework
from softmark.grading.result import Result, Status, TestResult, VerdictData
from softmark.verdict.mistakes import Mistake, Registry

MARGIN = 100.0
"""How far right and wrong answers must stay from the tolerance."""
_REPEATED = 12
"""How many submissions beside the reference are graded twice."""
_NEEDS_A_NAME = ("value", "nan")
"""Categories of which the fact alone does not tell what is wrong; every other fact is the cause in words: a shape, a
dtype, a changed input, an exception that should have come."""


@dataclass(frozen=True)
class Hole:
    """A claim that does not hold, and what to do about it."""

    homework: str
    subject: str
    what: str


@dataclass
class Proof:
    """What was found out about one homework."""

    homework: str
    mistakes: int = 0
    caught: int = 0
    named: int = 0
    equivalents: int = 0
    equivalents_full: int = 0
    starters: int = 0
    starters_zero: int = 0
    trivial: int = 0
    trivial_zero: int = 0
    accepted: float = 0.0
    """Largest error of a right answer, in tolerances."""
    refused: float = math.inf
    """Smallest error of a wrong answer that was refused for its values, in tolerances."""
    holes: list[Hole] = field(default_factory=list)

    @property
    def margin_accept(self) -> float:
        return 1 / self.accepted if self.accepted else math.inf

    @property
    def margin_reject(self) -> float:
        return self.refused

    @property
    def ok(self) -> bool:
        return not self.holes

    def hole(self, subject: str, what: str) -> None:
        self.holes.append(Hole(self.homework, subject, what))


def prove(homeworks: Sequence[Homework], jobs: int) -> list[Proof]:
    """Grade everything there is to grade, and judge it."""
    registries = [entries_of(homework) for homework in homeworks]
    series = [
        Series(homework, _subjects(homework, registry))
        for homework, registry in zip(homeworks, registries, strict=True)
    ]
    graded = grade_all(series, jobs)
    proofs = [
        _judged(one, registry, results) for one, registry, results in zip(series, registries, graded, strict=True)
    ]
    _judge_repetition(proofs, series, graded, jobs)
    return proofs


def _judged(series: Series, registry: Registry, results: Sequence[Result]) -> Proof:
    """What the results say of each subject by itself."""
    proof = Proof(series.homework.name)
    judges = {"reference": _judge_right, "equivalent": _judge_right, "starter": _judge_zero, "trivial": _judge_zero}
    mistakes = {mistake.name: mistake for mistake in registry.mistakes}
    users = dependents(series.homework.reference.read_text(encoding="utf-8"), series.homework)
    for subject, result in zip(series.subjects, results, strict=True):
        if result.status is Status.GRADER_ERROR:
            proof.hole(subject.name, f"the grader failed: {'; '.join(_staff_texts(result))[:400]}")
        elif subject.kind == "mistake":
            _judge_mistake(proof, mistakes[subject.name], result, users)
        else:
            judges[subject.kind](proof, subject, result)
    _judge_margins(proof)
    return proof


def _subjects(homework: Homework, registry: Registry) -> list[Subject]:
    source = homework.reference.read_text(encoding="utf-8")
    return [
        Subject("reference", homework.file, source),
        *(Subject("equivalent", entry.name, plant(source, entry)) for entry in registry.equivalents),
        Subject("starter", "starter", starter(homework)),
        *(Subject("trivial", name, text) for name, text in trivial_submissions(homework).items()),
        *(Subject("mistake", entry.name, plant(source, entry)) for entry in registry.mistakes),
    ]


def _judge_right(proof: Proof, subject: Subject, result: Result) -> None:
    full = result.total == result.max_score
    if subject.kind == "equivalent":
        proof.equivalents += 1
        proof.equivalents_full += full
    proof.accepted = max(proof.accepted, *(case.accepted for test in result.tests for case in test.cases))
    if not full:
        lost = [test for test in result.tests if test.score != test.max_score]
        proof.hole(
            subject.name,
            f"{subject.kind} earns {result.total:g} of {result.max_score:g}: {_first_words(lost, result)}; "
            "correct code must not lose marks, mend the test",
        )


def _judge_zero(proof: Proof, subject: Subject, result: Result) -> None:
    zero = result.status is Status.GRADED and result.total == 0
    if subject.kind == "trivial":
        proof.trivial += 1
        proof.trivial_zero += zero
    else:
        proof.starters += 1
        proof.starters_zero += zero
    if result.status is not Status.GRADED:
        proof.hole(subject.name, f"{subject.kind} submission is not graded at all: {result.reason}")
    elif result.total != 0:
        paid = ", ".join(f"{test.number} ({test.score:g})" for test in result.tests if test.score)
        proof.hole(subject.name, f"{subject.kind} submission earns {result.total:g}: tests {paid} pay for no knowledge")


def _judge_mistake(proof: Proof, mistake: Mistake, result: Result, users: dict[str, frozenset[str]]) -> None:
    proof.mistakes += 1
    target = mistake.target_name.partition(".")[0]
    own = {part.number for part in result.parts if target in _functions(part.function)}
    touched = users.get(target, frozenset())
    own = own or set(touched)
    lost = {part.number for part in result.parts if part.earned < part.points}
    failing = [test for test in result.tests if test.part in own and test.verdicts]
    if not lost & own:
        parts = ", ".join(sorted(own))
        proof.hole(
            mistake.name, f"keeps full marks in part {parts}: no test of it draws an input on which this mistake shows"
        )
        return
    proof.caught += 1
    for number in sorted(lost - own - touched):
        proof.hole(mistake.name, f"costs marks in part {number}, which does not depend on {mistake.target_name}")
    ratios = [case.refused for test in failing for case in test.cases if case.refused is not None]
    proof.refused = min([proof.refused, *ratios])
    if _is_named(mistake, failing):
        proof.named += 1
    else:
        others = sorted({cause.name for test in failing for verdict in test.verdicts for cause in verdict.causes})
        instead = f"is called {', '.join(others)}" if others else "is not named"
        proof.hole(mistake.name, f"{instead} in the feedback of its part: {_first_words(failing, result)}")


def _is_named(mistake: Mistake, failing: Sequence[TestResult]) -> bool:
    """Named, or every failure says by its category what is wrong."""
    verdicts = [verdict for test in failing for verdict in test.verdicts]
    if any(mistake.name in cause.name.split(" + ") for verdict in verdicts for cause in verdict.causes):
        return True
    return all(_speaks_for_itself(verdict) and not verdict.causes for verdict in verdicts)


def _speaks_for_itself(verdict: VerdictData) -> bool:
    return verdict.category not in _NEEDS_A_NAME or verdict.fact.startswith("gradient of")


def _judge_margins(proof: Proof) -> None:
    if proof.margin_accept < MARGIN:
        proof.hole("margin", f"a right answer comes within 1/{proof.margin_accept:.0f} of the tolerance (needs 1/100)")
    if proof.margin_reject < MARGIN:
        proof.hole("margin", f"a wrong answer is only {proof.margin_reject:.3g} times the tolerance away (needs 100)")


def _judge_repetition(
    proofs: Sequence[Proof], series: Sequence[Series], graded: Sequence[Sequence[Result]], jobs: int
) -> None:
    """Some of the same submissions once more, backwards, on other engines, and every test run for each of them."""
    pairs = [list(zip(one.subjects, results, strict=True)) for one, results in zip(series, graded, strict=True)]
    chosen = [every[:: max(1, len(every) // _REPEATED)][::-1] for every in pairs]
    repeated = [
        Series(one.homework, [subject for subject, _ in some]) for one, some in zip(series, chosen, strict=True)
    ]
    for proof, some, again in zip(proofs, chosen, grade_all(repeated, jobs, precedents=False), strict=True):
        for (subject, first), second in zip(some, again, strict=True):
            if _comparable(first) != _comparable(second):
                proof.hole(subject.name, f"two runs differ: {first.total:g} and {second.total:g} points")


def _comparable(result: Result) -> Result:
    """Without what may differ: times."""
    tests = tuple(
        msgspec.structs.replace(t, cases=tuple(msgspec.structs.replace(c, seconds=0.0) for c in t.cases))
        for t in result.tests
    )
    return msgspec.structs.replace(result, tests=tests, seconds=0.0, cpu_seconds=0.0)


def _functions(names: str) -> set[str]:
    return {name.strip() for name in names.split(",")}


def _first_words(tests: Iterable[TestResult], result: Result) -> str:
    for test in tests:
        for verdict in test.verdicts:
            return f"{test.number} says “{verdict.fact}”"
    return f"“{result.reason}”" if result.reason else "no reason is given"


def _staff_texts(result: Result) -> list[str]:
    return [*result.staff_notes, *(v.staff for t in result.tests for v in t.verdicts if v.category == "grader")]
