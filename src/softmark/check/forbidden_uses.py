"""Finds forbidden functions in the code that a part needs, by their names in the text.

In grading a use is refused when it runs, whatever its name is in the text. A name that no part needs costs nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from softmark.check.own_code import OwnCode
from softmark.course.homework import ForbiddenRule, Homework
from softmark.grading.student import not_allowed
from softmark.sandbox.wire.protocol import Rule
from softmark.sandbox.worker.forbidden import mentions

_OF_TENSORS = "torch.Tensor."


@dataclass(frozen=True)
class ForbiddenCall:
    """A forbidden function in a line that a function of the homework needs."""

    file: str
    line: int
    user: str
    words: str

    @property
    def sentence(self) -> str:
        return f"{self.file}, line {self.line}: `{self.user}` {self.words}"


def forbidden_uses(homework: Homework, code: OwnCode) -> list[ForbiddenCall]:
    """Return the forbidden functions in the text of what the parts need, each line once."""
    found: dict[tuple[str, int], ForbiddenCall] = {}
    for rule in homework.forbidden:
        hits = list(_mentioned(rule, code))
        users = dict.fromkeys(name.partition(".")[0] for name in rule.functions or homework.wanted)
        for name, file, line in hits if users else ():
            reached = [user for user in users if any(s.holds(file, line) for s in code.needed_by(user))]
            own = [user for user in reached if code.needed_by(user)[0].holds(file, line)]
            for user in (own or reached)[:1]:
                found.setdefault((file, line), ForbiddenCall(file, line, user, not_allowed(name, rule)))
    return sorted(found.values(), key=lambda use: (list(code.trees).index(use.file), use.line))


def _mentioned(rule: ForbiddenRule, code: OwnCode) -> Iterator[tuple[str, str, int]]:
    """Yield name, file and line of each forbidden name in the text; methods of tensors are known by their last part."""
    files, trees = list(code.trees), list(code.trees.values())
    for name, index, line in mentions(trees, [Rule(rule.names)]):
        yield name, files[index], line
    methods = {name.removeprefix(_OF_TENSORS): name for name in rule.names if name.startswith(_OF_TENSORS)}
    for file, call in _method_calls(files, trees):
        if call.attr in methods:
            yield methods[call.attr], file, call.lineno


def _method_calls(files: Sequence[str], trees: Sequence[ast.Module]) -> Iterator[tuple[str, ast.Attribute]]:
    for file, tree in zip(files, trees, strict=True):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                yield file, node.func
