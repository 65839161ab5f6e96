"""Refuses forbidden library functions when they are *used*, inside the worker.

A homework forbids library functions that do what students should write. While a test's call runs, each is refused at a
point that every use of it passes, so that no alias, thread, script, transformation or switched-off mode of torch avoids
it:

* an operator, in torch's dispatcher (operators.py);
* a function or class of Python's, by its code (gates.py): a class when it is constructed and when it is called;
* a function of C that no operator of the rule stands for, by a TorchFunctionMode. The mode sees its own thread only, so
  while it is needed, the code may neither start a thread nor switch the mode off.

Compiled code cannot be watched, so code of torch.jit is refused, too. (torch.compile runs the function that it was
given, uncompiled.) The syntax tree is searched for the names as well, so that staff see which are only mentioned: a
self-check at the bottom of the file is allowed. None of this is a wall: code that rewrites this module in its worker,
or copies torch's source, is not stopped.

A rule (wire/protocol.py) has dotted names of Python functions, names of operators ("aten::…"), and the names of the
student's functions that it holds for; none means all of them.
"""

from __future__ import annotations

import _thread
import ast
import importlib
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from types import FunctionType
from typing import Any, NoReturn

import torch
from torch.overrides import TorchFunctionMode

from softmark.sandbox.wire.protocol import MOST_TOLD, Rule
from softmark.sandbox.worker import gates, operators

COMPILED, THREAD, UNWATCHED = "torch.jit", "a thread", "torch._C.DisableTorchFunction"
UNSEEN = {
    COMPILED: "runs code that torch.jit compiled, in which forbidden functions cannot be seen: leave it as Python",
    THREAD: "starts a thread, in which forbidden functions cannot be seen: do without",
    UNWATCHED: "switches off what sees forbidden functions: do without",
}
"""Uses that are refused because forbidden functions in them cannot be seen, with the words for the student."""
_BACKWARD = {"torch.autograd.grad", "torch.autograd.backward", "torch.Tensor.backward"}


class ForbiddenUse(BaseException):
    """Raised if a student's call uses a forbidden function. `except Exception` does not catch it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class _Present:
    """Holds the watch that is kept in this process now; the same for all threads."""

    watch: _Watch | None = None


class Guard:
    """Watches calls for the rules of one homework."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._watches: dict[str, _Watch | None] = {}
        for name in {name for rule in rules for name in rule.names}:
            _close(name)
        if rules:
            gates.close(vars(torch._ops.OpOverload)["decompose"], _look_at_operator)  # it may lead past the dispatcher
            _close_compiled()
            _close_unseen()

    @contextmanager
    def watching(self, function: str) -> Iterator[None]:
        """Raise forbidden uses inside this block, even if the student's code swallows the exception."""
        if function not in self._watches:
            rules = [rule for rule in self._rules if not rule.functions or function in rule.functions]
            self._watches[function] = _Watch(rules) if rules else None
        watch = self._watches[function]
        operators.refuse(watch.operators if watch is not None else frozenset(), _kernel)
        if watch is None:
            yield
            return
        if "torch._dynamo" in sys.modules:
            torch.compiler.set_stance("force_eager")
        _Present.watch = watch
        try:
            with watch.mode():
                yield
        finally:
            _Present.watch = None
            seen, watch.seen = watch.seen, None
            if seen is not None:
                raise seen


def rest() -> None:
    """Let all functions work again until the next call. A process that also runs tests and reference needs this."""
    operators.allow_all()


def undo() -> None:
    """Give torch back every function and operator that was replaced."""
    rest()
    gates.open_all()
    while _UNDO:
        _UNDO.pop()()


class _Watch:
    """The rules for one function of a student's, while it is called."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.names = {name for rule in rules for name in rule.names}
        self.operators = operators.matching(tuple(op for rule in rules for op in rule.ops))
        self.seen: ForbiddenUse | None = None
        in_c = {name: thing for name in self.names if not isinstance(thing := _resolve(name), type | FunctionType)}
        self._called: dict[str, str] = {_operator_of(thing): name for name, thing in in_c.items()}
        self._unseen = {name: thing for name, thing in in_c.items() if _operator_of(thing) not in self.operators}

    @property
    def complete(self) -> bool:
        """Return whether every name is seen in every thread and mode."""
        return not self._unseen

    def mode(self) -> Any:
        """Return a context that must be entered while this watch is kept."""
        return nullcontext() if self.complete else _Mode(self, self._unseen)

    def called(self, operator: str) -> str:
        """Return the name in the rules that stands for an operator, or the operator's own name."""
        return self._called.get(operator, operator)

    def report(self, name: str) -> NoReturn:
        self.seen = ForbiddenUse(name)
        raise self.seen


class _Mode(TorchFunctionMode):
    """Sees functions of C that are called in its thread."""

    def __init__(self, watch: _Watch, things: dict[str, Any]) -> None:
        super().__init__()
        self._watch = watch
        self._things = things  # they must live as long as their ids are used
        self._functions = {id(thing): name for name, thing in things.items()}

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = self._functions.get(id(func))
        if name is not None:
            self._watch.report(name)
        return func(*args, **(kwargs or {}))

    def __exit__(self, *raised: Any) -> None:
        stack = torch.overrides._get_current_function_mode_stack()  # type: ignore[no-untyped-call]
        if not stack or stack[-1] is not self:
            self._watch.seen = self._watch.seen or ForbiddenUse(UNWATCHED)
            return
        super().__exit__(*raised)  # type: ignore[no-untyped-call]


_UNDO: list[Callable[[], None]] = []


def _close(name: str) -> None:
    """Put a gate before a Python function, or before constructing and calling a Python class."""
    thing = _resolve(name)
    if isinstance(thing, FunctionType):
        gates.close(thing, lambda args: _look(name))
    elif isinstance(thing, type):
        for method in ("__init__", "forward"):
            function = getattr(thing, method, None)
            if isinstance(function, FunctionType):
                gates.close(function, lambda args: _look(name) if args and isinstance(args[0], thing) else None)
    if name in _BACKWARD:
        _put(
            torch.autograd.Variable,
            "_execution_engine",
            _AutogradEngine(torch.autograd.Variable._execution_engine, name),
        )


def _look(name: str) -> None:
    if _Present.watch is not None and name in _Present.watch.names:
        _Present.watch.report(name)


def _look_at_operator(args: tuple[Any, ...]) -> None:
    name = args[0].name().partition(".")[0]
    if _Present.watch is not None and name in _Present.watch.operators:
        _Present.watch.report(_Present.watch.called(name))


def _refuse(what: str, *, even_if_complete: bool) -> None:
    if _Present.watch is not None and (even_if_complete or not _Present.watch.complete):
        _Present.watch.report(what)


def _kernel(operator: str) -> operators.Kernel:
    """Return the kernel that takes the place of a forbidden operator's."""

    def refused(*args: Any, **kwargs: Any) -> NoReturn:
        if _Present.watch is not None:
            _Present.watch.report(_Present.watch.called(operator))
        raise ForbiddenUse(operator)

    return refused


def _put(owner: Any, name: str, value: Any) -> None:
    before = getattr(owner, name)
    setattr(owner, name, value)
    _UNDO.append(lambda: setattr(owner, name, before))


def _close_compiled() -> None:
    """Refuse to run what torch.jit has compiled."""

    def closed(call: Any) -> Any:
        def refusing(self: Any, *args: Any, **kwargs: Any) -> Any:
            _refuse(COMPILED, even_if_complete=True)
            return call(self, *args, **kwargs)

        return refusing

    for cls in (torch._C.ScriptFunction, torch._C.ScriptMethod):
        _put(cls, "__call__", closed(cls.__call__))


def _close_unseen() -> None:
    """Refuse threads, and switching modes off, while a name can be seen by a mode only."""

    def closed(call: Any, what: str) -> Any:
        def refusing(*args: Any, **kwargs: Any) -> Any:
            _refuse(what, even_if_complete=False)
            return call(*args, **kwargs)

        return refusing

    for module in (_thread, threading):  # the names differ from one version of Python to the next
        for name in ("start_new_thread", "start_new", "start_joinable_thread"):
            for start in (name, f"_{name}"):
                if hasattr(module, start):
                    _put(module, start, closed(getattr(module, start), THREAD))
    _put(torch._C, "DisableTorchFunction", closed(torch._C.DisableTorchFunction, UNWATCHED))


class _AutogradEngine:
    """Autograd's engine, watched: code can call it directly, without any function of torch."""

    def __init__(self, engine: Any, name: str) -> None:
        self._engine, self._name = engine, name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def run_backward(self, *args: Any, **kwargs: Any) -> Any:
        _look(self._name)
        return self._engine.run_backward(*args, **kwargs)


def _operator_of(thing: Any) -> str:
    """Return the operator that a function of C calls, as far as its name tells."""
    return f"aten::{getattr(thing, '__name__', '')}"


def _resolve(dotted: str) -> Any:
    """Return the object a dotted name stands for; it exists, because rules are checked with the homework."""
    module, _, rest = dotted.partition(".")
    thing: Any = importlib.import_module(module)
    for part in rest.split("."):
        thing = getattr(thing, part)
    return thing


def mentions(trees: Sequence[ast.Module], rules: Sequence[Rule]) -> list[tuple[str, int, int]]:
    """Return name, index of the tree and line of forbidden names in the text; aliases of imports are followed."""
    forbidden = {name for rule in rules for name in rule.names}
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
            found.append((dotted, index, getattr(node, "lineno", 0)))
    return sorted(found, key=lambda hit: (hit[1], hit[2], hit[0]))[:MOST_TOLD]


def _dotted(node: ast.AST, aliases: dict[str, str]) -> str:
    attributes: list[str] = []
    while isinstance(node, ast.Attribute):
        attributes.append(node.attr)
        node = node.value
    root = aliases.get(node.id, node.id) if isinstance(node, ast.Name) else ""
    return ".".join([root, *reversed(attributes)])
