"""Verifies that hidden tests grade: tries every claim about them in the real sandbox.

These claims must hold for each homework:

* The reference and every equivalent earn everything. The starter and every trivial submission earn nothing (claims.py).
* Each mistake is planted alone into the reference. It costs marks in its own part, and it is named. The first mistake
  of each function costs no marks in a part that does not use the function. Such mistakes, and equivalents of different
  functions, are planted and graded together (together.py).
* The errors of right and wrong answers keep a distance of a hundred times from the tolerance on either side.
* A second run in another order, on another engine, gives the same results (repetition.py).
* The handout is up to date, and its public tests pass the reference and fail the starter (handed_out.py).

A claim that does not hold is a `Gap`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from softmark.authoring.claims import judge, parts_of, users_of
from softmark.authoring.conditional import TableCell, cells, judge_cells, recorders
from softmark.authoring.gaps import Gap, Verification
from softmark.authoring.handed_out import gaps_of_handout
from softmark.authoring.no_effort import starter, trivial_submissions
from softmark.authoring.plant import plant
from softmark.authoring.repetition import judge_repetition, repeated
from softmark.authoring.together import mistakes_elsewhere, right_solutions, unsettled
from softmark.authoring.variants import Round, Rounds, Variant
from softmark.course.homework import Homework
from softmark.grading.author_files import load_mistakes
from softmark.verdict.mistakes import Registry

__all__ = ["Gap", "Verification", "verify_conditions", "verify_homeworks"]


def verify_homeworks(homeworks: Sequence[Homework], jobs: int) -> list[Verification]:
    """Grade all variants, about `jobs` at a time. Return the verifications in the order of the homeworks."""
    with Rounds(jobs) as rounds:
        trials = [_begin(homework, rounds, jobs) if homework.reference.is_file() else None for homework in homeworks]
        return [
            trial.verification() if trial is not None else _unsolved(homework)
            for homework, trial in zip(homeworks, trials, strict=True)
        ]


def verify_conditions(homeworks: Sequence[Homework], jobs: int) -> list[Verification]:
    """Fill in only the tables of conditions. Nothing else is graded."""
    with Rounds(jobs) as rounds:
        return [_conditions_of(homework, rounds) for homework in homeworks]


def _conditions_of(homework: Homework, rounds: Rounds) -> Verification:
    if not homework.reference.is_file():
        return _unsolved(homework)
    verification, noting = Verification(homework.name), recorders(homework)
    if noting:
        graded = rounds.begin(homework, noting)
        table = cells(homework, graded.results())
        graded.add(_variants_of(table))
        judge_cells(verification, homework, table, dict(zip(graded.variants, graded.results(), strict=True)))
    return verification


@dataclass(frozen=True)
class _Trial:
    """Everything of one homework that is graded and looked at."""

    homework: Homework
    registry: Registry
    first: Round
    second: Round
    """Some of the variants once more, in another order."""
    table: list[TableCell]
    """Each function under each condition."""
    of_handout: list[tuple[str, str]]

    def verification(self) -> Verification:
        """Wait for all results, and judge them."""
        results = self.first.results()
        verification = judge(self.homework, self.first.variants, self.registry, results)
        judge_cells(verification, self.homework, self.table, dict(zip(self.first.variants, results, strict=True)))
        judge_repetition(verification, self.homework, self.first, self.second)
        for subject, what in self.of_handout:
            verification.add_gap(subject, what)
        return verification


def _begin(homework: Homework, rounds: Rounds, jobs: int) -> _Trial:
    """Begin to grade the variants of a homework, and look at its handout meanwhile.

    Only few variants are graded twice. Half of the slots are enough for them, because each slot computes the expected
    answers anew.
    """
    registry = load_mistakes(homework)
    noting = recorders(homework)
    reference, *others = _variants(homework, registry)
    right = right_solutions(homework, registry)
    early = [*noting, reference, *right, *mistakes_elsewhere(homework, registry)]
    first = rounds.begin(homework, [*early, *others])
    table = cells(homework, first.results(len(noting)))
    first.add(_variants_of(table))
    first.add(unsettled(early, first.results(len(early))))
    of_handout = list(gaps_of_handout(homework))
    second = rounds.begin(homework, repeated([reference, *right, *others]), jobs=(jobs + 1) // 2, backwards=True)
    return _Trial(homework, registry, first, second, table, of_handout)


def _variants_of(table: Sequence[TableCell]) -> list[Variant]:
    return list(dict.fromkeys(cell.variant for cell in table if cell.variant is not None))


def _unsolved(homework: Homework) -> Verification:
    verification = Verification(homework.name)
    name = homework.reference.relative_to(homework.root).as_posix()
    verification.add_gap("reference", f"there is no {name}: without the solution nothing can be proved, write it first")
    return verification


def _variants(homework: Homework, registry: Registry) -> list[Variant]:
    source = homework.reference.read_text(encoding="utf-8")
    users = users_of(homework)
    mistaken = [
        Variant("mistake", entry.name, plant(source, entry), tuple(sorted(parts_of(entry, homework, users).own)))
        for entry in registry.mistakes
    ]
    return [
        Variant("reference", homework.file, source),
        Variant("starter", "starter", starter(homework)),
        *(Variant("trivial", name, text) for name, text in trivial_submissions(homework).items()),
        *mistaken,
    ]
