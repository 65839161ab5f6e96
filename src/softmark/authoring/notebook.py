"""Makes a homework's notebook out of its source text and its handout.

The source text may be the starter or the reference: the notebook runs from top to bottom with either. It has the whole
handout: at the top what stands before the parts, for each part its section, its code and a cell that checks the code,
and below the parts what is left. Cells that are not the student's work have the tag `softmark`, so a reader of
handed-in notebooks can leave them out. The same texts make the same bytes.

A cell that checks calls a function, and names homework and part: `check("attention_scores", part="3")`. It runs in
every kernel, also where nothing of the part is defined yet, or where several homeworks lie in one folder. And Python
can read the file that Jupyter makes of the notebook.

A section of the handout whose heading ends with "(not graded)" stands at the end of the notebook. Its blocks marked
`ipython` are cells, for lines that only a notebook understands, such as `%run`. Grading leaves such lines out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from softmark.authoring.starter import title_and_text
from softmark.course.homework import Homework, Part
from softmark.records.errors import ConfigError
from softmark.records.points import shown

TAG = "softmark"
_BANNER = re.compile(r"^# -{20,}\n((?:# .*\n)+)# -{20,}\n", re.MULTILINE)
_HEADING = re.compile(r"^## +(.*?) *$", re.MULTILINE)
_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_NOT_GRADED = " (not graded)"
_CELL = re.compile(r"^```ipython\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_OF_A_PART = re.compile(r"Part ([\w.]+): .*\((\S+) points?\)")
_RULE = "What you may use"
_MARKS = re.compile(r"\**[\d.]+ points · [^\n]+(?:\n\n|$)")

_HOW = """\
{points} points. This notebook is handed in (or the file `{file}`: hand in one of them). Replace every
`raise NotImplementedError(...)` by your own code and keep the names and the arguments as they are. The cell after each
part checks it; parts that you have not written yet disturb nothing."""

_INSTALL = """\
# This installs what the notebook needs, the first time it runs. In Colab, upload {homework}.zip before (the folder on
# the left), and type into a cell of its own: !unzip -nj {homework}.zip
import os

if os.path.exists("install.py"):
    %run install.py"""
"""In a course's own folders there is no `install.py`, and nothing to install. Grading leaves out the line with `%`."""

_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


@dataclass(frozen=True)
class ReadmeSections:
    """The README of a homework: its title, the text below the title, and the text below each heading."""

    title: str
    introduction: str
    sections: dict[str, str]


def notebook(source: str, readme: str, homework: Homework) -> bytes:
    """Return the notebook, as a file in nbformat 4.5."""
    handout = read_readme(readme, homework)
    title, text, code = title_and_text(source, homework)
    before, parts = _split(code, homework)
    remarks = [f"# {line}".rstrip() for line in (title, "", *text.splitlines())]
    how = _HOW.format(points=shown(homework.points), file=homework.file)
    opening, closing = _around_the_parts(handout)
    cells = [
        _markdown("title", "\n\n".join([f"# {handout.title}", how, *opening])),
        _code("install", _INSTALL.format(homework=homework.name), tagged=True),
        _code("softmark", "from softmark.student import check", tagged=True),
        _code("start", "\n".join([*remarks, "", before])),
    ]
    if "given" in parts:
        cells.append(_code("given", parts["given"]))
    for part in homework.parts:
        cells.append(_markdown(f"part-{part.number}-text", _section(part, handout, homework)))
        if parts.get(part.number):
            cells.append(_code(f"part-{part.number}", parts[part.number]))
        call = f'check("{homework.name}", part="{part.number}")'
        cells.append(_code(f"part-{part.number}-check", call, tagged=True))
    if closing:
        cells.append(_markdown("closing", "\n\n".join(closing)))
    cells += _not_graded(handout)
    made = new_notebook(cells=cells, metadata=_METADATA)
    nbformat.validate(made)
    return f"{nbformat.writes(made)}\n".encode()


def read_readme(readme: str, homework: Homework) -> ReadmeSections:
    """Return the handout by its headings. A `#` inside a code block is no heading."""
    title = re.match(r"# +(.*)\n", readme)
    if title is None:
        raise _wrong(homework, 1, "the first line must be the title: # Title")
    blind = _FENCE.sub(lambda block: re.sub("[^\n]", " ", block[0]), readme)
    headings = list(_HEADING.finditer(blind))
    ends = [heading.start() for heading in headings[1:]] + [len(readme)]
    sections = {
        heading[1]: readme[heading.end() : end].strip("\n") for heading, end in zip(headings, ends, strict=True)
    }
    introduction = readme[title.end() : headings[0].start() if headings else len(readme)]
    return ReadmeSections(title[1].strip(), introduction.strip("\n"), sections)


def _around_the_parts(handout: ReadmeSections) -> tuple[list[str], list[str]]:
    """Return the texts above the parts and those below them. What may be used is said above, wherever it stands."""
    opening = [text] if (text := _MARKS.sub("", handout.introduction, count=1).strip("\n")) else []
    closing: list[str] = []
    place = opening
    for heading, text in handout.sections.items():
        if _OF_A_PART.fullmatch(heading):
            place = closing
        elif not heading.endswith(_NOT_GRADED):
            (opening if heading == _RULE else place).append(f"## {heading}\n\n{text}")
    return opening, closing


def _section(part: Part, handout: ReadmeSections, homework: Homework) -> str:
    """Return the handout's section on a part. Its heading has number, title and points."""
    for heading, text in handout.sections.items():
        found = _OF_A_PART.fullmatch(heading)
        if found is None or found[1] != part.number:
            continue
        if found[2] != shown(part.points):
            raise _wrong(homework, 1, f"part {part.number} has {found[2]} points here, {shown(part.points)} in fact")
        return f"## {heading}\n\n{text}"
    problem = f"there is no heading “## Part {part.number}: title ({shown(part.points)} points)”"
    raise _wrong(homework, 1, problem)


def _not_graded(handout: ReadmeSections) -> list[NotebookNode]:
    """Return the cells of the sections that are not graded: their text, and the blocks in it that are code."""
    cells = []
    for number, heading in enumerate((name for name in handout.sections if name.endswith(_NOT_GRADED)), start=1):
        pieces = _CELL.split(f"## {heading}\n\n{handout.sections[heading]}")
        for place, piece in enumerate(pieces):
            make, kind = (_code, "code") if place % 2 else (_markdown, "text")
            cells.append(make(f"extra-{number}-{kind}-{place // 2 + 1}", piece.strip("\n")))
    return [cell for cell in cells if cell["source"]]


def _split(code: str, homework: Homework) -> tuple[str, dict[str, str]]:
    """Return the text before the first banner, and the code below each one, by the part's number (or "given")."""
    before, *pieces = _BANNER.split(code)
    parts: dict[str, str] = {}
    for banner, piece in zip(pieces[::2], pieces[1::2], strict=True):
        found = re.match(r"# Part ([\w.]+):", banner)
        key = found[1] if found else "given"
        parts[key] = piece.strip("\n") if found else f"{banner}\n{piece.strip(chr(10))}"
    unknown = parts.keys() - {"given", *(part.number for part in homework.parts)}
    if unknown:
        raise ConfigError(f"reference/{homework.name}.py", 1, f"a banner names part {min(unknown)}, which there is not")
    return before.strip("\n"), parts


def _markdown(name: str, text: str) -> NotebookNode:
    cell: NotebookNode = new_markdown_cell(text, id=_id(name))
    return cell


def _code(name: str, text: str, tagged: bool = False) -> NotebookNode:
    cell: NotebookNode = new_code_cell(text, id=_id(name), metadata={"tags": [TAG]} if tagged else {})
    return cell


def _id(name: str) -> str:
    return name.replace(".", "-")


def _wrong(homework: Homework, line: int, problem: str) -> ConfigError:
    return ConfigError(f"assignments/{homework.name}/README.md", line, problem)
