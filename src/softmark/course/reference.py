"""Reads from the reference which names it defines, and how its functions are called. It is parsed and never run.

A misspelt name in homework.toml would be a part that nobody can earn, and would show only as an odd column of the
gradebook.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path

_TELLS_NOTHING = {"*", "__getattr__", "globals", "exec"}
"""With one of these a module may have names that its text does not show."""


def undefined(reference: Path, functions: Iterable[str]) -> dict[str, str]:
    """Return a sentence for each function that the reference surely does not define."""
    try:
        module = ast.parse(reference.read_bytes())
    except (OSError, SyntaxError, ValueError):  # tests may lack a reference; running them reports its errors
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
    """Return every name that is defined, assigned or imported there, also within an `if` or a `try`."""
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
    """Return True if a class has a method, or a base that may have it. `nn.Module` has no `forward` to inherit."""
    inherits = any(ast.unparse(base).rpartition(".")[2] not in ("Module", "object") for base in cls.bases)
    return inherits or bool(cls.decorator_list) or method.partition(".")[0] in _bound(cls)


def _sentence(reference: Path, name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, known, n=1, cutoff=0.5)
    meant = f". Did you mean {near[0]!r}?" if near else ": define it there, or name what the student writes"
    return f"reference/{reference.name} defines no {name!r}{meant}"


def parameters_of(reference: Path) -> dict[str, tuple[str, ...]]:
    """Return the names of the positional parameters of each function and method, without self.

    The file is parsed and not run. If it cannot be parsed, there are none, and running it reports the error.
    """
    try:
        module = ast.parse(reference.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    found = {node.name: _positional(node) for node in module.body if isinstance(node, ast.FunctionDef)}
    for cls in (node for node in module.body if isinstance(node, ast.ClassDef)):
        methods = [node for node in cls.body if isinstance(node, ast.FunctionDef)]
        found |= {f"{cls.name}.{method.name}": _positional(method)[1:] for method in methods}
    return found


def dependents(reference: Path, parts: Mapping[str, Iterable[str]]) -> dict[str, frozenset[str]]:
    """Return for each function and class of the reference the parts that use it, directly or through others.

    `parts` has the functions of each part. A reference that cannot be read has no functions: that is told elsewhere.
    """
    try:
        module = ast.parse(reference.read_bytes())
    except (OSError, SyntaxError, ValueError):
        return {}
    definitions = {
        node.name: {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        for node in module.body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    reached = {name: _reached(name, definitions) for name in definitions}
    return {
        name: frozenset(
            part
            for part, functions in parts.items()
            if any(name in reached.get(function.partition(".")[0], ()) for function in functions)
        )
        for name in definitions
    }


def _reached(name: str, definitions: Mapping[str, set[str]]) -> set[str]:
    """Return a definition with all those that it uses, directly or through others."""
    reached: set[str] = set()
    unseen = [name]
    while unseen:
        current = unseen.pop()
        if current not in reached:
            reached.add(current)
            unseen += [used for used in definitions[current] if used in definitions]
    return reached


def as_called(parameters: Mapping[str, tuple[str, ...]], callee: str, count: int, keywords: list[str]) -> str:
    """Return how a test calls a function, by names where they are known: "Q, K and mask=…"."""
    names = [argument_name(parameters.get(callee, ()), position) for position in range(count)]
    given = [*names, *(f"{keyword}=…" for keyword in keywords)]
    if not given:
        return "no arguments"
    return given[0] if len(given) == 1 else f"{', '.join(given[:-1])} and {given[-1]}"


def argument_name(names: tuple[str, ...], position: int) -> str:
    """Return the name of the argument at a position, which is counted from 0, or "argument 3" if it is not known."""
    return names[position] if position < len(names) else f"argument {position + 1}"


def _positional(function: ast.FunctionDef) -> tuple[str, ...]:
    return tuple(argument.arg for argument in (*function.args.posonlyargs, *function.args.args))
