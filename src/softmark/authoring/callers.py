"""Finds which parts of a homework build on which: a function of the reference that calls another builds on it."""

from __future__ import annotations

import ast

from softmark.course.homework import Homework


def dependents(reference: str, homework: Homework) -> dict[str, frozenset[str]]:
    """Return for each top-level name of the reference the parts whose functions use it, directly or through others."""
    definitions = {
        node.name: {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        for node in ast.parse(reference).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    return {
        name: frozenset(
            part.number for part in homework.parts for function in part.functions if _uses(function, name, definitions)
        )
        for name in definitions
    }


def builds_on(reference: str, homework: Homework) -> dict[str, tuple[str, ...]]:
    """Return for each part the numbers of the earlier parts whose functions it uses, directly or through others."""
    users = dependents(reference, homework)
    earlier: dict[str, tuple[str, ...]] = {}
    for part in homework.parts:
        used = [
            before.number
            for before in homework.parts[: len(earlier)]
            if any(part.number in users.get(name.partition(".")[0], ()) for name in before.functions)
        ]
        earlier[part.number] = tuple(used)
    return earlier


def _uses(function: str, name: str, definitions: dict[str, set[str]]) -> bool:
    seen: set[str] = set()
    unseen = [function]
    while unseen:
        current = unseen.pop()
        if current == name:
            return True
        if current not in seen:
            seen.add(current)
            unseen += [used for used in definitions.get(current, ()) if used in definitions]
    return False
