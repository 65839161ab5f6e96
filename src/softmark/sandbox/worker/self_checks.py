"""Lets a student's file say `softmark.check(...)`, as a file does that was made of a notebook. Here it does nothing.

The real function would read files that a worker may not open, and the whole file would count as broken.
"""

from __future__ import annotations

import sys
from types import ModuleType

_MODULES = ("softmark.check", "softmark.student")


def leave_out() -> None:
    """Put modules in place from which `check` can be imported, and does nothing."""
    for name in _MODULES:
        module = ModuleType(name)
        vars(module)["check"] = _nothing
        sys.modules.setdefault(name, module)


def _nothing(*_args: object, **_kwargs: object) -> None:
    pass
