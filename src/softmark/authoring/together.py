"""Plants several entries into one submission, so that one grading settles them all.

* Other right solutions of different functions: if the submission earns everything, each of them is right.
* Mistakes in functions that a part does not use: if the part keeps full marks, none of them costs marks there.

If such a submission does not settle the claim, each of its members is graded alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from softmark.authoring.claims import parts_of, settles, users_of
from softmark.authoring.plant import plant
from softmark.authoring.variants import Variant
from softmark.course.homework import Homework
from softmark.records.result import Result
from softmark.verdict.mistakes import Mistake, RegisteredVariant, Registry

_AnyEntry = TypeVar("_AnyEntry", bound=RegisteredVariant)


def right_solutions(homework: Homework, registry: Registry) -> list[Variant]:
    """Return submissions that hold every equivalent once."""
    source = homework.reference.read_text(encoding="utf-8")
    return [
        _together([Variant("equivalent", entry.name, plant(source, entry)) for entry in group], plant(source, *group))
        for group in _groups(registry.equivalents)
    ]


def mistakes_elsewhere(homework: Homework, registry: Registry) -> list[Variant]:
    """Return submissions for each part that hold the first mistake in everything that the part does not use.

    The parts of these functions are graded before, because what is wrong there is excused in the part.
    """
    source = homework.reference.read_text(encoding="utf-8")
    users = users_of(homework)
    concerned = {mistake: parts_of(mistake, homework, users) for mistake in _firsts(registry.mistakes)}
    found: list[Variant] = []
    for part in homework.parts:
        others = [mistake for mistake, its in concerned.items() if part.number not in its.own | its.users]
        for group in _groups(others):
            members = [
                Variant("elsewhere", one.name, plant(source, one), (*concerned[one].own, part.number), (part.number,))
                for one in group
            ]
            found.append(_together(members, plant(source, *group)))
    return found


def _firsts(mistakes: Sequence[Mistake]) -> Iterator[Mistake]:
    """Yield the first mistake in each function and class."""
    begun: set[str] = set()
    for mistake in mistakes:
        if not _definitions(mistake) <= begun:
            begun |= _definitions(mistake)
            yield mistake


def unsettled(variants: Sequence[Variant], results: Sequence[Result]) -> list[Variant]:
    """Return the members of the submissions that settle nothing."""
    pairs = zip(variants, results, strict=True)
    return [member for variant, result in pairs if not settles(variant, result) for member in variant.members]


def _together(members: Sequence[Variant], source: str) -> Variant:
    """Return a variant with this source, in which several are planted; a single one as it is."""
    first, *others = members
    if not others:
        return first
    names = " + ".join(member.name for member in members)
    parts = tuple(sorted({part for member in members for part in member.parts}))
    return replace(first, name=names, source=source, parts=parts, members=tuple(members))


def _groups(entries: Sequence[_AnyEntry]) -> list[list[_AnyEntry]]:
    """Return the entries in groups that change different definitions. An entry joins the first group that it fits."""
    groups: list[list[_AnyEntry]] = []
    for entry in entries:
        fitting = (group for group in groups if not any(_definitions(entry) & _definitions(other) for other in group))
        group = next(fitting, None)
        if group is None:
            groups.append([entry])
        else:
            group.append(entry)
    return groups


def _definitions(entry: RegisteredVariant) -> set[str]:
    """Return the functions and classes that an entry changes."""
    names = entry.target_names if isinstance(entry, Mistake) else (entry.target_name,)
    return {name.partition(".")[0] for name in names}
