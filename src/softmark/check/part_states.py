"""Says of each part of a homework whether it is done, not done yet, or missing, from the text of the work."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from dataclasses import dataclass
from enum import StrEnum

from softmark.check.own_code import OwnCode
from softmark.course.homework import Part
from softmark.records.result import Outcome

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CALLED_FIRST = ("__init__", "forward", "__call__")


class PartProgress(StrEnum):
    """Says whether a part is done, not done yet, or missing."""

    DONE = "done"
    NOT_DONE = "not done yet"
    MISSING = "missing"


_OUTCOMES = {
    PartProgress.DONE: Outcome.PASSED,
    PartProgress.NOT_DONE: Outcome.NOT_RUN,
    PartProgress.MISSING: Outcome.FAILED,
}


@dataclass(frozen=True)
class PartState:
    """A part, its progress, and a sentence if there is more to say."""

    number: str
    title: str
    state: PartProgress
    why: str = ""

    @property
    def is_done(self) -> bool:
        return self.state is PartProgress.DONE

    @property
    def outcome(self) -> Outcome:
        """Return the outcome of a test whose sign fits the progress."""
        return _OUTCOMES[self.state]

    @property
    def words(self) -> str:
        """Return the progress in words, with the reason if there is one."""
        if self.is_done or not self.why:
            return str(self.state)
        return f"missing: {self.why}" if self.state is PartProgress.MISSING else self.why


def part_state(part: Part, code: OwnCode, there: Collection[str], why_missing: Callable[[str], str]) -> PartState:
    """Return the state of a part.

    `there` are the names that the loaded work defines. `why_missing` returns the sentence of grading for a name that
    it does not define.
    """
    states = {name: _state(name, code, there) for name in part.functions}
    missing = [name for name, state in states.items() if state is PartProgress.MISSING]
    if missing:
        why = "; ".join(why_missing(name) for name in missing)
        return PartState(part.number, part.title, PartProgress.MISSING, why)
    open_ones = [name for name, state in states.items() if state is PartProgress.NOT_DONE]
    if not open_ones:
        return PartState(part.number, part.title, PartProgress.DONE)
    some = len(open_ones) < len(states)
    verb = "is" if len(open_ones) == 1 else "are"
    why = f"{' and '.join(open_ones)} {verb} not done yet" if some else ""
    return PartState(part.number, part.title, PartProgress.NOT_DONE, why)


def _state(name: str, code: OwnCode, there: Collection[str]) -> PartProgress:
    root, _, method = name.partition(".")
    if root not in there:
        return PartProgress.MISSING
    node = code.definition(root)
    if isinstance(node, _FUNCTIONS):
        return PartProgress.NOT_DONE if _is_unwritten(node) else PartProgress.DONE
    if not isinstance(node, ast.ClassDef):
        return PartProgress.DONE  # an alias, or made by another function
    methods = {inner.name: inner for inner in node.body if isinstance(inner, _FUNCTIONS)}
    if method and method not in methods:
        return PartProgress.DONE if _inherits_own(node, code) else PartProgress.MISSING
    own = [method] if method else list(methods)
    unwritten = any(_is_unwritten(methods[one], strict=one not in (method, *_CALLED_FIRST)) for one in own)
    return PartProgress.NOT_DONE if unwritten else PartProgress.DONE


def _inherits_own(node: ast.ClassDef, code: OwnCode) -> bool:
    bases = {part.id for base in node.bases for part in ast.walk(base) if isinstance(part, ast.Name)}
    return any(isinstance(code.definition(name), ast.ClassDef) for name in bases - {node.name})


def _is_unwritten(function: ast.FunctionDef | ast.AsyncFunctionDef, *, strict: bool = False) -> bool:
    """Return whether a function has a line of the starter, has no statement, or raises NotImplementedError always.

    A `strict` look takes only a line of the starter for unwritten: other methods may be abstract on purpose.
    """
    if any(_is_of_starter(part) for part in ast.walk(function)):
        return True
    body = function.body[ast.get_docstring(function, clean=False) is not None :]
    return not strict and (all(map(_is_nothing, body)) or any(_raised(inner) is not None for inner in body))


def _is_of_starter(node: ast.AST) -> bool:
    raised = _raised(node)
    said = raised.args[0] if isinstance(raised, ast.Call) and raised.args else None
    return isinstance(said, ast.Constant) and isinstance(said.value, str) and said.value.startswith("part ")


def _raised(node: ast.AST) -> ast.expr | None:
    """Return what a `raise NotImplementedError` raises; None for any other statement."""
    raised = node.exc if isinstance(node, ast.Raise) else None
    named = raised.func if isinstance(raised, ast.Call) else raised
    return raised if isinstance(named, ast.Name) and named.id == "NotImplementedError" else None


def _is_nothing(node: ast.stmt) -> bool:
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
