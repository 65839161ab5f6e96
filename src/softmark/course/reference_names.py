"""Whether the reference defines what the parts name, as far as its text tells: it is parsed and never run.

A misspelt name would be a part that nobody can earn, and would show only as an odd column of the gradebook.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

_TELLS_NOTHING = {"*", "__getattr__", "globals", "exec"}
"""With one of these a module may have names that its text does not show."""


def undefined(reference: Path, functions: Iterable[str]) -> dict[str, str]:
    """Those of these that the reference does not define, each with a sentence; what may well be there is not in it."""
    try:
        module = ast.parse(reference.read_bytes())
    except (OSError, SyntaxError, ValueError):  # tests may do without one; a broken one is told when they run
        return {}
    bound = _bound(module).union(*(node.names for node in ast.walk(module) if isinstance(node, ast.Global)))
    used = {node.id for node in ast.walk(module) if isinstance(node, ast.Name)}
    if not _TELLS_NOTHING.isdisjoint(bound | used):
        return {}
    classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
    problems = {}
    for function in functions:
        name, _, method = function.partition(".")
        if name not in bound:
            problems[function] = _sentence(reference, name, bound)
        elif method and name in classes and not _may_have(classes[name], method):
            own = {f"{name}.{known}" for known in _bound(classes[name])}
            problems[function] = _sentence(reference, function, own)
    return problems


def _bound(scope: ast.Module | ast.ClassDef) -> set[str]:
    """Every name that is defined, assigned or imported there, be it within an `if` or a `try`."""
    names: set[str] = set()
    unseen: list[ast.AST] = list(scope.body)
    while unseen:
        node = unseen.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        if isinstance(node, ast.alias):
            names.add(node.asname or node.name.partition(".")[0])
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        unseen += ast.iter_child_nodes(node)
    return names


def _may_have(cls: ast.ClassDef, method: str) -> bool:
    """Whether it has the method, or bases it may have it from; nobody's `forward` comes from `nn.Module`."""
    inherits = any(ast.unparse(base).rpartition(".")[2] not in ("Module", "object") for base in cls.bases)
    return inherits or bool(cls.decorator_list) or method.partition(".")[0] in _bound(cls)


def _sentence(reference: Path, name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, known, n=1, cutoff=0.5)
    meant = f". Did you mean {near[0]!r}?" if near else ": define it there, or name what the student writes"
    return f"reference/{reference.name} defines no {name!r}{meant}"
