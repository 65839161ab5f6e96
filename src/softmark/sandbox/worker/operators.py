"""Refuses operators of torch below Python: in the dispatcher, which every call of an operator passes.

While an operator is refused, each kernel that the dispatcher may choose for it is replaced by one that raises. It makes
no difference whether Python, a script, another thread, C++ or a transformation such as vmap calls the operator, or
whether modes of torch are switched off. The kernels stay until `allow_all`: to replace them takes half a millisecond,
and a submission is called dozens of times.
"""

from __future__ import annotations

import bisect
import functools
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, NoReturn

import torch

Kernel = Callable[..., NoReturn]

_ALWAYS = ("CPU", "Autograd", "FuncTorchVmapMode", "FuncTorchBatched", "FuncTorchBatchedDecomposition")
_WILDCARD = re.compile(r"[*?[]")
_COMPOSITE = "CompositeImplicitAutograd"
"""The key of operators that are composed of others. Such an operator can be called without passing the other keys."""


class _RefusedOperators:
    """The operators that are refused now, and the libraries that hold the kernels which raise."""

    names: frozenset[str] = frozenset()
    libraries: Mapping[str, Any] = {}


@functools.cache
def operators() -> Mapping[str, tuple[str, ...]]:
    """Return the full names of torch's operators, by their names without overload. "aten::lstm" has two full names."""
    found: dict[str, tuple[str, ...]] = {}
    for full in torch._C._dispatch_get_all_op_names():
        name = full.partition(".")[0]
        found[name] = (*found.get(name, ()), full)
    return found


@functools.cache
def sorted_names() -> tuple[str, ...]:
    """Return the names of torch's operators without overload, sorted."""
    return tuple(sorted(operators()))


def matching(patterns: tuple[str, ...]) -> frozenset[str]:
    """Return the operators that these patterns name: "aten::lstm", or "aten::_scaled_dot_product_*"."""
    names = {pattern for pattern in patterns if pattern in operators()}
    for pattern in patterns:
        beginning = _WILDCARD.split(pattern, maxsplit=1)[0]
        if pattern == f"{beginning}*":
            names.update(_beginning_with(beginning))  # a regular expression costs a new worker half a millisecond
        elif beginning != pattern:
            names.update(name for name in _beginning_with(beginning) if fnmatchcase(name, pattern))
    return frozenset(names)


def _beginning_with(text: str) -> Iterator[str]:
    """Yield the operators whose names begin with this text.

    The names are sorted, so that no others are read: a worker copies each page of memory whose objects it reads.
    """
    names = sorted_names()
    for index in range(bisect.bisect_left(names, text), len(names)):
        if not names[index].startswith(text):
            return
        yield names[index]


def refuse(names: frozenset[str], kernel_of: Callable[[str], Kernel]) -> None:
    """Put a kernel of ours in the place of these operators, and of no others, until the next call."""
    if names == _RefusedOperators.names:
        return
    allow_all()
    spaces = {name.partition("::")[0] for name in names}
    libraries = {space: torch._C._dispatch_library("IMPL", space, "", __file__, 0) for space in spaces}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns once that a kernel is replaced
        for name in names:
            for full in operators()[name]:
                _replace(libraries[name.partition("::")[0]], full, kernel_of(name))
    _RefusedOperators.names, _RefusedOperators.libraries = names, libraries


def _replace(library: Any, full: str, kernel: Kernel) -> None:
    keys = list(_ALWAYS)
    if torch._C._dispatch_has_kernel_for_dispatch_key(full, _COMPOSITE):
        keys.append(_COMPOSITE)
    if torch.version.cuda is not None:
        keys.append("CUDA")
    for key in keys:
        library.impl(full.partition("::")[2], key, kernel)


def allow_all() -> None:
    """Give every operator its own kernels back."""
    _RefusedOperators.names, _RefusedOperators.libraries = frozenset(), {}
