"""Chooses the file of a submission that is graded: the expected one, or what is plainly meant to be it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from softmark.intake.budget import TooMuchToRead
from softmark.intake.definitions import defined, unfinished
from softmark.intake.gather import Found, Gathered
from softmark.intake.location import FILE
from softmark.intake.misspellings import ending, is_slip
from softmark.intake.names import key, nfc
from softmark.intake.source import Refusal
from softmark.intake.wanted import Wanted

MOST_LISTED, MOST_READ = 8, 40


@dataclass(frozen=True)
class Main:
    """The chosen file and the name it is graded as."""

    found: Found
    graded_as: str
    content: bytes
    notes: tuple[str, ...] = ()
    told: tuple[Found, ...] = ()
    """Other files that the notes name."""


def exact(files: Sequence[Found], name: str) -> list[Found]:
    """The files of exactly this name that lie least deep."""
    named = [found for found in files if nfc(found.name) == nfc(name)]
    return [found for found in named if len(found.path) == len(named[0].path)]


def choose(gathered: Gathered, wanted: Wanted) -> Main:
    """The file to grade; Refusal with what was found and what is expected."""
    files = gathered.files
    refuse_twins(files)
    exactly = exact(files, wanted.file) + exact(files, wanted.notebook)
    slips = [found for found in files if _is_slip(found, wanted)]
    if exactly:
        return _beside_slips(_one_of(exactly, wanted), slips)
    if slips:
        return _one_of([found for found in slips if len(found.path) == len(slips[0].path)], wanted)
    misnamed = _that_define_enough(files, wanted)
    if misnamed:
        return _one_of(misnamed, wanted)
    if any(folder and folder[-1] == wanted.file for folder in gathered.folders):
        raise Refusal(f"{wanted.file} is a folder, not a file")
    if files and all(found.item.kind != FILE for found in files):
        files[0].read()  # says what it is instead
    raise Refusal(f"expected {wanted.file}; found {listed(files)}")


def _is_slip(found: Found, wanted: Wanted) -> bool:
    expected = (wanted.file, wanted.notebook)
    return nfc(found.name) not in map(nfc, expected) and any(is_slip(found.name, name) for name in expected)


def _beside_slips(main: Main, slips: Sequence[Found]) -> Main:
    """A student who handed in `hw (1).py` as well may have meant that one: they are told."""
    if not slips:
        return main
    note = f"{listed(slips)} was not graded, because `{main.found.shown}` is there"
    return replace(main, notes=(*main.notes, note), told=(*main.told, *slips[:MOST_LISTED]))


def listed(files: Sequence[Found]) -> str:
    """The files by name, for a sentence."""
    names = [found.shown for found in files[:MOST_LISTED]]
    more = len(files) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "") or "nothing"


def refuse_twins(files: Sequence[Found]) -> None:
    """Two files that are one on some systems: a reviewer would read the one and a grader run the other."""
    by_key: dict[tuple[str, ...], list[Found]] = defaultdict(list)
    for found in files:
        if ending(found.name):
            by_key[tuple(map(key, found.path))].append(found)
    for twins in by_key.values():
        if len(twins) > 1:
            other = "" if twins[0].path == twins[1].path else f" and {twins[1].shown}"
            raise Refusal(f"there are two files named {twins[0].shown}{other}: hand in one of them")


def _one_of(candidates: Sequence[Found], wanted: Wanted) -> Main:
    """The only candidate, or of one Python file and one notebook the one that is further on."""
    python = _the_only([found for found in candidates if ending(found.name) == ".py"], wanted)
    notebook = _the_only([found for found in candidates if found.is_notebook], wanted)
    if python and notebook:
        return _further_on(_main(python, wanted), _main(notebook, wanted), wanted)
    found = python or notebook
    assert found is not None, "whoever asks has a candidate"
    return _main(found, wanted)


def _further_on(python: Main, notebook: Main, wanted: Wanted) -> Main:
    other, better = sorted((notebook, python), key=lambda main: _progress(main, wanted))  # of equals, Python
    (names, left, modified), (fewer, more_left, earlier) = _progress(better, wanted), _progress(other, wanted)
    if names > fewer:
        why = f"it defines {names} of the {len(wanted.names)} names that are asked for, the other {fewer}"
    elif left > more_left:
        why = "less of it is left as it was in the starter"
    else:
        why = "it is the newer one" if modified > earlier else "both define the same names"
    note = f"`{better.found.shown}` was graded, not `{other.found.shown}`: {why}"
    return replace(better, notes=(*better.notes, note), told=(other.found,))


def _progress(main: Main, wanted: Wanted) -> tuple[int, int, float]:
    return defined(main.content, wanted.names), -unfinished(main.content), main.found.item.modified


def _the_only(candidates: Sequence[Found], wanted: Wanted) -> Found | None:
    if len(candidates) > 1 and len({sha256(found.read()).digest() for found in candidates[:MOST_READ]}) > 1:
        raise Refusal(
            f"expected {wanted.file}; found {listed(candidates)}, and which one is meant is not clear: hand in one file"
        )
    return candidates[0] if candidates else None


def _that_define_enough(files: Sequence[Found], wanted: Wanted) -> list[Found]:
    """Files of any name that define at least half of what is asked for."""
    programs = [found for found in files if ending(found.name) and found.item.kind == FILE]
    enough = [found for found in programs[:MOST_READ] if defines_enough(found, wanted)]
    if any(found.budget.is_spent for found in programs):
        raise TooMuchToRead
    return enough


def defines_enough(found: Found, wanted: Wanted) -> bool:
    """Return whether a file defines at least half of what is asked for."""
    try:
        number = defined(found.read(), wanted.names)
    except Refusal:  # neither its name nor its text says that it is meant
        return False
    return number > 0 and 2 * number >= len(wanted.names)


def _main(found: Found, wanted: Wanted) -> Main:
    graded_as = wanted.notebook if found.is_notebook else wanted.file
    renamed = nfc(found.name) != nfc(graded_as)
    return Main(found, graded_as, found.read(), (f"`{found.shown}` was graded as `{graded_as}`",) if renamed else ())
