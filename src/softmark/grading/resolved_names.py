"""Looks up the names in a homework.toml before anything is graded, and refuses those that do not exist.

A misspelt forbidden name would otherwise fail in every student's process, and a misspelt operator would forbid nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from difflib import get_close_matches
from fnmatch import fnmatchcase
from importlib import import_module
from types import ModuleType

from softmark.course.homework import Homework
from softmark.course.toml import Key
from softmark.sandbox.worker.operators import sorted_names


def check_names(homework: Homework) -> None:
    """Raise ConfigError for the first forbidden function, operator or function of a part that does not exist."""
    for index, rule in enumerate(homework.forbidden):
        for name in rule.names:
            _check(homework, ("forbidden", index, "names"), name, _wrong_name(name))
        for op in rule.ops:
            _check(homework, ("forbidden", index, "ops"), op, _wrong_op(op))
    reference = imported_reference(homework)
    for index, part in enumerate(homework.parts if reference is not None else ()):
        for function in part.functions:
            name = function.partition(".")[0]
            if not hasattr(reference, name):
                problem = f"reference/{homework.reference.name} defines no {name!r}{_meant(name, dir(reference))}"
                _check(homework, ("part", index, "function"), function, problem)


def imported_reference(homework: Homework) -> ModuleType | None:
    """Return this homework's reference if the hidden tests have imported it; else None."""
    module = sys.modules.get(f"reference.{homework.name}")
    return module if getattr(module, "__file__", None) == str(homework.reference) else None


def _check(homework: Homework, key: Key, name: str, problem: str) -> None:
    if problem:
        raise homework.wrong(key, problem, name)


def _wrong_name(dotted: str) -> str:
    """Return what is wrong with the dotted name of a function or class; empty if its uses can be watched."""
    root, *rest = dotted.split(".")
    try:
        thing: object = import_module(root)
    except Exception:  # a module that raises here would raise in every student's process
        return f"{dotted!r} cannot be forbidden: there is no module {root!r}{_meant(root, ('torch', 'numpy', 'math'))}"
    place = root
    for piece in rest:
        if not hasattr(thing, piece):
            meant = _meant(piece, dir(thing), place)
            return f"{dotted!r} cannot be forbidden: {place} has no {piece!r}{meant}"
        thing, place = getattr(thing, piece), f"{place}.{piece}"
    if not callable(thing):
        kind = "a module" if rest == [] or place in sys.modules else "no function and no class"
        return f"{dotted!r} cannot be forbidden: it is {kind}; name the functions and classes themselves"
    return ""


def _wrong_op(pattern: str) -> str:
    """Return what is wrong with an operator's name or pattern; empty if it matches an operator."""
    if any(fnmatchcase(name, pattern) for name in sorted_names()):
        return ""
    return f"{pattern!r} matches no operator of this torch{_meant(pattern.partition('.')[0], sorted_names())}"


def _meant(name: str, known: Iterable[str], place: str = "") -> str:
    near = get_close_matches(name, known, n=1, cutoff=0.6)
    return f". Did you mean {'.'.join(filter(None, (place, near[0])))!r}?" if near else ""
