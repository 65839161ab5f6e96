"""Tries each function of a homework wrong under one condition at a time (conditions.py).

The reference is graded once for each function, and prints the facts of every call. A condition that holds in no call of
the function's own part is a hole at once. For the others the reference is graded with that function a percent off while
the condition holds. If it keeps full marks, the cell of the table is a hole. Conditions that hold in the same calls
make the same submission, which is graded once.
"""

from __future__ import annotations

import base64
import json
import runpy
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from softmark.authoring import conditions, facts
from softmark.authoring.conditions import RECORD, Condition, conditions_for, seen_in
from softmark.authoring.facts import Facts, ObservedFunction
from softmark.authoring.gaps import Verification
from softmark.authoring.variants import Variant
from softmark.course.homework import Homework
from softmark.records.errors import UsageError
from softmark.records.result import Result

CAUGHT, HOLE, EXCLUDED = "caught", "hole", "excluded"
_ALWAYS = "in every call"


@dataclass(frozen=True)
class TableCell:
    """One function under one condition, and the submission that is wrong then; none if no call meets it."""

    function: str
    condition: str
    parts: tuple[str, ...]
    variant: Variant | None


def recorders(homework: Homework) -> list[Variant]:
    """Return for each function a reference that prints the facts of its calls."""
    return [
        Variant("recorder", name, planted(homework, f"record(globals(), {name!r})"), parts)
        for name, parts in _functions(homework).items()
    ]


def cells(homework: Homework, recorded: Sequence[Result]) -> list[TableCell]:
    """Return the table, given the results of the recorders: a cell for each function and condition."""
    scope = runpy.run_path(str(homework.reference))
    table: list[TableCell] = []
    for (name, parts), result in zip(_functions(homework).items(), recorded, strict=True):
        calls = list(noted(name, result.printed.stdout))
        earlier = [_earlier(calls, index) for index in range(len(calls))]
        seen = seen_in(calls)
        known: dict[tuple[Any, ...], Variant] = {}
        for condition in conditions_for(ObservedFunction(scope, name), seen):
            met = tuple(index for index, now in enumerate(calls) if condition.holds(now, earlier[index]))
            for own in [(part,) for part in parts] if condition.words == _ALWAYS else [parts]:
                words = f"{condition.words} of part {own[0]}" if len(own) < len(parts) else condition.words
                key = met, condition.of_gradients, own
                if met and key not in known:
                    known[key] = _spoilt(homework, name, condition, seen, own)
                table.append(TableCell(name, words, own, known.get(key)))
    return table


def judge_cells(
    verification: Verification, homework: Homework, table: Sequence[TableCell], results: dict[Variant, Result]
) -> None:
    """Note every hole, and every exclusion that is not needed. Fill in the table of the verification."""
    excluded = dict(homework.excluded)
    for cell in table:
        subject = f"{cell.function}, {cell.condition}:"
        caught = cell.variant is not None and not _full(results[cell.variant], cell.parts)
        because = excluded.pop((cell.function, cell.condition), "")
        if caught and because:
            verification.add_gap(subject, "homework.toml excludes this, and a test compares it: remove the exclusion")
        elif cell.variant is None and not because:
            verification.add_gap(subject, "no test of its part makes such a call: add a case that compares values")
        elif not caught and not because:
            verification.add_gap(subject, "wrong answers keep full marks while this holds: compare values then")
        state = CAUGHT if caught else EXCLUDED if because else HOLE
        verification.conditions.setdefault(cell.condition, {})[cell.function] = state
    for name, words in excluded:
        verification.add_gap(f"{name}, {words}:", "homework.toml excludes this, and the table has no such cell")


def noted(function: str, printed: str) -> Iterator[Facts]:
    """Yield what a recorder has printed of each call."""
    unpackers: dict[str, Any] = {}
    for line in printed.splitlines():
        match line.split():
            case [start, process, packed] if start == RECORD:
                unpacker = unpackers.setdefault(process, zlib.decompressobj())
                yield json.loads(unpacker.decompress(base64.b85decode(packed)))
            case ["…", *_]:
                raise UsageError(f"{function} gets more calls than can be noted: raise output_bytes in [limits]")


def _full(result: Result, parts: Sequence[str]) -> bool:
    return all(test.score == test.max_score for test in result.tests if test.part in parts)


def _functions(homework: Homework) -> dict[str, tuple[str, ...]]:
    """Return the functions to try, each with the numbers of its parts; none if the homework wants no such table."""
    if not homework.conditions:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    for part in homework.parts:
        for name in part.functions:
            found[name] = (*found.get(name, ()), part.number)
    return found


def _earlier(calls: Sequence[Facts], index: int) -> list[Facts]:
    return [call for call in calls[:index] if call["test"] == calls[index]["test"]]


def _spoilt(homework: Homework, name: str, condition: Condition, seen: Facts, parts: tuple[str, ...]) -> Variant:
    call = f"spoil(globals(), {name!r}, {condition.words!r}, {seen!r})"
    return Variant("conditional", f"{name} {condition.words}", planted(homework, call), parts)


def planted(homework: Homework, call: str, *more: ModuleType) -> str:
    """Return the reference with facts.py, conditions.py and more modules behind it, and a call of the last of these."""
    source = homework.reference.read_text(encoding="utf-8")
    return f"{source}\n\n{_modules((facts, conditions, *more))}{call}\n"


@cache
def _modules(modules: tuple[ModuleType, ...]) -> str:
    """Return statements that make the modules where softmark cannot be imported."""
    lines = ["import sys as _sys, types as _types"]
    for module in modules:
        text, made = Path(str(module.__file__)).read_text(encoding="utf-8"), f"_sys.modules[{module.__name__!r}]"
        lines += [f"{made} = _types.ModuleType({module.__name__!r})", f"exec({text!r}, vars({made}))"]
    return "\n".join([*lines, f"{made}."])
