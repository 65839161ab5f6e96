"""Tries the hidden tests with mutants of the reference: each must cost marks in the part of its function.

Mutants (edits/mutants.py) are graded in the real sandbox, with the tests of their own part only. One that fails every
case by an exception proves nothing and is left out. One that keeps full marks survives: it is compared with the
reference on drawn calls (sameness.py). If they agree everywhere, it is equivalent, otherwise it is a hole in the tests.
Both need a line in survivors.toml that says why (survivors.py).
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from softmark.authoring.gaps import Gap
from softmark.authoring.sameness import Comparer, recorder_of_arguments
from softmark.authoring.survivors import FILE, explained_survivors
from softmark.authoring.variants import Round, Rounds, Variant
from softmark.course.homework import Homework
from softmark.edits.mutants import Mutant, mutants_of
from softmark.records.errors import UsageError
from softmark.records.result import Result, Status, TestResult
from softmark.records.verdict import Category


@dataclass(frozen=True)
class Survivor:
    """A mutant that keeps full marks."""

    mutant: Mutant
    differs_at: str
    """A call in which it differs from the reference; empty if it is equivalent."""
    because: str = ""
    """The reason that survivors.toml gives; empty if there is none."""


@dataclass
class Mutation:
    """The findings about one homework."""

    homework: str
    mutants: int = 0
    caught: int = 0
    raising: int = 0
    """Mutants that only raise. They are not among the others."""
    equivalents: list[Survivor] = field(default_factory=list)
    holes: list[Survivor] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Return the share of the mutants that are not equivalent that lose marks."""
        told_apart = self.mutants - len(self.equivalents)
        return self.caught / told_apart if told_apart else 1.0

    def add_gap(self, subject: str, what: str) -> None:
        """Note what an author has to mend."""
        self.gaps.append(Gap(self.homework, subject, what))


def mutate_homework(homework: Homework, jobs: int, sample: int = 1) -> Mutation:
    """Grade the mutants of a homework, `jobs` at a time, and judge them; with `sample` only about each N-th of them."""
    if not homework.reference.is_file():
        raise UsageError(f"there is no reference/{homework.name}.py to make mutants of; write the solution first")
    trial = _MutationTrial(homework, homework.reference.read_text(encoding="utf-8"), explained_survivors(homework))
    chosen = [mutant for mutant in trial.every if zlib.crc32(str(mutant).encode()) % sample == 0]
    with Rounds(jobs) as rounds:
        graded = rounds.begin(homework, [trial.right, *map(trial.variant, chosen)])
        trial.judge_reference(graded.results(1)[0])
        alive = trial.survivors(chosen, graded.results()[1:])
        trial.compare(alive, graded)
    trial.judge_explanations(chosen)
    return trial.mutation


class _MutationTrial:
    """Everything of one homework that is graded and compared."""

    def __init__(self, homework: Homework, source: str, reasons: Mapping[str, str]) -> None:
        self._homework, self._reasons = homework, reasons
        self._parts: dict[str, tuple[str, ...]] = {}
        for part in homework.parts:
            for name in part.functions:
                self._parts[name] = (*self._parts.get(name, ()), part.number)
        self.every = mutants_of(source, list(self._parts))
        self.right = Variant("mutant", "the reference", source)
        self.mutation = Mutation(homework.name)

    def variant(self, mutant: Mutant) -> Variant:
        """Return the submission that a mutant is; the tests of its own parts are run."""
        return Variant("mutant", str(mutant), mutant.source, self._parts[self._owner(mutant)])

    def judge_reference(self, result: Result) -> None:
        """Note a test that the reference itself fails: nothing is proved there."""
        for test in result.tests:
            if test.score < test.max_score:
                what = f"loses marks in test {test.number}: run `softmark verify {self._homework.name}`"
                self.mutation.add_gap("the reference", what)

    def survivors(self, mutants: Sequence[Mutant], results: Sequence[Result]) -> list[Mutant]:
        """Count what became of each mutant, and return those that keep full marks."""
        alive = []
        for mutant, result in zip(mutants, results, strict=True):
            tests = [test for test in result.tests if test.part in self._parts[self._owner(mutant)]]
            if all(map(_only_raises, tests)):
                self.mutation.raising += 1
                continue
            self.mutation.mutants += 1
            if result.status is Status.GRADER_ERROR:
                self.mutation.add_gap(str(mutant), "the grader failed with it: mend the test that stumbles over it")
            elif all(test.score == test.max_score for test in tests):
                alive.append(mutant)
            else:
                self.mutation.caught += 1
        return alive

    def compare(self, alive: Sequence[Mutant], graded: Round) -> None:
        """Sort the survivors into equivalents and holes. The tests' own calls say what inputs are like."""
        owners = list(dict.fromkeys(map(self._owner, alive)))
        before = len(graded.variants)
        graded.add([recorder_of_arguments(self._homework, name, self._parts[name]) for name in owners])
        recorded = graded.results()[before:]
        for name, result in zip(owners, recorded, strict=True):
            comparer = Comparer(self._homework, name, result)
            for mutant in alive:
                if self._owner(mutant) == name:
                    survivor = Survivor(mutant, comparer.difference(mutant), self._reasons.get(str(mutant), ""))
                    self._note(survivor, comparer.calls)

    def judge_explanations(self, chosen: Sequence[Mutant]) -> None:
        """Note each line of survivors.toml that no survivor needs. Of a sample, the others are not judged."""
        alive = {str(survivor.mutant) for survivor in (*self.mutation.equivalents, *self.mutation.holes)}
        tried = {str(mutant) for mutant in chosen}
        known = {str(mutant) for mutant in self.every}
        for name in self._reasons:
            if name not in known:
                self.mutation.add_gap(name, f"{FILE} explains this, and there is no such mutant: remove the line")
            elif name in tried and name not in alive:
                self.mutation.add_gap(name, f"{FILE} explains this, and it does not survive: remove the line")

    def _note(self, survivor: Survivor, calls: int) -> None:
        found = self.mutation.holes if survivor.differs_at else self.mutation.equivalents
        found.append(survivor)
        if survivor.because:
            return
        what = f"keeps full marks and agrees with the reference in {calls} drawn calls: say why in {FILE}"
        if survivor.differs_at or not calls:
            at = survivor.differs_at or "calls that could not be drawn"
            what = f"keeps full marks and differs from the reference at {at}: add a case, or say why not in {FILE}"
        self.mutation.add_gap(str(survivor.mutant), what)

    def _owner(self, mutant: Mutant) -> str:
        """Return the name by which the homework knows the function of a mutant: its own, or that of its class."""
        return mutant.function if mutant.function in self._parts else mutant.function.partition(".")[0]


def _only_raises(test: TestResult) -> bool:
    """Return whether each case of a test has failed, and by nothing but exceptions."""
    return all(case.verdicts and all(v.category is Category.ERROR for v in case.verdicts) for case in test.cases)
