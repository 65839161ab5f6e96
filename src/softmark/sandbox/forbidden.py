"""Library shortcuts for the very thing being taught: seen when they are *used*, inside the worker.

Two looks. While a test's call runs, every torch function passes through a TorchFunctionMode, whatever alias, `getattr`
or `torch.ops` path led to it; a forbidden module class is caught where it is constructed. That decides. And the text is
searched through its syntax tree, so that staff see what is merely mentioned (a self-check at the bottom of the file is
nobody's crime). Neither is a wall: a worker is the student's own, and a determined one gets around both.

A rule: {"names": dotted names, "ops": "aten::…" names, "instead": what to write, "functions": the student's functions
it holds for, empty for all}.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

MOST_MENTIONS = 100
"""So many are told: a file may hold a million."""
_OPERATORS = (torch._ops.OpOverload, torch._ops.OpOverloadPacket)


class ForbiddenUse(BaseException):
    """Raised out of the student's call; no `except Exception` of theirs holds it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Guard:
    """Watches calls for the rules of one homework."""

    def __init__(self, rules: list[dict[str, Any]]) -> None:
        self._rules = rules
        self._watches: dict[str, _Watch | None] = {}
        self._current: _Watch | None = None
        for rule in rules:
            for name in rule["names"]:
                thing = _resolve(name)
                if isinstance(thing, type):
                    self._watch_class(thing, name)

    @contextmanager
    def watching(self, function: str) -> Iterator[None]:
        """Forbidden uses inside this block raise, even if the student's code swallows the exception."""
        if function not in self._watches:
            rules = [rule for rule in self._rules if not rule["functions"] or function in rule["functions"]]
            self._watches[function] = _Watch(rules) if rules else None
        watch = self._watches[function]
        if watch is None:
            yield
            return
        self._current = watch
        try:
            with watch:
                yield
        finally:
            self._current = None
            seen, watch.seen = watch.seen, None
            if seen is not None:
                raise seen

    def _watch_class(self, cls: type[Any], name: str) -> None:
        original: Callable[..., None] = cls.__init__
        guard = self

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            if guard._current is not None and name in guard._current.names:
                guard._current.report(name)
            original(self, *args, **kwargs)

        cls.__init__ = __init__


class _Watch(TorchFunctionMode):
    def __init__(self, rules: list[dict[str, Any]]) -> None:
        super().__init__()
        self.names = {name for rule in rules for name in rule["names"]}
        self._things = {name: _resolve(name) for name in self.names}  # kept, so that their ids stay theirs
        self._functions = {id(thing): name for name, thing in self._things.items()}
        self._ops = [op for rule in rules for op in rule["ops"]]
        self.seen: ForbiddenUse | None = None

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = self._functions.get(id(func))
        if name is None and isinstance(func, _OPERATORS):
            name = self._operator(func)
        if name is not None:
            self.report(name)
        return func(*args, **(kwargs or {}))

    def report(self, name: str) -> None:
        self.seen = ForbiddenUse(name)
        raise self.seen

    def _operator(self, func: Any) -> str | None:
        """The name of a forbidden operator called as `torch.ops.aten.…`."""
        overload = isinstance(func, torch._ops.OpOverload)
        name = str(func.name() if overload else func._qualified_op_name)
        if any(fnmatchcase(name.partition(".")[0], pattern) for pattern in self._ops):
            return name
        return None


def _resolve(dotted: str) -> Any:
    """The object a dotted name stands for; rules are checked when the homework is loaded, so it exists."""
    module, _, rest = dotted.partition(".")
    thing: Any = importlib.import_module(module)
    for part in rest.split("."):
        thing = getattr(thing, part)
    return thing


def mentions(trees: Sequence[ast.Module], rules: list[dict[str, Any]]) -> list[list[Any]]:
    """[name, index of the tree, line] of every forbidden name that is mentioned, aliases of imports followed."""
    forbidden = {name for rule in rules for name in rule["names"]}
    if not forbidden:
        return []
    nodes = [(index, node) for index, tree in enumerate(trees) for node in ast.walk(tree)]
    aliases: dict[str, str] = {}
    for _, node in nodes:
        if isinstance(node, ast.Import):
            for item in node.names:
                root = item.name.partition(".")[0]
                aliases[item.asname or root] = item.name if item.asname else root
        elif isinstance(node, ast.ImportFrom) and node.module:
            for item in node.names:
                aliases[item.asname or item.name] = f"{node.module}.{item.name}"
    found = []
    for index, node in nodes:
        dotted = _dotted(node, aliases)
        if dotted in forbidden:
            found.append([dotted, index, getattr(node, "lineno", 0)])
    return sorted(found, key=lambda hit: (hit[1], hit[2], hit[0]))[:MOST_MENTIONS]


def _dotted(node: ast.AST, aliases: dict[str, str]) -> str:
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    root = aliases.get(node.id, node.id) if isinstance(node, ast.Name) else ""
    return ".".join([root, *reversed(attributes)])
