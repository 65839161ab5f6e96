"""Checks a student's work on the student's own machine.

In: a file or an open notebook, and the homework's public tests. Out: a Result with the words of grading, which counts
tests and not points.

The room is also the function of a notebook, `softmark.check(scores)`. Python sets `softmark.check` to the room as soon
as something of it is imported, so the module itself can be called.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


def check(what: object = None, part: str | int | None = None, *, homework: str | None = None) -> None:
    """Run public tests on the functions of this notebook, and show what they find.

    `what` is a function or a class, its name, or the number of a part; without it everything is checked. The homework
    is found by the name and the folder. If several fit, say which: `softmark.check(encode, homework="text_features")`,
    or `softmark.check("text_features", part=3)`. In a file that is imported or graded this does nothing.
    """
    namespace = sys._getframe(1).f_globals
    if namespace.get("__name__") == "__main__":
        check_in(namespace, what, part, homework)


def check_in(namespace: dict[str, Any], what: object, part: str | int | None, homework: str | None) -> None:
    """Check functions of a notebook's namespace, and show the result."""
    from softmark.check.undisturbed import undisturbed

    with undisturbed(namespace):
        from softmark.check.in_notebook import check_and_show  # rich draws random numbers when it is imported

        check_and_show(namespace, what, part, homework)


class _CallableRoom(ModuleType):
    __call__ = staticmethod(check)


sys.modules[__name__].__class__ = _CallableRoom
