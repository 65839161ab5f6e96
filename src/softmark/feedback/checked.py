"""Chooses the words about the public tests on a student's own machine, where feedback.py has the words of grading.

There are no points, but counts of tests. A cause is told once: the table says where to read it. A failed test also has
the call behind it and what the code printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from softmark.feedback.escape import cut, message, one_line
from softmark.feedback.feedback import Audience, Block, Feedback, PartLine, Section, Sentence, Tone, feedback_for
from softmark.feedback.matrices import in_digits
from softmark.feedback.picture import marked
from softmark.records.points import shown
from softmark.records.result import CaseResult, Outcome, Result, TestResult
from softmark.records.verdict import Category, Code, FailedCall, Lines, Picture

_MOST_PRINTED = 12
_WIDEST_PRINTED = 200
_UNCALLED = (Code.NOT_DEFINED, Code.NOT_WRITTEN, Code.WRONG_ARGUMENTS)
"""Codes of failures that the inputs of a call do not explain."""


@dataclass(frozen=True)
class Occasion:
    """The facts about a check beside its result."""

    points: Mapping[str, float] = field(default_factory=dict)
    """The points of each part in grading; none if they are not known."""
    changes: tuple[str, ...] = ()
    """Sentences about the parts that have changed since the last check."""
    command: str = ""
    """The command that was typed, without --part; empty if it was no command."""
    at: str = ""
    """The time of the check, where it is repeated at every save."""
    hand_in: str = ""
    """The file to hand in when all tests pass."""


def check_feedback(result: Result, occasion: Occasion | None = None) -> Feedback:
    """Return the feedback, without sections on what was not run, and without points."""
    occasion = occasion or Occasion()
    everything = feedback_for(result, Audience.STUDENT)
    told = {section.number: section for section in everything.sections if section.outcome is not Outcome.NOT_RUN}
    sections = list(_sections(result, told, occasion.command))
    failed = [section for section in sections if section.outcome is not Outcome.PASSED]
    parts = tuple(replace(part, remark=_remark(part, result, failed)) for part in everything.parts)
    loading = _printed(result.printed.stdout, "Printed while the file was loaded")
    return replace(everything, parts=parts, sections=tuple(sections), notes=(*everything.notes, *loading))


def _sections(result: Result, told: Mapping[str, Section], command: str) -> Iterator[Section]:
    """Yield the sections in the order of the tests. What passing tests of a part printed is one section after them."""
    for part in result.parts:
        tests = [test for test in result.tests if test.part == part.number]
        first, quiet = True, []
        for test in tests:
            section = told.get(one_line(test.number))
            if section is None or _only_follows(test):
                quiet.append(test)
                continue
            call = list(_call(test, f"{command} --part {part.number} --debug" if command and first else ""))
            first &= not call
            facts = map(_pointless, _numbers_once(section.blocks))
            blocks = (*facts, *_stopped(test), *call, *_printed(_prints(test)))
            yield replace(section, blocks=blocks)
        printed = [block for test in quiet for block in _printed(_prints(test), f"{one_line(test.number)} printed")]
        if printed:
            number, title = one_line(part.number), one_line(part.title)
            yield Section(number, title, 0.0, 0.0, Outcome.PASSED, tuple(printed[:_MOST_PRINTED]))


def _only_follows(test: TestResult) -> bool:
    """Return whether all that is said of a test is that it may follow from an earlier part. The table says it."""
    codes = {verdict.code for verdict in test.verdicts}
    return codes == {Code.FOLLOWS} and test.outcome is Outcome.FAILED


def _remark(part: PartLine, result: Result, sections: Sequence[Section]) -> str:
    """Return the remark on a part: where its failures are told, and what it waits for or follows from.

    If nothing of the part is written, it does not say which function is missing.
    """
    tests = [test for test in result.tests if test.part == part.number]
    numbers = {one_line(test.number) for test in tests}
    below = [section.number for section in sections if section.number in numbers]
    codes = [verdict.code for test in tests for verdict in test.verdicts]
    if part.outcome is Outcome.NOT_RUN and not part.earned and codes[:1] == [Code.NOT_WRITTEN]:
        return "not done yet"
    told = (Code.NOT_WRITTEN, Code.WAITS, Code.FOLLOWS)
    open_ = [one_line(verdict.fact) for test in tests for verdict in test.verdicts if verdict.code in told]
    where = [f"see {', '.join(below)}"] if below else []
    return "; ".join(dict.fromkeys([*where, *open_])) or ("" if below else part.remark)


def _pointless(block: Block) -> Block:
    """ "The same in 3.2 (0 of 1)" without the part in brackets."""
    if isinstance(block, Sentence) and block.tone is Tone.NOTE:
        return replace(block, text=re.sub(r" \([\d.]+ of [\d.]+\)", "", block.text))
    return block


def _numbers_once(blocks: Sequence[Block]) -> Iterable[Block]:
    """Return the blocks without a sentence whose numbers are drawn below it."""
    drawn = next((place for place, block in enumerate(blocks) if _tells_numbers(block)), 0)
    for place, block in enumerate(blocks[:drawn]):
        following = blocks[place + 1 : drawn]
        same_failure = not any(isinstance(later, Sentence) and later.tone is Tone.FACT for later in following)
        if isinstance(block, Sentence) and block.tone is Tone.WHERE and same_failure:
            return (*blocks[:place], *blocks[place + 1 :])
    return blocks


def _tells_numbers(block: Block) -> bool:
    """Return whether a drawing shows all wrong values, and none of them looks right when it is rounded."""
    if isinstance(block, Lines):
        return not block.first
    if not isinstance(block, Picture):
        return False
    rows = zip(block.expected, block.got, marked(block), strict=False)
    return not any(
        off and in_digits(one) == in_digits(other)
        for expected, got, wrong in rows
        for one, other, off in zip(expected, got, wrong, strict=False)
    )


def _stopped(test: TestResult) -> Iterator[Sentence]:
    """Yield what has happened to a call that gave no answer in time."""
    if any(verdict.category is Category.TIMEOUT and verdict.function for verdict in test.verdicts):
        yield Sentence(Tone.NOTE, "The call took longer than it may, here and in grading, and was stopped.")


def _call(test: TestResult, command: str) -> Iterator[Sentence]:
    """Yield the call behind a failure, and the command that opens the debugger in it."""
    case = failed_call(test)
    if case is None or case.call is None or case.verdicts[0].category is Category.FORBIDDEN:
        return
    yield Sentence(Tone.WHERE, message(call_in_words(case.call)), lead="Called")
    if command:
        yield Sentence(Tone.WHERE, command, lead="Step through it")


def failed_call(test: TestResult) -> CaseResult | None:
    """Return the first failed case with a call that has reached the student's code; None if there is none."""
    failed = [case for case in test.cases if case.outcome is Outcome.FAILED and case.call and case.verdicts]
    return next((case for case in failed if case.verdicts[0].code not in _UNCALLED), None)


def call_in_words(call: FailedCall) -> str:
    """Return a call with its arguments in short."""
    given = "; ".join(f"{name}: {value}" for name, value in zip(call.takes, call.given, strict=True))
    return f"{call.function}({', '.join(call.takes)}){f' with {given}' if given else ''}"


def _prints(test: TestResult) -> str:
    return "".join(case.printed for case in test.cases)


def _printed(text: str, lead: str = "Printed") -> Iterator[Sentence]:
    """Yield what the code printed, its first lines if it is long."""
    lines = [cut(line, _WIDEST_PRINTED) for line in message(text).rstrip().split("\n")]
    if not any(lines):
        return
    more = len(lines) - _MOST_PRINTED
    shortened = [*lines[:_MOST_PRINTED], f"… {more} more {'line' if more == 1 else 'lines'}"] if more > 0 else lines
    between = "\n" if len(lines) > 1 else ""
    yield Sentence(Tone.NOTE, between + "\n".join(shortened), lead=lead)


def closing(feedback: Feedback, result: Result, occasion: Occasion) -> Iterator[Sentence]:
    """Yield the last lines: what has changed, how many tests pass, and what is left to do when all do."""
    if occasion.changes:
        yield Sentence(Tone.NOTE, "; ".join(occasion.changes), lead="Since the last check")
    done = feedback.total == feedback.points
    summary = f"public tests: {feedback.total:g} of {feedback.points:g}; hidden tests are run later"
    yield Sentence(Tone.CAUSE if done else Tone.FACT, summary)
    if done and occasion.hand_in and not result.notes:
        said = "All public tests pass. The hidden tests ask for nothing that is not in the handout, but they look in "
        yield Sentence(Tone.FACT, f"{said}more places: other inputs and sizes, edge cases, large values.")
        pack = "softmark pack makes the file to upload, and says before whether anything will cost marks"
        yield Sentence(Tone.FACT, f"{occasion.hand_in}; {pack}", lead="To hand in")
    if occasion.at:
        yield Sentence(Tone.WHERE, f"checked at {occasion.at}; it is checked again when you save (Ctrl-C ends this)")


def worth(part: PartLine, occasion: Occasion) -> str:
    """Return the points of a part in grading."""
    points = occasion.points.get(part.number)
    return "" if points is None else shown(points)
