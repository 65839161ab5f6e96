"""Finds which homework, part or function `softmark.check(...)` asks for in a notebook.

A notebook's kernel does not know the notebook's file. So the homework is one whose folder is near, and which asks for
the function. If that leaves several, it is the one of which the notebook has most functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from softmark.check.public_tests import EXAMPLES, Handout, read_handout
from softmark.records.errors import ConfigError, UsageError


@dataclass(frozen=True)
class Asked:
    """A homework, and what is to be tested of it: everything, a part, or a function."""

    folder: Path
    handout: Handout
    part: str | None = None
    function: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the functions and classes of the notebook that are asked for."""
        if self.function is not None:
            return (self.function.partition(".")[0],)
        return tuple(name for name in self.handout.wanted if self.part is None or name in self._roots)

    @property
    def _roots(self) -> frozenset[str]:
        return next((part.roots for part in self.handout.parts if part.number == self.part), frozenset())


def find_asked(
    what: object, part: str | int | None, homework: str | None, namespace: Mapping[str, Any], start: Path
) -> Asked:
    """Return what is asked for. Raise UsageError with the next step if nothing fits, or several homeworks do."""
    if part is not None:
        homework = homework if what is None else str(what)
        names = [str(part)]
    else:
        names = _names(what, namespace)
    seen: list[Asked] = []
    for folders in _near(start, homework):
        here = list(_homeworks(folders, start, homework))
        fitting = [found for place in here if (found := _named(place, names)) is not None]
        if fitting:
            return _one_of(fitting, names, namespace)
        seen += here
    raise _not_found(seen, names, homework, start)


def homeworks_near(start: Path) -> list[Asked]:
    """Return the homeworks of the nearest folders that have any."""
    groups = (list(_homeworks(folders, start, None)) for folders in _near(start, None))
    return next((group for group in groups if group), [])


def _names(what: object, namespace: Mapping[str, Any]) -> list[str]:
    """Return the names of a thing: those that the notebook has for it, then its own. None stands for everything."""
    if what is None:
        return []
    if isinstance(what, str | int):
        return [str(what).strip()]
    known = [name for name, thing in namespace.items() if thing is what and not name.startswith("_")]
    return [*known, str(getattr(what, "__name__", f"an object of class {type(what).__name__}"))]


def _near(start: Path, homework: str | None) -> Iterator[list[Path]]:
    """Yield groups of folders that may be a homework's, the nearest first."""
    for base in (start, *start.parents):
        yield [base]
        if homework is None:
            inside = [*base.glob(f"*/{EXAMPLES}"), *base.glob(f"assignments/*/{EXAMPLES}")]
            yield sorted(file.parent for file in inside)
        else:
            yield [base / homework, base / "assignments" / homework]


def _homeworks(folders: Sequence[Path], start: Path, homework: str | None) -> Iterator[Asked]:
    """Yield each of the folders that is a homework's, if it has the name."""
    for folder in folders:
        if (folder / EXAMPLES).is_file():
            try:
                handout = read_handout(folder)
            except ConfigError:
                if homework is None and folder != start:
                    continue  # examples of something else
                raise
            if homework in (None, handout.homework):
                yield Asked(folder, handout)


def _named(place: Asked, names: Sequence[str]) -> Asked | None:
    """Return what of a homework has one of these names; None if nothing has."""
    parts = place.handout.parts
    numbers = {part.number for part in parts}
    functions = {name for part in parts for name in (*part.functions, *part.roots)}
    for name in names:
        if name == place.handout.homework:
            return place
        if name in numbers:
            return replace(place, part=name)
        if name in functions:
            return replace(place, function=name)
    return None if names else place


def _one_of(fitting: Sequence[Asked], names: Sequence[str], namespace: Mapping[str, Any]) -> Asked:
    """Return the one of which the notebook has most functions. Raise UsageError if several have as many."""
    written = [len(namespace.keys() & set(found.handout.wanted)) for found in fitting]
    most = [found for found, count in zip(fitting, written, strict=True) if count == max(written)]
    if len(most) == 1:
        return most[0]
    homeworks = [found.handout.homework for found in most]
    first, what = homeworks[0], most[0].function or most[0].part or ""
    call = f'softmark.check("{what}", homework="{first}")' if what else f'softmark.check("{first}")'
    asked = f"{what} is asked for by" if what else "here are"
    raise UsageError(
        f"{asked} several homeworks, {', '.join(homeworks)}: name one, as in {call} or %check {first} {what}".rstrip()
    )


def _not_found(seen: Sequence[Asked], names: Sequence[str], homework: str | None, start: Path) -> UsageError:
    if not seen:
        whose = f"of {homework!r} " if homework else ""
        return UsageError(
            f"the public tests {whose}are not in {start}, nor in a folder inside it or around it: "
            "put the homework's folder beside the notebook, or go to it with %cd FOLDER"
        )
    name, nearest = names[-1], seen[0].handout
    if len(seen) > 1 and seen[0].folder != start:
        return UsageError(f"no homework here asks for {name}: {', '.join(s.handout.homework for s in seen)}")
    if name[:1].isdigit():
        numbers = ", ".join(part.number for part in nearest.parts)
        return UsageError(f"{nearest.homework} has no part {name!r}; its parts are {numbers}")
    functions = ", ".join(part.function for part in nearest.parts)
    return UsageError(f"{nearest.homework} does not ask for {name}; it asks for {functions}")
