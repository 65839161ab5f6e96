"""Finds out which homework a class handed in, because a wrong `-a` makes every submission a zero."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from softmark.course.homework import Homework, homework_names, load_homework
from softmark.intake.choose import MOST_READ, Pieces
from softmark.intake.contents import defined, gather, look_through_zips
from softmark.intake.model import Entry
from softmark.intake.names import ending
from softmark.intake.places import Refusal
from softmark.records.errors import ConfigError

MOST_ENTRIES = 200


def other_homework(entries: Sequence[Entry], homework: Homework) -> str:
    """Return a sentence that names the homework that most of the class handed in; empty if it is the right one."""
    asked = _asked(homework)
    handed_in = [found for entry in entries[:MOST_ENTRIES] if (found := _defined_by(entry, asked))]
    foreign = [found for found in handed_in if not found[homework.name]]
    if 2 * len(foreign) <= len(handed_in):
        return ""
    fitting = {name: sum(2 * found[name] >= len(names) for found in foreign) for name, names in asked.items()}
    best = max(fitting, key=lambda name: fitting[name])
    if 2 * fitting[best] <= len(handed_in):
        return ""
    who = "the submission defines" if len(handed_in) == 1 else f"{len(foreign)} of {len(handed_in)} submissions define"
    return f"{who} none of the functions of {homework.name}; did you mean -a {best}?"


def _asked(homework: Homework) -> dict[str, Sequence[str]]:
    """Return the names that each homework of the course asks for."""
    asked: dict[str, Sequence[str]] = {}
    for name in homework_names(homework.root):
        try:
            asked[name] = load_homework(name, homework.root).wanted
        except ConfigError:  # of a homework that nobody asked for
            continue
    return asked


def _defined_by(entry: Entry, asked: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return how much of each homework one file of a submission defines; nothing if there is no file to look at."""
    found: dict[str, int] = {}
    for content in _programs(entry):
        for name, names in asked.items():
            found[name] = max(found.get(name, 0), defined(content, names))
    return found


def _programs(entry: Entry) -> Iterator[bytes]:
    """Return the Python files and notebooks of a submission, as far as they can be read."""
    if not isinstance(entry.source, Pieces):
        return
    try:
        files = gather(entry.source.pieces).files
        files = files + look_through_zips([found for found in files if found.is_zip]).files
    except Refusal:
        return
    for found in [found for found in files if ending(found.name)][:MOST_READ]:
        with suppress(Refusal):
            yield found.read()
