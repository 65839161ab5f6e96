"""Turns a handout into one page of HTML that needs nothing else: no network, no script, no second file.

Formulas become MathML, which browsers draw themselves. Diagrams stay in type of one width, and what is wider than the
screen is moved sideways by itself. The colours follow the reader's light or dark mode.
"""

from __future__ import annotations

import re
from html import escape
from importlib.resources import files
from itertools import pairwise

from latex2mathml.converter import convert
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from softmark.records.errors import ConfigError

_PAGE = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
{body}</body>
</html>
"""
_FORMULAS = {"math_inline": "inline", "math_inline_double": "inline", "math_block": "block"}
_TABLE = {"table_open": '<div class="wide"><table>\n', "table_close": "</table></div>\n"}
_DELIMITERS = {
    **dict.fromkeys(("lVert", "rVert", "Vert", "|"), "‖"),
    **dict.fromkeys(("lvert", "rvert", "vert"), "|"),
    "lfloor": "⌊", "rfloor": "⌋", "lceil": "⌈", "rceil": "⌉", "langle": "⟨", "rangle": "⟩",
}  # fmt: skip
"""The brackets that the converter leaves as they are if a size stands in front of them."""
_LEFT = re.compile(r">\\([A-Za-z]+|\|)<")
_FUNCTION = re.compile(r"(<mi>(?:ln|log|exp|sin|cos|tanh)</mi>)(?=<m(?!o))")
"""A function before its argument without brackets: the converter leaves no space between them."""


def page(readme: str, name: str) -> bytes:
    """Return the page. Raise ConfigError, with the line, for a formula that cannot be turned into MathML."""
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").use(dollarmath_plugin)
    tokens = reader.parse(readme)
    for token in tokens:
        _prepare(token, name, token.map[0] + 1 if token.map else 1)
    headings = [inside.content for opening, inside in pairwise(tokens) if opening.tag == "h1"]
    body = reader.renderer.render(_with_contents(tokens), reader.options, {})
    style = files("softmark.authoring").joinpath("handout.css").read_text(encoding="utf-8")
    return _PAGE.format(
        title=escape(headings[0].replace("`", "") if headings else name), style=style, body=body
    ).encode()


def _prepare(token: Token, name: str, line: int) -> None:
    """Write out the formulas of a token and of those inside it, and the box in which a wide table is moved sideways."""
    if token.type in _FORMULAS:
        display = _FORMULAS[token.type]
        token.type, token.content = f"html_{display}", _mathml(token.content, display, name, line)
    elif token.type in _TABLE:
        token.type, token.content = "html_block", _TABLE[token.type]
    for inside in token.children or ():
        _prepare(inside, name, line)


def _mathml(formula: str, display: str, name: str, line: int) -> str:
    try:
        made = _LEFT.sub(_bracket, convert(formula, display=display))
        made = _FUNCTION.sub(r'\1<mspace width="0.17em"/>', made)
        unknown = re.search(r"\\[^\s<]*", made)
        problem = f"it knows no {unknown[0]}" if unknown else ""
    except Exception as error:  # the converter's own, of many kinds
        made, problem = "", f"{type(error).__name__} {error}".strip()
    if problem:
        raise ConfigError(name, line, f"the formula {formula!r} cannot be turned into MathML: {problem}; write it anew")
    return made


def _bracket(found: re.Match[str]) -> str:
    return f">{_DELIMITERS.get(found[1], found[0][1:-1])}<"


def _with_contents(tokens: list[Token]) -> list[Token]:
    """Return the tokens with a list of the sections below the title; it leads to them."""
    entries: list[str] = []
    for token, inside in pairwise(tokens):
        if token.type == "heading_open" and token.tag == "h2":
            token.attrSet("id", f"section-{len(entries) + 1}")
            heading = escape(inside.content.replace("`", ""))
            entries.append(f'<li><a href="#section-{len(entries) + 1}">{heading}</a></li>')
    end = next((place for place, token in enumerate(tokens, 1) if token.type == "heading_close"), 0)
    contents = Token("html_block", "", 0, content="<nav><ul>\n{}\n</ul></nav>\n".format("\n".join(entries)))
    return [*tokens[:end], contents, *tokens[end:]]
