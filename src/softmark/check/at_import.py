"""Finds the work that a file does whenever it is loaded: statements other than definitions, constants and imports.

The grader loads the file, too. There it may have no time, no such file and no network. A notebook is not looked at:
of its cells only definitions are run.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from softmark.check.own_code import OwnCode, OwnStatement

_PLAIN = (
    *(ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Pass, ast.Global),
    getattr(ast, "TypeAlias", ast.Pass),
)
_SETTINGS = ("set_", "use_", "enable_")
_SETTING = {"manual_seed", "seed", "filterwarnings", "simplefilter", "basicConfig", "append", "insert", "setLevel"}
"""Calls that only set something, and are quick."""
_ELSEWHERE = ("/", "~", "\\\\", "http://", "https://", "ftp://")
_OPENS = {"open", "load", "loadtxt", "genfromtxt", "memmap", "from_file", "urlopen", "urlretrieve", "get", "download"}
_READS = ("read_", "load_", "download_", "from_pretrained")


@dataclass(frozen=True)
class WorkAtImport:
    """A statement that does more than define something."""

    file: str
    line: int
    elsewhere: str = ""
    """The file or address outside of the homework's folder that it opens; empty if none is known."""


def work_at_import(code: OwnCode, cells: Collection[str]) -> Iterator[WorkAtImport]:
    """Yield the statements that do work whenever a Python file is loaded."""
    functions = {
        name for s in code.statements if isinstance(s.node, ast.FunctionDef | ast.AsyncFunctionDef) for name in s.sets
    }
    for statement in code.statements:
        if statement.file not in cells and _works(statement, functions):
            yield WorkAtImport(statement.file, statement.first, _opened_elsewhere(statement.node))


def _works(statement: OwnStatement, functions: Collection[str]) -> bool:
    node = statement.node
    if isinstance(node, _PLAIN):
        return False
    if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        called = [_name(call) for call in _calls(node)]
        return any(name in functions or _reads(name) or name in ("print", "input") for name in called)
    if isinstance(node, ast.Expr):
        return any(not _only_sets(_name(call)) for call in _calls(node))
    return True


def _calls(node: ast.AST) -> list[ast.Call]:
    """Return the calls that are made when the statement is run; those in a lambda come later."""
    found, unseen = [], [node]
    while unseen:
        part = unseen.pop()
        if isinstance(part, ast.Call):
            found.append(part)
        unseen += [inner for inner in ast.iter_child_nodes(part) if not isinstance(inner, ast.Lambda)]
    return found


def _name(call: ast.Call) -> str:
    """Return the last part of the name that is called: "load" of `torch.load(…)`."""
    return getattr(call.func, "attr", getattr(call.func, "id", ""))


def _only_sets(name: str) -> bool:
    return name in _SETTING or name.startswith(_SETTINGS)


def _reads(name: str) -> bool:
    return name in _OPENS or name.startswith(_READS)


def _opened_elsewhere(node: ast.stmt) -> str:
    """Return the absolute path or the address that a statement opens."""
    opening = [call for call in _calls(node) if _reads(_name(call)) or _name(call) == "Path"]
    texts = [arg.value for call in opening for arg in _given(call) if isinstance(arg, ast.Constant)]
    found = (text for text in texts if isinstance(text, str))
    return next((text for text in found if text[1:3] in (":\\", ":/") or text.startswith(_ELSEWHERE)), "")


def _given(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(keyword.value for keyword in call.keywords)]
