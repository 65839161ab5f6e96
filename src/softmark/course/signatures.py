"""Reads from the reference how the arguments of each function are called, so that students are told their names."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path


def parameters_of(reference: Path) -> dict[str, tuple[str, ...]]:
    """Return the names of the positional parameters of each function and method, without self.

    The file is parsed and not run. A reference that cannot be read has none: that is told where it is run.
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
