"""Finds what files for students give away: solutions, hidden tests, their inputs, and the code of mistakes.

A passage is found however it is laid out, in a program, a text, a notebook, a page of HTML, and in a wheel. What is
public anyway is no secret: the worked examples, the words about a mistake, functions of the reference that the starter
has, functions that hidden and public tests lend alike, and inputs that the handout shows.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache
from html import unescape
from io import BytesIO
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

import msgspec

from softmark.authoring.starter import BEGIN, END
from softmark.course.homework import Homework
from softmark.edits.changes import ARROW

_SHORTEST_CODE, _SHORTEST_EDIT, _SHORTEST_TEXT = 20, 12, 24
"""Characters, without white space. Shorter code is written by everybody, and shorter texts are names."""
_FEWEST_NUMBERS, _FEWEST_DIFFERENT = 6, 3
_SOLUTION = re.compile(rf"{BEGIN}\n(.*?){END}", re.DOTALL)
_COMMENT = re.compile(r"(?:^|\s)#.*$", re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])-?\d+\.?\d*(?:e[+-]?\d+)?(?![\w.])")
_TAG = re.compile(r"<[^>]*>")
_WORDS = ("says", "hint", "because")
"""Keys of a list of mistakes or survivors whose texts are for people."""
_SAME = str.maketrans("'()", '"[]')
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Secret(msgspec.Struct, frozen=True):
    """A passage that no student may have."""

    what: str
    """Its kind, and the file it stands in."""
    passage: str
    """Its text as `squashed` returns it."""


def given_away(homework: Homework, files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield a sentence for each secret of the homework and each file for students that it stands in."""
    texts = {name: _as_searched(PurePosixPath(name).suffix, content) for name, content in files.items()}
    shown = "".join(text for name, text in texts.items() if name.startswith("README."))
    secrets = dict.fromkeys(secrets_of(homework, shown))
    for name, text in texts.items():
        yield from (f"{name} holds {secret.what}" for secret in secrets if secret.passage in text)


def secrets_of(homework: Homework, shown: str = "") -> Iterator[Secret]:
    """Yield all that no student may have of a homework; inputs in the text that its handout shows are no secret."""
    for name, file in homework.secrets.items():
        source = file.read_text(encoding="utf-8")
        if file == homework.reference:
            found = _solutions(name, source)
        elif file.suffix == ".toml":
            found = _mistakes(name, tomllib.loads(source))
        elif file.suffix == ".py" and file.name != "examples.py":  # students have those
            tree = ast.parse(source)
            inputs = (secret for secret in _inputs(name, tree) if secret.passage not in shown)
            found = chain(_functions(name, tree), inputs)
        else:
            found = iter(())
        yield from found


def squashed(text: str) -> str:
    """Return a text without comments, white space and kinds of quotes and brackets: another layout gives the same."""
    plain = re.sub(r"\s+", "", _COMMENT.sub("", text)).translate(_SAME)
    return _NUMBER.sub(lambda number: f"{float(number[0]):g}", plain.replace(",]", "]"))


def _solutions(name: str, source: str) -> Iterator[Secret]:
    for block in _SOLUTION.findall(source):
        yield from _secret(f"a solution of {name}", block, _SHORTEST_CODE)


def _mistakes(name: str, value: Any, key: str = "") -> Iterator[Secret]:
    """Yield the edits and the programs in a table, however deep they stand in it."""
    if isinstance(value, dict):
        yield from (secret for key, inside in value.items() for secret in _mistakes(name, inside, key))
    elif isinstance(value, list):
        yield from (secret for inside in value for secret in _mistakes(name, inside, key))
    elif isinstance(value, str) and key not in _WORDS and (ARROW in value or "\n" in value):
        yield from _secret(f"`{key}` of {name}", value, _SHORTEST_EDIT if ARROW in value else _SHORTEST_CODE)


def _functions(name: str, tree: ast.Module) -> Iterator[Secret]:
    """Yield the bodies of hidden tests, and of all functions that are variants of the reference."""
    is_test = PurePosixPath(name).name.startswith("test_")
    is_variant = "equivalents" in name or "mistakes" in name
    for node in ast.walk(tree):
        if isinstance(node, _DEFINITIONS) and (is_variant or (is_test and node.name.startswith("test"))):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            yield from _secret(f"`{node.name}` of {name}", "\n".join(map(ast.unparse, body)), _SHORTEST_CODE)


def _inputs(name: str, tree: ast.Module) -> Iterator[Secret]:
    """Yield the longer texts and rows of numbers that hidden tests work on."""
    alone = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in alone and " " in node.value:
            yield from _secret(f"a text of {name}", node.value, _SHORTEST_TEXT)
        elif isinstance(node, ast.List | ast.Tuple):
            source = ast.unparse(node)
            numbers = _NUMBER.findall(source)
            row = not re.search(r"[A-Za-z_]", _NUMBER.sub("", source))
            if row and len(numbers) >= _FEWEST_NUMBERS and len(set(numbers)) >= _FEWEST_DIFFERENT:
                yield from _secret(f"numbers of {name}", source, 0)


def _secret(what: str, source: str, shortest: int) -> Iterator[Secret]:
    passage = squashed(source)
    if len(passage) >= shortest:
        yield Secret(what, passage)


@cache
def _as_searched(kind: str, content: bytes) -> str:
    """Return all text in a file as `squashed` returns it."""
    if kind in (".whl", ".zip"):
        with zipfile.ZipFile(BytesIO(content)) as archive:
            inside = ((PurePosixPath(name).suffix, archive.read(name)) for name in archive.namelist())
            return "\n".join(_as_searched(*file) for file in inside)
    text = content.decode("utf-8", "replace")
    if kind in (".ipynb", ".json"):
        text = "\n".join([text, *_texts(json.loads(text))])
    if kind == ".html":
        text = unescape(_TAG.sub("", text))
    return squashed(text)


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in what JSON holds; a notebook has its cells as lists of lines."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        if value and all(isinstance(line, str) for line in value):
            yield "".join(value)
        else:
            yield from (text for inside in value for text in _texts(inside))
    elif isinstance(value, dict):
        yield from (text for inside in value.values() for text in _texts(inside))
