"""Proposes repairs of a submission, and puts edited definitions in the place of the student's. Runs in a worker.

Repairs are proposed from the text alone, before anything of the submission has run. The worker that proposes them earns
no marks: its answer decides only which edits are tried.
"""

from __future__ import annotations
import __future__

import os
from types import FunctionType, ModuleType
from typing import Any

from softmark.edits.repairs import repairs_of
from softmark.sandbox.wire.editing import EditPut, Propose, Proposed, PutEdit

_FLAGS = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)


def propose(request: Propose) -> Proposed:
    """Return the repairs of a submission's functions."""
    definitions, edits, uses = repairs_of(request.texts, request.functions, request.others)
    return Proposed(
        [(one.file, one.start, one.end, one.line) for one in definitions],
        [(one.definition, one.kind, one.start, one.end, one.new, *one.told) for one in edits],
        uses,
    )


class EditedModule:
    """A loaded submission whose definitions can be exchanged; its names are kept as they were."""

    def __init__(self, module: ModuleType, scratch: str) -> None:
        self._module, self._scratch = module, scratch
        self._names: dict[str, Any] = dict(vars(module))
        codes = [value.__code__ for value in self._names.values() if type(value) is FunctionType]
        self._flags = codes[0].co_flags & _FLAGS if codes else 0

    def put(self, request: PutEdit) -> EditPut:
        """Put all names back, and run an edited definition at its line. The caller reports what it raises."""
        names = vars(self._module)
        names.clear()
        names.update(self._names)
        path = os.path.join(self._scratch, request.file)
        text = "\n" * (request.line - 1) + request.text
        exec(compile(text, path, "exec", self._flags, dont_inherit=True), names)
        return EditPut()
