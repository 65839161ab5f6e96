"""Lays feedback out as a page of HTML, as Markdown, or as lines of plain text."""

import base64
import hashlib
import re
from collections.abc import Callable, Iterable
from functools import cache
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from markupsafe import Markup

from softmark.feedback.escape import message
from softmark.feedback.feedback import Block, Feedback, PartLine, Section, Sentence, Tone
from softmark.feedback.line_difference import EXPECTED, GOT, LEGEND, rows
from softmark.feedback.picture import inline
from softmark.records.points import shown
from softmark.records.result import Outcome
from softmark.records.verdict import CodeLine, Lines, Picture

_HTML_MARKS = {
    Outcome.PASSED: ("✓", "passed"),
    Outcome.FAILED: ("✗", "failed"),
    Outcome.NOT_RUN: ("·", "not run"),
    Outcome.GRADER_ERROR: ("!", "grader error"),
}


def as_html(feedback: Feedback) -> str:
    """Return the whole page."""
    style = read("feedback.css")
    return _page().render(feedback=feedback, style=Markup(style), style_hash=_hash(style))


@cache
def _page() -> Template:
    """Return the template. It is compiled once, because a class has thousands of pages."""
    return environment().from_string(read("feedback.html.jinja"))


def environment() -> Environment:
    """Return the settings of a template: everything is escaped, and templates can import each other."""
    environment = Environment(
        loader=FunctionLoader(read),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["points"] = shown
    environment.filters["plain"] = message
    environment.filters["drawn"] = lambda picture: Markup(inline(picture))
    environment.tests["sentence"] = lambda block: isinstance(block, Sentence)
    environment.tests["code"] = lambda block: isinstance(block, CodeLine)
    environment.filters["rows"] = rows
    environment.tests["lines"] = lambda block: isinstance(block, Lines)
    environment.tests["picture"] = lambda block: isinstance(block, Picture)
    environment.globals.update(marks=_HTML_MARKS, looks={EXPECTED: "expected", GOT: "got"}, legend=LEGEND)
    return environment


@cache
def read(name: str) -> str:
    """Return the text of a file of this room."""
    return files("softmark.feedback").joinpath(name).read_text(encoding="utf-8")


def _hash(style: str) -> str:
    """Return the hash of the style sheet, which the page's content policy names, so that no other can take effect."""
    return base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()


SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~$&:@^=])")
_MARKDOWN_MARKS = {Outcome.PASSED: "✓", Outcome.FAILED: "✗", Outcome.NOT_RUN: "·", Outcome.GRADER_ERROR: "!"}
PARTLY = "◐"

LinkTo = Callable[[Picture], str]


def as_markdown(feedback: Feedback, link_to: LinkTo | None = None) -> str:
    """Return the whole feedback; `link_to` stores a picture and gives its address (without it, none are shown)."""
    return "\n".join(_lines(feedback, link_to)).strip() + "\n"


def escaped(text: str) -> str:
    """Return the text, to be read as text: every character that could mean something in Markdown is escaped."""
    return "<br>".join(SPECIAL.sub(r"\\\1", line) for line in text.split("\n"))


def blocks_as_markdown(blocks: Iterable[Block], link_to: LinkTo | None = None) -> str:
    """Return some blocks, one paragraph each."""
    return "\n\n".join(written for block in blocks if (written := _block(block, link_to)))


def _lines(feedback: Feedback, link_to: LinkTo | None) -> Iterable[str]:
    yield f"# {escaped(feedback.title)}"
    yield ""
    yield f"{escaped(feedback.submission)}: **{shown(feedback.mark)} of {shown(feedback.points)} points**"
    yield ""
    if feedback.changes:
        yield f"{shown(feedback.total)} points earned. {' '.join(map(escaped, feedback.changes))}"
        yield ""
    if feedback.headline:
        yield blocks_as_markdown(feedback.headline, link_to)
        yield ""
    yield "| | part | points | |"
    yield "|---|---|---:|---|"
    for part in feedback.parts:
        yield _part(part)
    for section in feedback.sections:
        yield ""
        yield _heading(section)
        yield ""
        yield blocks_as_markdown(section.blocks, link_to)
    if feedback.notes:
        yield ""
        yield "## Notes"
        yield ""
        yield blocks_as_markdown(feedback.notes, link_to)


def _part(part: PartLine) -> str:
    points = f"{shown(part.earned)} / {shown(part.points)}"
    title = f"{escaped(part.number)} {escaped(part.title)}"
    return f"| {_sign(part.outcome, part.earned, part.points)} | {title} | {points} | {escaped(part.remark)} |"


def _heading(section: Section) -> str:
    title = f"{escaped(section.number)} {escaped(section.title)}"
    sign = _sign(section.outcome, section.score, section.max_score)
    return f"## {sign} {title} ({shown(section.score)} of {shown(section.max_score)})"


def _sign(outcome: Outcome, earned: float, points: float) -> str:
    """Return the sign of an outcome. As on the terminal and on the page, a part of the points has a sign of its own."""
    return PARTLY if outcome is Outcome.FAILED and 0 < earned < points else _MARKDOWN_MARKS[outcome]


def _block(block: Block, link_to: LinkTo | None) -> str:
    match block:
        case Sentence():
            text = escaped(block.text)
            said = f"**{text}**" if block.tone is Tone.CAUSE else text
            return f"{escaped(block.lead)}: {said}" if block.lead else said
        case CodeLine():
            return f"{escaped(block.file)}, line {block.line}:\n\n{_fenced(block.text, 'python')}"
        case Lines():
            return f"{escaped(LEGEND)}:\n\n{_fenced(chr(10).join(''.join(row) for row in rows(block)), 'diff')}"
        case Picture():
            return f"![expected, got, difference]({link_to(block)})" if link_to else ""


def _fenced(code: str, language: str) -> str:
    """Return a code block whose fence is longer than any run of backticks inside, so that nothing can close it."""
    longest = max((len(run) for run in re.findall(r"`+", code)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def as_lines(blocks: Iterable[Block]) -> str:
    """Return one line or more per block; what is drawn is left out."""
    return "\n".join(_line(block) for block in blocks if not isinstance(block, Picture | Lines))


def _line(block: Sentence | CodeLine) -> str:
    match block:
        case Sentence():
            return f"{block.lead}: {block.text}" if block.lead else block.text
        case CodeLine():
            return f"{block.place}: {block.text}"
