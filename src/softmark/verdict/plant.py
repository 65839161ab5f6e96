"""Runs the reference with a variant in the place of one of its functions, and finds the functions that it calls.

The reference's functions call each other by name, so all of them see a variant that is planted under that name. The
original is always put back afterwards.
"""

from __future__ import annotations

import copy
import dis
import functools
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from torch import nn

Target = Callable[..., Any]
Planting = Sequence[tuple[Target, Callable[..., Any]]]


@contextmanager
def planted(plants: Planting) -> Iterator[None]:
    """Put each variant into the module or class in which its target is looked up, inside this block."""
    before: list[tuple[Any, str, Any]] = []
    try:
        for target, variant in plants:
            owner, name = _seat(target)
            before.append((owner, name, _swap(owner, name, variant)))
        yield
    finally:
        for owner, name, value in reversed(before):
            _swap(owner, name, value)


def stand_in(target: Target, variant: Target) -> Target:
    """Return the variant. If it calls the function that it replaces, the original is called."""
    if not isinstance(variant, FunctionType) or not any(part is target for part in reachable(variant)):
        return variant
    inside = False

    @functools.wraps(variant)
    def varied(*args: Any, **kwargs: Any) -> Any:
        nonlocal inside
        if inside:
            return target(*args, **kwargs)
        inside = True
        try:
            return variant(*args, **kwargs)
        finally:
            inside = False

    return varied


def instead(want: Target, plants: Planting) -> Target:
    """Return the callable to use for `want` while variants are planted: itself, a variant, or a copy with its state."""
    variants = {id(target): variant for target, variant in plants}
    if isinstance(want, functools.partial):
        return functools.partial(instead(want.func, plants), *want.args, **want.keywords)
    if isinstance(want, FunctionType | type):
        return variants.get(id(want), want)
    if isinstance(want, MethodType):
        return _method(want, variants)
    twin: Target = _twin(want, variants)
    return twin


def reachable(want: Target) -> Sequence[Target]:
    """Return `want` and the functions and classes that it can call by name, without those of libraries."""
    return _reached(want) if isinstance(want, FunctionType) else _search(want)


@functools.lru_cache(maxsize=512)
def _reached(function: FunctionType) -> Sequence[Target]:
    return tuple(_search(function))


def out_of_reach(target: Target, want: Target) -> bool:
    """Return whether code that `want` calls has imported the target by name, so that it does not see a variant."""
    return any(
        caller.__globals__ is not _namespace(target)
        and any(caller.__globals__.get(name) is target for name in _globals(caller.__code__))
        for caller in reachable(want)
        if isinstance(caller, FunctionType)
    )


def _search(want: Target) -> list[Target]:
    found: list[Target] = []
    waiting: list[Any] = [want]
    while waiting:
        thing = waiting.pop(0)
        for part in parts(thing):
            if not any(part is known for known in found):
                found.append(part)
                waiting.extend(_named_in(part))
    return found


def _seat(target: Target) -> tuple[Any, str]:
    """Return the namespace in which a target is looked up, and its name there."""
    names = _namespace(target)
    *classes, name = target.__qualname__.split(".")
    owner: Any = names
    for part in classes:
        owner = owner[part] if isinstance(owner, dict) else getattr(owner, part)
    return owner, name


def _namespace(target: Target) -> dict[str, Any]:
    if isinstance(target, FunctionType):
        return target.__globals__
    for value in vars(target).values():
        if isinstance(value, FunctionType) and value.__module__ == target.__module__:
            return value.__globals__
    return vars(sys.modules[target.__module__])


def _swap(owner: Any, name: str, value: Any) -> Any:
    """Set a name, and return its old value."""
    if isinstance(owner, dict):
        before, owner[name] = owner[name], value
        return before
    before = vars(owner)[name]
    setattr(owner, name, value)
    return before


def _method(want: MethodType, variants: Mapping[int, Target]) -> Target:
    """Return the same method of a copy of its object, looked up anew, so that a planted method is found."""
    method: Target = getattr(_twin(want.__self__, variants), want.__func__.__name__)
    return method


def _twin(owner: Any, variants: Mapping[int, Target]) -> Any:
    """Return a copy of an object with its state. If its class is replaced, the copy has the variant's class."""
    twin = copy.deepcopy(owner)
    variant = variants.get(id(type(owner)))
    if isinstance(variant, type):
        object.__setattr__(twin, "__class__", variant)
    return twin


def parts(thing: Any) -> list[Target]:
    """Return the functions and classes that a callable consists of; none if it belongs to a library."""
    if isinstance(thing, functools.partial):
        return parts(thing.func)
    if isinstance(thing, MethodType):
        return [*parts(thing.__func__), *parts(type(thing.__self__))]
    if isinstance(thing, FunctionType):
        return [] if _is_library(thing) else [thing]
    if isinstance(thing, type):
        if _is_library(thing):
            return []
        return [thing, *(value for value in vars(thing).values() if isinstance(value, FunctionType))]
    if isinstance(thing, nn.Module):
        return [part for module in thing.modules() for part in parts(type(module))]
    return parts(type(thing)) if callable(thing) else []


def _is_library(thing: Any) -> bool:
    return str(getattr(thing, "__module__", "")).split(".")[0] in ("torch", "numpy", "math", "builtins", "softmark")


def _named_in(part: Target) -> list[Any]:
    """Return the objects that a function's code refers to by name or by its closure; for a class, its bases."""
    if not isinstance(part, FunctionType):
        return list(getattr(part, "__bases__", ()))
    names = _names(part.__code__)
    values = [part.__globals__[name] for name in names if name in part.__globals__]
    values += [cell.cell_contents for cell in part.__closure__ or () if _is_full(cell)]
    for module in [value for value in values if isinstance(value, ModuleType) and not _is_torch(value)]:
        values += [vars(module)[name] for name in names if name in vars(module)]
    return [value for value in values if not isinstance(value, ModuleType)]


@functools.lru_cache(maxsize=512)
def _globals(code: CodeType) -> frozenset[str]:
    """Return the names that a function's code looks up in its module."""
    own = {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}
    return frozenset(own.union(*(_globals(constant) for constant in code.co_consts if isinstance(constant, CodeType))))


def _names(code: CodeType) -> set[str]:
    nested = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*(_names(inner) for inner in nested))


def _is_full(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


def _is_torch(module: ModuleType) -> bool:
    return module.__name__.split(".")[0] in ("torch", "numpy", "math")
