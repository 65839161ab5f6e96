"""Verifies that hidden tests grade: tries every claim about them in the real sandbox.

For each homework: the reference and every equivalent earn everything; the starter and every trivial submission earn
nothing; each mistake, planted alone into the reference, costs marks in its own part and in no part that does not
depend on it, and is named; right and wrong answers keep a distance of a hundred times from the tolerance on either
side (claims.py); a second run in another order, on another engine, says the same (repetition.py); and the handout is up
to date, with public tests that the reference passes and the starter does not (handed_out.py). A claim that does not
hold is a `Gap`.
"""

from __future__ import annotations

from collections.abc import Sequence

from softmark.authoring.claims import judge
from softmark.authoring.gaps import Gap, Verification
from softmark.authoring.handed_out import judge_handed_out
from softmark.authoring.no_effort import starter, trivial_submissions
from softmark.authoring.plant import plant
from softmark.authoring.repetition import judge_repetition
from softmark.authoring.variants import Variant, grade_variants
from softmark.course.homework import Homework
from softmark.grading.author_files import load_mistakes
from softmark.verdict.mistakes import Registry

__all__ = ["Gap", "Verification", "verify_homeworks"]


def verify_homeworks(homeworks: Sequence[Homework], jobs: int) -> list[Verification]:
    """Grade everything there is to grade, and judge it; several submissions at a time, one homework after the other."""
    return [
        _verified(homework, jobs) if homework.reference.is_file() else _unsolved(homework) for homework in homeworks
    ]


def _verified(homework: Homework, jobs: int) -> Verification:
    registry = load_mistakes(homework)
    variants = _variants(homework, registry)
    results = grade_variants(homework, variants, jobs)
    verification = judge(homework, variants, registry, results)
    judge_repetition(verification, homework, variants, results, jobs)
    judge_handed_out(verification, homework)
    return verification


def _unsolved(homework: Homework) -> Verification:
    verification = Verification(homework.name)
    name = homework.reference.relative_to(homework.root).as_posix()
    verification.add_gap("reference", f"there is no {name}: without the solution nothing can be proved, write it first")
    return verification


def _variants(homework: Homework, registry: Registry) -> list[Variant]:
    source = homework.reference.read_text(encoding="utf-8")
    return [
        Variant("reference", homework.file, source),
        *(Variant("equivalent", entry.name, plant(source, entry)) for entry in registry.equivalents),
        Variant("starter", "starter", starter(homework)),
        *(Variant("trivial", name, text) for name, text in trivial_submissions(homework).items()),
        *(Variant("mistake", entry.name, plant(source, entry)) for entry in registry.mistakes),
    ]
