"""Feedback as Markdown, in which a student's text is never read as Markdown or HTML."""

import re
from collections.abc import Callable, Iterable

from softmark.feedback.feedback import Block, Feedback, PartLine, Section, Sentence, Tone
from softmark.records.points import shown
from softmark.records.result import Outcome
from softmark.records.verdict import CodeLine, Picture

SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~$&:@^=])")
MARKS = {Outcome.PASSED: "✓", Outcome.FAILED: "✗", Outcome.NOT_RUN: "·", Outcome.GRADER_ERROR: "!"}
PARTLY = "◐"

LinkTo = Callable[[Picture], str]


def as_markdown(told: Feedback, link_to: LinkTo | None = None) -> str:
    """The whole feedback; `link_to` stores a picture and gives its address (without it, none are shown)."""
    return "\n".join(_lines(told, link_to)).strip() + "\n"


def escaped(text: str) -> str:
    """The text, to be read as text: every character that could mean something in Markdown is escaped."""
    return "<br>".join(SPECIAL.sub(r"\\\1", line) for line in text.split("\n"))


def blocks_as_markdown(blocks: Iterable[Block], link_to: LinkTo | None = None) -> str:
    """Some blocks, one paragraph each."""
    return "\n\n".join(written for block in blocks if (written := _block(block, link_to)))


def _lines(told: Feedback, link_to: LinkTo | None) -> Iterable[str]:
    yield f"# {escaped(told.title)}"
    yield ""
    yield f"{escaped(told.submission)}: **{shown(told.mark)} of {shown(told.points)} points**"
    yield ""
    if told.changes:
        yield f"{shown(told.total)} points earned. {' '.join(map(escaped, told.changes))}"
        yield ""
    if told.headline:
        yield blocks_as_markdown(told.headline, link_to)
        yield ""
    yield "| | part | points | |"
    yield "|---|---|---:|---|"
    for part in told.parts:
        yield _part(part)
    for section in told.sections:
        yield ""
        yield _heading(section)
        yield ""
        yield blocks_as_markdown(section.blocks, link_to)
    if told.notes:
        yield ""
        yield "## Notes"
        yield ""
        yield blocks_as_markdown(told.notes, link_to)


def _part(part: PartLine) -> str:
    points = f"{shown(part.earned)} / {shown(part.points)}"
    title = f"{escaped(part.number)} {escaped(part.title)}"
    return f"| {_sign(part.outcome, part.earned, part.points)} | {title} | {points} | {escaped(part.remark)} |"


def _heading(section: Section) -> str:
    title = f"{escaped(section.number)} {escaped(section.title)}"
    sign = _sign(section.outcome, section.score, section.max_score)
    return f"## {sign} {title} ({shown(section.score)} of {shown(section.max_score)})"


def _sign(outcome: Outcome, earned: float, points: float) -> str:
    """As on the terminal and on the page: some of the points are not none."""
    return PARTLY if outcome is Outcome.FAILED and 0 < earned < points else MARKS[outcome]


def _block(block: Block, link_to: LinkTo | None) -> str:
    match block:
        case Sentence():
            text = escaped(block.text)
            said = f"**{text}**" if block.tone is Tone.CAUSE else text
            return f"{escaped(block.lead)}: {said}" if block.lead else said
        case CodeLine():
            return f"{escaped(block.file)}, line {block.line}:\n\n{_fenced(block.text)}"
        case Picture():
            return f"![expected, got, difference]({link_to(block)})" if link_to else ""


def _fenced(code: str) -> str:
    """A code block whose fence is longer than any run of backticks inside, so that nothing can close it."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}python\n{code}\n{fence}"
