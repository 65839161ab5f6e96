"""Chooses the words about a result, as blocks of plain text; the renderers only lay them out.

The reader decides what is in it. Of every test that they may know of, a student sees what went wrong, the likely cause
and their own line of code. They see numbers of hidden inputs only in tests that are always visible. Staff see all.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from softmark.feedback.escape import cut, message, one_line
from softmark.feedback.excuse_words import excuses
from softmark.feedback.told_once import alike, reasons_of, told_before, without_sizes
from softmark.records.points import shown
from softmark.records.result import Outcome, PartResult, Result, Status, TestResult
from softmark.records.verdict import Category, Cause, Code, CodeLine, Lines, Listing, Picture, Repair, Verdict

MOST_DIFFERENT_FAILURES = 3
MOST_FRAMES = 2
MOST_BYTES_OF_SENTENCE = 500
MOST_BYTES_OF_CODE = 200


_STAFF_MATTERS = (Category.GRADER, Category.CRASH, Category.FORBIDDEN)
"""Categories whose text for staff is worth a line in a report: a fault, or a worker's own words. The text of others
(seeds, ratios) is in the Result."""


class Audience(Enum):
    """The reader of a report."""

    STUDENT = "student"
    STAFF = "staff"


class Tone(Enum):
    """The purpose of a sentence; a renderer gives each its own look."""

    FACT = "fact"
    WHERE = "where"
    CAUSE = "cause"
    HINT = "hint"
    NOTE = "note"
    STAFF = "staff"


@dataclass(frozen=True)
class Sentence:
    """A sentence or two, with a word before it ("Most likely") where there is one."""

    tone: Tone
    text: str
    lead: str = ""


Block = Sentence | CodeLine | Picture | Lines

GRADER_FAILED_HERE = Sentence(
    Tone.NOTE, "The grader itself failed here. This is not your fault, and it does not count against you."
)


@dataclass(frozen=True)
class Section:
    """One test that there is something to say about."""

    number: str
    title: str
    score: float
    max_score: float
    outcome: Outcome
    blocks: tuple[Block, ...]
    listings: tuple[Listing, ...] = ()
    """The student's functions that it is about. Only a page has room for them."""

    def lists(self, code: CodeLine) -> bool:
        """Return whether a line is marked in one of the listings."""
        return any(code.file == listing.file and code.line in listing.marked for listing in self.listings)


@dataclass(frozen=True)
class PartLine:
    """One line of the table of parts."""

    number: str
    title: str
    earned: float
    points: float
    outcome: Outcome
    remark: str


@dataclass(frozen=True)
class Feedback:
    """All feedback on a result. `headline` is to be read first: why nothing, or not everything, was graded."""

    title: str
    submission: str
    headline: tuple[Block, ...]
    parts: tuple[PartLine, ...]
    total: float
    points: float
    sections: tuple[Section, ...]
    notes: tuple[Sentence, ...]
    mark: float = 0.0
    """The mark that counts: the total, less the price of lateness, with the points that the staff add or take off."""
    changes: tuple[str, ...] = ()
    """The reasons why the mark differs from the total: lateness, and decisions of the staff."""


def feedback_for(result: Result, audience: Audience) -> Feedback:
    """Return the feedback on a result for this audience."""
    sections = () if result.status is Status.NOT_GRADABLE else tuple(_sections(result, audience))
    return Feedback(
        title=one_line(result.title),
        submission=one_line(result.submission.name or result.submission.file or result.submission.id),
        headline=headline(result),
        parts=tuple(_part_line(part, result, sections) for part in result.parts),
        total=result.total,
        points=result.max_score,
        sections=sections,
        notes=tuple(_notes(result, audience)),
        mark=result.mark,
        changes=tuple(one_line(change) for change in _changes(result) if change),
    )


def _changes(result: Result) -> tuple[str, str]:
    late, adjustment = result.lateness, result.adjustment
    return late.line if late else "", adjustment.line if adjustment else ""


def headline(result: Result) -> tuple[Block, ...]:
    """Return why nothing could be graded, or that the grader failed; empty if all went well."""
    blocks: list[Block] = []
    if result.status is Status.GRADER_ERROR:
        said = "The grader itself failed. This is not your fault and not your mark; the staff can see why."
        blocks.append(Sentence(Tone.NOTE, said))
    if result.reason:
        blocks.append(Sentence(Tone.FACT, _short(result.reason)))
    if result.kept:
        blocks.append(Sentence(Tone.NOTE, "The mark of your earlier attempt stands."))
    blocks.extend(_code(result.reason_frames))
    return tuple(blocks)


def blocks_of_test(test: TestResult, audience: Audience, told: TestResult | None = None) -> tuple[Block, ...]:
    """Return the blocks about one test; for a student in short if a test of an earlier part has told all of it."""
    at_fault = test.outcome is Outcome.GRADER_ERROR
    if audience is Audience.STUDENT and test.hide_errors is not None:
        if at_fault:
            return (GRADER_FAILED_HERE,)
        wrong = test.outcome is Outcome.FAILED or test.verdicts
        return (Sentence(Tone.FACT, message(test.hide_errors)),) if wrong else ()
    if told is not None and audience is Audience.STUDENT:
        what = "mistake" if test.verdicts[0].causes else "exception"
        said = f"The same {what} as in {one_line(told.number)}, of part {one_line(told.part)}: mend that first."
        return (Sentence(Tone.FACT, said), *_notes_of(test))
    blocks: list[Block] = []
    if at_fault and not test.verdicts:
        blocks.append(GRADER_FAILED_HERE)
    for group in alike(test)[:MOST_DIFFERENT_FAILURES]:
        drawn = any(isinstance(block, Picture | Lines) for block in blocks)
        blocks.extend(_verdict(group, test, audience, draw=not drawn))
    more = len(alike(test)) - MOST_DIFFERENT_FAILURES
    if more > 0:
        blocks.append(Sentence(Tone.NOTE, f"And {more} more {'failure' if more == 1 else 'failures'}."))
    if test.outcome is Outcome.FAILED and not test.verdicts and test.score:
        said = f"This test gives partial credit: {shown(test.score)} of {shown(test.max_score)}."
        blocks.append(Sentence(Tone.NOTE, said))
    if test.repair is not None:
        blocks.extend(block for block in _repair(test.repair, audience) if block not in blocks)
    blocks.extend(_notes_of(test))
    if test.all_or_nothing and test.outcome is Outcome.FAILED and len(test.cases) > 1:
        blocks.append(Sentence(Tone.NOTE, "All of its cases must be right to earn its points."))
    return tuple(blocks)


def _sections(result: Result, audience: Audience) -> Iterable[Section]:
    """Return one section for each thing there is to say in a part; tests that say the same again are named in it."""
    said: dict[tuple[object, ...], list[Section]] = {}
    told = told_before(result)
    unlisted = list(result.listings)
    for test in result.tests:
        if audience is Audience.STUDENT and test.visibility == "hidden":
            continue
        blocks = blocks_of_test(test, audience, told.get(test.name))
        if blocks:
            section = Section(
                number=one_line(test.number),
                title=one_line(test.title),
                score=test.score,
                max_score=test.max_score,
                outcome=test.outcome,
                blocks=blocks,
                listings=tuple(_listings(test, unlisted, blocks)),
            )
            said.setdefault((test.part, test.outcome, *_essence(test, blocks)), []).append(section)
    for first, *others in said.values():
        again = ", ".join(f"{o.number} ({shown(o.score)} of {shown(o.max_score)})" for o in others)
        note = (Sentence(Tone.NOTE, again, lead="The same in"),) if others else ()
        yield replace(first, blocks=(*first.blocks, *note))


def _listings(test: TestResult, unlisted: list[Listing], blocks: Sequence[Block]) -> Iterable[Listing]:
    """Yield the listings that belong to the blocks of a test, and take them from the list: each is shown once."""
    places = {(block.file, block.line) for block in blocks if isinstance(block, CodeLine)}
    without_line = any(not verdict.frames for verdict in test.verdicts) and test.hide_errors is None
    for listing in [listing for listing in unlisted if listing.part == test.part]:
        if places & {(listing.file, line) for line in listing.marked} or (without_line and not listing.marked):
            unlisted.remove(listing)
            yield listing


def _essence(test: TestResult, blocks: Sequence[Block]) -> tuple[object, ...]:
    """Return what makes two tests say the same: causes, exceptions with their lines, or else facts; and notes.

    A single number that is wrong is not drawn. So it is told for each test: it may be another one for another reason.
    """
    sentences = [block for block in blocks if isinstance(block, Sentence)]
    causes = tuple(block.text for block in sentences if block.tone is Tone.CAUSE)
    notes = tuple(block.text for block in sentences if block.tone is Tone.NOTE)
    reasons = reasons_of(test) if test.hide_errors is None else ()
    facts = tuple(without_sizes(block.text) for block in sentences if block.tone is Tone.FACT)
    code = tuple(block for block in blocks if isinstance(block, CodeLine))
    is_drawn = any(isinstance(block, Picture | Lines) for block in blocks)
    numbers = () if is_drawn else tuple(block.text for block in sentences if block.tone is Tone.WHERE)
    return causes or ((reasons, notes) if reasons else (facts, notes, code, numbers))


def _verdict(group: Sequence[Verdict], test: TestResult, audience: Audience, *, draw: bool) -> Iterable[Block]:
    """Yield the blocks about failures that say the same; with `draw` also the picture or the lines.

    One drawing in a test is enough.
    """
    verdict = group[0]
    may_see_numbers = audience is Audience.STAFF or test.visibility == "visible"
    yield Sentence(Tone.FACT, _short(verdict.fact), lead=_which(group, test))
    if verdict.where and may_see_numbers:
        yield Sentence(Tone.WHERE, _short(verdict.where))
    yield from _causes(verdict.causes)
    yield from _code(verdict.frames)
    if draw and may_see_numbers:
        yield from (drawn for drawn in (verdict.picture, verdict.lines) if drawn is not None)
    matters = verdict.category in _STAFF_MATTERS or verdict.code == Code.NOT_PLAIN
    if verdict.staff and audience is Audience.STAFF and matters:
        yield Sentence(Tone.STAFF, message(verdict.staff), lead="For staff")


def _which(group: Sequence[Verdict], test: TestResult) -> str:
    """Return which of several cases a failure is about."""
    cases = sum(any(verdict in group for verdict in case.verdicts) for case in test.cases)
    subtest = one_line(group[0].subtest)
    if subtest and len(group) == 1:
        return subtest
    if len(test.cases) > 1 and not subtest:
        return f"{cases} of {len(test.cases)} cases"
    return f"{len(group)} times" if len(group) > 1 else ""


def _causes(causes: Sequence[Cause]) -> Iterable[Sentence]:
    """Return the causes that fit. Mistakes made in two functions may be called the same: then it is said once."""
    causes = list({cause.says: cause for cause in reversed(causes)}.values())[::-1]
    for index, cause in enumerate(causes):
        lead = "Most likely" if len(causes) == 1 else "Either" if index == 0 else "Or"
        yield Sentence(Tone.CAUSE, message(cause.says), lead=lead)
        if cause.hint:
            yield Sentence(Tone.HINT, message(cause.hint), lead="Hint")


def _code(frames: Sequence[CodeLine]) -> Iterable[CodeLine]:
    """Yield the innermost lines, each once: a recursion passes through the same line many times."""
    for frame in list(dict.fromkeys(frames))[-MOST_FRAMES:]:
        text = cut(one_line(message(frame.text)), MOST_BYTES_OF_CODE)
        yield CodeLine(cut(one_line(message(frame.file)), MOST_BYTES_OF_CODE), frame.line, "", text)


def _short(text: str) -> str:
    """Return a fact so short that it leaves room for the cause, the hint and the student's line after it."""
    return cut(message(text), MOST_BYTES_OF_SENTENCE)


def _repair(repair: Repair, audience: Audience) -> Iterable[Block]:
    """Yield the line to look at, and the kind of slip if the homework tells it. Only staff read the edit itself."""
    place = f"Line {repair.line}" if repair.file.endswith(".py") else f"{one_line(repair.file)}, line {repair.line}"
    says = repair.says or "look here first: a small change of this line makes all tests of this part pass."
    yield Sentence(Tone.CAUSE, _short(f"{place}: {says}"))
    yield from _code([CodeLine(repair.file, repair.line, "", repair.text)])
    if audience is Audience.STAFF:
        yield Sentence(Tone.STAFF, f"All tests of the part pass with {_short(repair.edit)}", lead="For staff")


def _notes_of(test: TestResult) -> Iterable[Sentence]:
    """Yield which mistakes of earlier parts cost nothing in a test, and what it did not judge."""
    for excuse in excuses(test):
        yield Sentence(Tone.NOTE, excuse)
    if test.unfollowed:
        own = " and ".join(one_line(name) for name in test.unfollowed)
        yield Sentence(Tone.NOTE, f"Not judged: whether {own} works on any device. This costs no marks.")


def _part_line(part: PartResult, result: Result, sections: Sequence[Section]) -> PartLine:
    tests = [test for test in result.tests if test.part == part.number]
    numbers = {one_line(test.number) for test in tests}
    outcomes = {test.outcome for test in tests}
    worst = next((outcome for outcome in _WORST_FIRST if outcome in outcomes), Outcome.PASSED)
    said = [section for section in sections if section.number in numbers]
    remark = _remark(said)
    if not remark and Outcome.NOT_RUN in outcomes and not result.reason:
        remark = "not run yet"
    return PartLine(
        number=one_line(part.number),
        title=one_line(part.title),
        earned=part.earned,
        points=part.points,
        outcome=worst,
        remark=remark,
    )


_WORST_FIRST = (Outcome.GRADER_ERROR, Outcome.FAILED, Outcome.NOT_RUN)


def _remark(sections: Sequence[Section]) -> str:
    """Return one line for a part: the cause if one is known, else the first fact, else the first note."""
    sentences = [block for section in sections for block in section.blocks if isinstance(block, Sentence)]
    for tone in (Tone.CAUSE, Tone.FACT, Tone.NOTE):
        for sentence in sentences:
            if sentence.tone is tone:
                return one_line(sentence.text)
    return ""


def _notes(result: Result, audience: Audience) -> Iterable[Sentence]:
    for note in result.notes:
        yield Sentence(Tone.NOTE, message(note))
    if audience is Audience.STUDENT:
        kept_back = sum(test.visibility == "hidden" for test in result.tests)
        if kept_back:
            tests = "1 test is" if kept_back == 1 else f"{kept_back} tests are"
            yield Sentence(Tone.NOTE, f"{tests} not shown here.")
        return
    about_time = (result.lateness.staff_note,) if result.lateness and result.lateness.staff_note else ()
    for note in (*result.staff_notes, *about_time):
        yield Sentence(Tone.STAFF, message(note), lead="For staff")
    for stream, text in (("stdout", result.printed.stdout), ("stderr", result.printed.stderr)):
        if text.strip():
            yield Sentence(Tone.STAFF, message(text), lead=f"Printed to {stream}")
