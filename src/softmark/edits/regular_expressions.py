"""Proposes repairs of regular expressions: a sign, a class or a number of times that is too many, missing or another.

A pattern is cut into atoms, each with how often it may occur. Nothing here compiles a pattern: one that is no pattern
fails when it is tried.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from softmark.edits.scopes import Scope
from softmark.edits.slips import RepairChange

_ATOM = re.compile(
    r"(?P<atom>\((?:\?(?:<?[=!]|:|P<\w+>))?|\)|\||\^|\$|\[\^?\]?(?:\\.|[^\]\\])*\]|\\.|.)(?P<times>(?:[*+?]|\{\d+(?:,\d*)?\})\??)?",
    re.DOTALL,
)
_TIMES = ("", "?", "+", "*")
_CLASSES = (r"\w", r"\W", r"\d", r"\s", r"\S", ".", r"[^\W\d_]", r"[^\W_]", r"[^\w\s]")
_MEMBERS = ("_", r"\d", r"\s", r"\w", r"\W", "'")
_NO_ATOMS = ("(", "|", "^", "$")
_LONGEST = 200
_SIGNS = re.compile(r"\\[wWdDsSb]|\[.*\]|[*+?]|\(\?")


def regular_expressions(scope: Scope) -> Iterator[RepairChange]:
    """Yield the changes of the patterns in a function: of each, and of several in the same way."""
    patterns = list(_patterns(scope))
    for node, pattern in patterns:
        for other in _changed(pattern):
            yield RepairChange("pattern", node, _literal(other))
    for changed in _OF_ALL:
        places: list[tuple[ast.expr, str]] = []
        places += [(node, _literal(changed(pattern))) for node, pattern in patterns if changed(pattern) != pattern]
        if len(places) > 1:
            yield RepairChange.several("pattern", places)


def _patterns(scope: Scope) -> Iterator[tuple[ast.Constant, str]]:
    """Yield the literals that look like patterns, each with its text."""
    for node in scope.written():
        if not isinstance(node, ast.Constant) or isinstance(scope.parent(node), ast.JoinedStr):
            continue
        if isinstance(node.value, str) and len(node.value) <= _LONGEST and _SIGNS.search(node.value):
            yield node, node.value


def _literal(pattern: str) -> str:
    """Return a pattern as a literal, raw where that can be."""
    return repr(pattern) if '"' in pattern or "\n" in pattern else f'r"{pattern}"'


def _with_a_space(pattern: str) -> str:
    """Return a pattern that may begin with one space."""
    return pattern if pattern.startswith((" ", "(", r"\s")) else f" ?{pattern}"


def _with_one_space(pattern: str) -> str:
    """Return a pattern that begins with at most one space, and with no other white space."""
    return re.sub(r"^( \*|\\s[?*])", " ?", pattern)


def _without_space(pattern: str) -> str:
    """Return a pattern that does not begin with a space."""
    return pattern.removeprefix(" ?")


def _with_the_space_in_front(pattern: str) -> str:
    """Return a pattern with the space at its beginning that it has at its end."""
    return f" ?{pattern.removesuffix(' ?')}" if pattern.endswith(" ?") else pattern


_OF_ALL = (_with_a_space, _with_one_space, _without_space, _with_the_space_in_front)


def _changed(pattern: str) -> Iterator[str]:
    """Yield patterns that differ in one atom."""
    for added in (" ?", r"\b"):
        yield added + pattern
    for found in _ATOM.finditer(pattern):
        before, behind = pattern[: found.start()], pattern[found.end() :]
        atom, times = found["atom"], found["times"] or ""
        if atom not in _NO_ATOMS and not atom.startswith("("):
            for other in _TIMES:
                if other != times:
                    yield before + atom + other + behind
        if atom not in ("(", ")"):
            yield before + behind
        for other in _other_atoms(atom):
            yield before + other + times + behind


def _other_atoms(atom: str) -> Iterator[str]:
    """Yield what may be meant by an atom."""
    if atom.startswith("[") or atom in _CLASSES:
        yield from (other for other in _CLASSES if other != atom)
    if atom.startswith("["):
        start = 2 if atom.startswith("[^") else 1
        inside = re.findall(r"\\.|.-.|.", atom[start:-1], re.DOTALL)
        for member in inside if len(inside) > 1 else []:
            yield atom[:start] + "".join(one for one in inside if one != member) + "]"
        for member in _MEMBERS:
            if member not in inside:
                yield f"{atom[:-1]}{member}]"
        yield f"(?:{atom}|_)"
    elif atom == r"\s":
        yield " "
    elif atom in ("(?=", "(?!"):
        yield "(?!" if atom == "(?=" else "(?="
