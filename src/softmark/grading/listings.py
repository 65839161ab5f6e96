"""Cuts the functions that failed out of a submission, so that feedback can show them beside the explanation.

The functions are lines of text as they were handed in, found by their indentation. Nothing is parsed or run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from softmark.course.homework import Homework, Part
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Outcome, Result
from softmark.records.verdict import Category, Code, Listing, Repair, Verdict

MOST_LINES, LONGEST_LINE = 40, 160
MOST_OF_A_PART, MOST_OF_ALL = 3, 12
_BEFORE, _AFTER = 16, 8
"""The lines before and after a marked line that are shown if a function is longer than MOST_LINES."""
_DEF = re.compile(r"([ \t]*)(?:async[ \t]+)?def[ \t]+(\w+)")
_CLOSING = re.compile(r"[)\]}]")
_SAYS_ALL = (Code.NOT_DEFINED, Code.NOT_WRITTEN, Code.WAITS, Code.NOT_TRIED, Code.WRONG_ARGUMENTS)
"""The codes of failures that no line of a function's body explains."""


def listings_of(result: Result, handed: SubmittedFiles, homework: Homework) -> tuple[Listing, ...]:
    """Return the functions behind the failures of each part, with the lines marked that are known."""
    found: list[Listing] = []
    for part in homework.parts:
        failed = [test for test in result.tests if test.part == part.number and test.outcome is Outcome.FAILED]
        verdicts = [verdict for test in failed for verdict in test.verdicts if verdict.code not in _SAYS_ALL]
        repairs = [test.repair for test in failed if test.repair is not None]
        found += list(_of_part(part, verdicts, repairs, handed))[:MOST_OF_A_PART]
    return tuple(found[:MOST_OF_ALL])


def _of_part(
    part: Part, verdicts: Sequence[Verdict], repairs: Sequence[Repair], handed: SubmittedFiles
) -> Iterator[Listing]:
    """Yield the functions with marked lines, of exceptions and of repairs, then the other wrong functions.

    For an exception, the innermost line in the part's own functions is marked, because a function that they call may be
    right.
    """
    marked: dict[tuple[str, int], set[int]] = {}
    for repair in repairs:
        start = _start(handed.lines(repair.file), repair.line)
        if start:
            marked.setdefault((repair.file, start), set()).add(repair.line)
    for verdict in verdicts:
        of_part = [frame for frame in verdict.frames if handed.around(frame.file, frame.line) in part.roots]
        for frame in (of_part or verdict.frames)[-1:]:
            start = _start(handed.lines(frame.file), frame.line)
            if start:
                marked.setdefault((frame.file, start), set()).add(frame.line)
    for (file, start), lines in marked.items():
        yield _listing(part, handed, file, start, lines)
    if any(not verdict.frames and verdict.category is not Category.GRADER for verdict in verdicts):
        for name in part.functions:
            place = _place(name, handed)
            if place is not None and place not in marked:
                yield _listing(part, handed, *place, set())


def _place(name: str, handed: SubmittedFiles) -> tuple[str, int] | None:
    """Return file and line of a function; for a class, of the named method or of `forward`."""
    cls, _, method = name.partition(".")
    place = handed.place_of(cls)
    if place is None:
        return None
    file, line = place
    lines = handed.lines(file)
    if _DEF.match(lines[line - 1]):
        return place
    body = range(line, _end(lines, line, 0))
    own = [(number, found[2]) for number in body if (found := _DEF.match(lines[number - 1]))]
    return next(((file, number) for number, known in own if known == (method or "forward")), None)


def _start(lines: Sequence[str], number: int) -> int:
    """Return the line of the innermost `def` around a line; 0 if there is none."""
    if not 1 <= number <= len(lines):
        return 0
    if _DEF.match(lines[number - 1]):
        return number
    indent = _indent(lines[number - 1])
    for above in range(number - 1, 0, -1):
        text = lines[above - 1]
        if not text.strip() or _CLOSING.match(text.lstrip()):
            continue
        found = _DEF.match(text)
        if found and len(found[1]) < indent:
            return above
        if _indent(text) == 0 and not found:
            return 0
    return 0


def _end(lines: Sequence[str], start: int, indent: int) -> int:
    """Return the number of the line after a block that begins at `start` and is indented more than `indent`."""
    last = start
    for number in range(start + 1, len(lines) + 1):
        text = lines[number - 1]
        if text.strip() and _indent(text) <= indent and not _CLOSING.match(text.lstrip()):
            break
        last = number if text.strip() else last
    return last + 1


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _listing(part: Part, handed: SubmittedFiles, file: str, start: int, marked: set[int]) -> Listing:
    lines = handed.lines(file)
    numbers = list(range(start, _end(lines, start, _indent(lines[start - 1]))))
    if len(numbers) > MOST_LINES:
        middle = min(marked, default=start)
        wanted = {start, *range(middle - _BEFORE, middle + _AFTER + 1)} if marked else set(numbers[:MOST_LINES])
        numbers = [number for number in numbers if number in wanted]
    texts = tuple(lines[number - 1].rstrip()[:LONGEST_LINE] for number in numbers)
    return Listing(part.number, file, tuple(numbers), texts, tuple(sorted(marked)))
