"""Tries the hidden tests with mutants of the reference: each must cost marks in the part of its function.

Mutants (edits/mutants.py) are graded in the real sandbox, with the tests of their own part only. One that fails every
case by an exception proves nothing and is left out. One that keeps full marks survives: it is compared with the
reference on drawn calls (sameness.py). If they agree everywhere, it is equivalent, otherwise it is a hole in the tests.
Both need a line in survivors.toml that says why (survivors.py). The line may also say that the handout leaves open what
the mutant changes.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

from softmark.authoring.examples import one_thread
from softmark.authoring.gaps import Gap
from softmark.authoring.sameness import CALLS, Comparer, recorder_of_arguments
from softmark.authoring.survivors import FILE, explained_survivors
from softmark.authoring.variants import Rounds, Variant
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
    left_open: list[Survivor] = field(default_factory=list)
    """Mutants that differ from the reference and are right, because the handout leaves open what they change."""
    holes: list[Survivor] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Return the share of the wrong mutants that lose marks."""
        wrong = self.mutants - len(self.equivalents) - len(self.left_open)
        return self.caught / wrong if wrong else 1.0

    def add_gap(self, subject: str, what: str) -> None:
        """Note what an author has to mend."""
        self.gaps.append(Gap(self.homework, subject, what))


def mutate_homeworks(homeworks: Sequence[Homework], jobs: int, sample: int = 1) -> list[Mutation]:
    """Grade the mutants of homeworks, `jobs` at a time, and judge them; with `sample` only about each N-th of them.

    Survivors are compared on CALLS calls, or on their N-th part, while the mutants of the next homework are graded.
    """
    for homework in homeworks:
        if not homework.reference.is_file():
            raise UsageError(f"there is no reference/{homework.name}.py to make mutants of; write the solution first")
    found: list[Mutation] = []
    earlier: _MutationTrial | None = None
    with Rounds(jobs) as rounds:
        for later in (*homeworks, None):
            if earlier is not None:
                earlier.find_survivors()
            trial = _MutationTrial(later, rounds, sample) if later is not None else None
            if earlier is not None:
                found.append(earlier.judged())
            earlier = trial
    return found


class _MutationTrial:
    """Everything of one homework that is graded and compared. The grading of its mutants begins at once."""

    def __init__(self, homework: Homework, rounds: Rounds, sample: int) -> None:
        self._homework, self._rules = homework, explained_survivors(homework)
        self._calls = ceil(CALLS / sample)
        self._parts: dict[str, tuple[str, ...]] = {}
        for part in homework.parts:
            for name in part.functions:
                self._parts[name] = (*self._parts.get(name, ()), part.number)
        source = homework.reference.read_text(encoding="utf-8")
        self._every = mutants_of(source, list(self._parts))
        self._chosen = [mutant for mutant in self._every if zlib.crc32(str(mutant).encode()) % sample == 0]
        self._alive: list[Mutant] = []
        self._recorders: dict[str, Variant] = {}
        self._mutation = Mutation(homework.name)
        reference = Variant("mutant", "the reference", source)
        self._graded = rounds.begin(homework, [reference, *map(self._variant, self._chosen)])

    def find_survivors(self) -> None:
        """Wait for the mutants, and have the calls noted of the functions of those that keep full marks."""
        reference, *results = self._graded.results()
        self._judge_reference(reference)
        self._alive = self._survivors(results)
        owners = dict.fromkeys(map(self._owner, self._alive))
        self._recorders = {name: recorder_of_arguments(self._homework, name, self._parts[name]) for name in owners}
        self._graded.add(list(self._recorders.values()))

    def judged(self) -> Mutation:
        """Sort the survivors into equivalents and holes. The tests' own calls say what inputs are like."""
        recorded = dict(zip(self._graded.variants, self._graded.results(), strict=True))
        with one_thread():
            for name, recorder in self._recorders.items():
                comparer = Comparer(self._homework, name, recorded[recorder], self._calls)
                for mutant in self._alive:
                    if self._owner(mutant) == name:
                        self._note(mutant, comparer.difference(mutant), comparer.calls)
        self._judge_explanations()
        return self._mutation

    def _variant(self, mutant: Mutant) -> Variant:
        """Return the submission that a mutant is; the tests of its own parts are run."""
        return Variant("mutant", str(mutant), mutant.source, self._parts[self._owner(mutant)])

    def _judge_reference(self, result: Result) -> None:
        """Note a test that the reference itself fails: nothing is proved there."""
        for test in result.tests:
            if test.score < test.max_score:
                what = f"loses marks in test {test.number}: run `softmark verify {self._homework.name}`"
                self._mutation.add_gap("the reference", what)

    def _survivors(self, results: Sequence[Result]) -> list[Mutant]:
        """Count what became of each mutant, and return those that keep full marks."""
        alive = []
        for mutant, result in zip(self._chosen, results, strict=True):
            tests = [test for test in result.tests if test.part in self._parts[self._owner(mutant)]]
            if all(map(_only_raises, tests)):
                self._mutation.raising += 1
                continue
            self._mutation.mutants += 1
            if result.status is Status.GRADER_ERROR:
                self._mutation.add_gap(str(mutant), "the grader failed with it: mend the test that stumbles over it")
            elif all(test.score == test.max_score for test in tests):
                alive.append(mutant)
            else:
                self._mutation.caught += 1
        return alive

    def _judge_explanations(self) -> None:
        """Note each line of survivors.toml that no survivor needs. Of a sample, the others are not judged."""
        alive, tried, known = (set(map(str, mutants)) for mutants in (self._alive, self._chosen, self._every))
        for name in self._rules:
            if name not in known:
                self._mutation.add_gap(name, f"{FILE} explains this, and there is no such mutant: remove the line")
            elif name in tried and name not in alive:
                self._mutation.add_gap(name, f"{FILE} explains this, and it does not survive: remove the line")

    def _note(self, mutant: Mutant, differs_at: str, calls: int) -> None:
        rule = self._rules.get(str(mutant))
        found = self._mutation.equivalents
        if differs_at:
            found = self._mutation.left_open if rule is not None and rule.right else self._mutation.holes
        found.append(Survivor(mutant, differs_at, rule.because if rule is not None else ""))
        if rule is not None:
            return
        what = f"keeps full marks and agrees with the reference in {calls} drawn calls: say why in {FILE}"
        if differs_at or not calls:
            at = differs_at or "calls that could not be drawn"
            what = f"keeps full marks and differs from the reference at {at}: add a case, or say why not in {FILE}"
        self._mutation.add_gap(str(mutant), what)

    def _owner(self, mutant: Mutant) -> str:
        """Return the name by which the homework knows the function of a mutant: its own, or that of its class."""
        return mutant.function if mutant.function in self._parts else mutant.function.partition(".")[0]


def _only_raises(test: TestResult) -> bool:
    """Return whether each case of a test has failed, and by nothing but exceptions."""
    return all(case.verdicts and all(v.category is Category.ERROR for v in case.verdicts) for case in test.cases)
