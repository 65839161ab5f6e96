"""Finds out which homework a class handed in: the wrong `-a` makes every submission a zero."""

from __future__ import annotations

from collections.abc import Sequence

from softmark.batch.jobs import wanted_by
from softmark.grading.errors import ConfigError
from softmark.grading.homework import Homework, homework_names, load_homework
from softmark.intake.choose import MOST_READ, defines_enough
from softmark.intake.definitions import defined
from softmark.intake.gather import Found, gather, look_through_zips
from softmark.intake.handed_in import Entry
from softmark.intake.slips import ending
from softmark.intake.source import Refusal
from softmark.intake.submission import Submission
from softmark.intake.wanted import Wanted

MOST_ENTRIES = 200


def other_homework(entries: Sequence[Entry], homework: Homework) -> str:
    """Return a sentence that names the homework most of the class handed in; empty if that is no other one."""
    handed_in = [programs for entry in entries[:MOST_ENTRIES] if (programs := _programs(entry))]
    foreign = [programs for programs in handed_in if not any(_defines_any(f, homework.wanted) for f in programs)]
    if 2 * len(foreign) <= len(handed_in):
        return ""
    fitting = {name: _number_of(foreign, wanted) for name, wanted in _others(homework).items()}
    best = max(fitting, key=lambda name: fitting[name], default="")
    if not best or 2 * fitting[best] <= len(handed_in):
        return ""
    who = "the submission defines" if len(handed_in) == 1 else f"{len(foreign)} of {len(handed_in)} submissions define"
    return f"{who} none of the functions of {homework.name}; did you mean -a {best}?"


def _number_of(handed_in: Sequence[list[Found]], wanted: Wanted) -> int:
    return sum(any(defines_enough(found, wanted) for found in programs) for programs in handed_in)


def _others(homework: Homework) -> dict[str, Wanted]:
    others = {}
    for name in homework_names(homework.root):
        try:
            others[name] = wanted_by(load_homework(name, homework.root))
        except ConfigError:  # of a homework that nobody asked for
            continue
    others.pop(homework.name, None)
    return others


def _programs(entry: Entry) -> list[Found]:
    """Return the Python files and notebooks of a submission; none if it cannot be looked through."""
    if not isinstance(entry.source, Submission):
        return []
    try:
        files = gather(entry.source.pieces).files
        files = files + look_through_zips([found for found in files if found.is_zip]).files
    except Refusal:
        return []
    return [found for found in files if ending(found.name)][:MOST_READ]


def _defines_any(found: Found, names: Sequence[str]) -> bool:
    try:
        return defined(found.read(), names) > 0
    except Refusal:
        return False
