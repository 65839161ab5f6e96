"""Looks at every call of a Python function, whatever name, saved reference, thread or mode of torch the caller uses.

The function stays the same object. Its code is replaced by two lines that call a gate. The gate looks at the arguments
and then runs the original code. `open_all` puts that code back.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

Look = Callable[[tuple[Any, ...]], None]
"""A function that gets the positional arguments of a call, and raises if the call must not be made."""

_CLOSED: dict[FunctionType, tuple[CodeType, list[Look]]] = {}
"""The functions that have a gate, each with its original code and with the functions that look at its calls."""


def close(function: FunctionType, look: Look) -> None:
    """Have `look` see each further call of the function first."""
    if function in _CLOSED:
        _CLOSED[function][1].append(look)
        return
    looks = [look]
    before = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    before.__kwdefaults__, before.__annotations__ = function.__kwdefaults__, function.__annotations__

    def gate(*args: Any, **kwargs: Any) -> Any:
        for look in looks:
            look(args)
        return before(*args, **kwargs)

    _CLOSED[function] = (function.__code__, looks)
    function.__wrapped__ = before  # type: ignore[attr-defined]  # where inspect.signature finds the signature
    function.__code__ = _asking(gate, function.__code__)


def replace_code(function: FunctionType, other: Callable[..., Any]) -> None:
    """Have the function do what another one does, under every name that refers to it."""
    function.__code__ = _asking(other, function.__code__)
    function.__defaults__ = function.__kwdefaults__ = None


def open_all() -> None:
    """Give every function its own code back."""
    for function, (code, _) in _CLOSED.items():
        function.__code__ = code
        del function.__wrapped__  # type: ignore[attr-defined]
    _CLOSED.clear()


def _asks(*args: Any, **kwargs: Any) -> Any:
    gate: Any = "the gate"
    return gate(*args, **kwargs)


def _asking(gate: Callable[..., Any], instead_of: CodeType) -> CodeType:
    """Return code that calls the gate, with the name and the place of the code that it replaces."""
    own = _asks.__code__
    return own.replace(
        co_consts=tuple(gate if constant == "the gate" else constant for constant in own.co_consts),
        co_name=instead_of.co_name,
        co_qualname=instead_of.co_qualname,
        co_filename=instead_of.co_filename,
        co_firstlineno=instead_of.co_firstlineno,
        co_freevars=instead_of.co_freevars,
    )
