"""Loads a submission inside its worker, as a module with the name of its file.

The file is executed from its path in the scratch directory, under its own name, with that directory at the *end* of
the module search path: a `random.py` handed in beside it cannot stand in for the library's. There is no `__main__`.
A failed import costs only the code that uses it (absent.py). Each cell of a notebook is a file, and together they make
one module (cells.py).
"""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import sys
import types
from collections.abc import Collection, Sequence
from typing import Any

from msgspec import structs

from softmark.sandbox.wire import Handle
from softmark.sandbox.wire.protocol import Cells, Loaded, Rule
from softmark.sandbox.worker import absent, exceptions
from softmark.sandbox.worker.absent import Absent
from softmark.sandbox.worker.cells import CellRun
from softmark.sandbox.worker.forbidden import Guard, mentions
from softmark.sandbox.worker.stand_ins import StandIns

_MOST_TOLD = 20


class ObjectLost(LookupError):
    """Raised if the process that held an object has ended, and the object with it."""


class SubmissionModule:
    """The student's module, and the student's objects that tests have handles to."""

    def __init__(self, module: types.ModuleType, guard: Guard, noticed: Loaded | None = None) -> None:
        self.module, self.guard = module, guard
        self._noticed = noticed or Loaded(names={})
        self._objects: dict[int, Any] = {}
        self.stand_ins: StandIns | None = None

    def told(self, wanted: Collection[str] | None) -> Loaded:
        """Return what was noticed during loading, with the functions and classes that a test may ask for."""
        kinds = {}
        for name, value in list(vars(self.module).items()):
            own = type(name) is str and not name.startswith("_") and type(value) is not Absent
            if own and (wanted is None or name in wanted):
                if inspect.isclass(value):
                    kinds[name] = "class"
                elif callable(value):
                    kinds[name] = "function"
        return structs.replace(self._noticed, names=kinds)

    def keep(self, thing: Any, number: int) -> Handle:
        """Keep an object under the number of the request that made it, because no other request has that number."""
        from torch import nn

        self._objects[number] = thing
        return Handle(number, type(thing).__name__[:80], isinstance(thing, nn.Module))

    def held(self, handle: Handle) -> Any:
        if handle.id not in self._objects:
            raise ObjectLost
        return self._objects[handle.id]

    def forget_handles(self) -> None:
        self._objects.clear()


def load(scratch: str, file: str, rules: Sequence[Rule]) -> SubmissionModule:
    """Run the submission's file as a module. Raise any error of the file but those of its imports."""
    path = os.path.join(scratch, file)
    with open(path, "rb") as source_file:
        source = source_file.read()
    module = _empty_module(scratch, file)
    text = source.decode("utf-8", "replace")
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    code = compile(source, path, "exec", dont_inherit=True)
    guard = Guard(rules)  # before the student's code can keep a reference to a forbidden function
    with absent.tolerated(scratch) as failures:
        absent.execute_file(code, source, module.__dict__)
    mentioned = mentions([ast.parse(source)], rules) if rules else []
    failed = [exceptions.describe(error, scratch) for error in failures[:_MOST_TOLD]]
    return SubmissionModule(module, guard, Loaded(names={}, mentions=mentioned, failed=failed))


def load_notebook(scratch: str, file: str, rules: Sequence[Rule], cells: Cells) -> SubmissionModule:
    """Run the cells of a notebook as a module with the notebook's name. Their exceptions are noted and not raised."""
    module = _empty_module(scratch, file)
    run = CellRun(scratch, cells)
    guard = Guard(rules)
    with absent.tolerated(scratch):
        run.run_in(module)
    return SubmissionModule(module, guard, Loaded(names={}, mentions=mentions(run.trees, rules), **run.told()))


def _empty_module(scratch: str, file: str) -> types.ModuleType:
    name = os.path.splitext(os.path.basename(file))[0]
    sys.argv = [file]
    sys.path.append(scratch)
    module = types.ModuleType(name)
    module.__file__ = os.path.join(scratch, file)
    sys.modules[name] = module
    return module
