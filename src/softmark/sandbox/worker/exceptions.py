"""Turns a student's exception into data: its class, its message, and the student's own lines. Runs in the worker.

The exception is the student's object: its class may lie about its name, and making its message may take for ever. The
class name is read without asking a metaclass. The message is made here, under the worker's limits, and cut. The notes
name the libraries of TELLING that the exception passed through: they tell what the student's line tried to do.
"""

from __future__ import annotations

import builtins
import linecache
import os
import re
import traceback
from errno import ENOMEM
from types import TracebackType

from softmark.sandbox.wire import Frame, Raised

_MESSAGE, _NAME, _LINE, _FRAMES = 2000, 80, 200, 8
_TORCH_OUT_OF_MEMORY = re.compile(r"can't allocate memory|out of memory", re.IGNORECASE)
_type_name = type.__dict__["__name__"].__get__
_ancestry = type.__dict__["__mro__"].__get__

TELLING = (
    *("argparse", "concurrent.futures.process", "multiprocessing", "socket", "subprocess", "urllib"),
    *("torch._dynamo", "torch._inductor", "torch.hub", "torch.multiprocessing", "torch.utils.data.dataloader"),
)
"""Modules that tell what the code tried to do when it failed. The exception alone, such as PermissionError, does not.
"""


def describe(error: BaseException, scratch: str) -> Raised:
    message = _message(error).replace(scratch + os.sep, "").replace(scratch, ".")
    frames = _syntax_frame(error, scratch) or _frames(error.__traceback__, scratch)
    notes = _passed(error.__traceback__)
    name, base = _type_name(type(error))[:_NAME], _base(type(error))
    return Raised(cls=name, message=message[:_MESSAGE], frames=frames, notes=notes, base=base)


def _base(cls: type[BaseException]) -> str:
    """Return the name of the nearest class of Python's own in the ancestry of a class."""
    ancestors = ((_type_name(ancestor), ancestor) for ancestor in _ancestry(cls))
    return next((name for name, ancestor in ancestors if vars(builtins).get(name) is ancestor), "")


def is_memory(error: BaseException) -> bool:
    """Return whether memory was refused, by the error's class, torch's words, or the number of an OSError."""
    if isinstance(error, MemoryError):
        return True
    if type(error) is OSError:
        return error.errno == ENOMEM
    return type(error) is RuntimeError and bool(_TORCH_OUT_OF_MEMORY.search(_message(error)))


def _message(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException as another:  # the student's class may fail to make its message
        return f"(its message could not be made: {_type_name(type(another))[:_NAME]})"
    return text if type(text) is str else "(its message is not a string)"


def _frames(trace: TracebackType | None, scratch: str) -> tuple[Frame, ...]:
    """Return the innermost of the student's own frames, outermost first."""
    own = []
    for frame, line in traceback.walk_tb(trace):
        file = frame.f_code.co_filename
        if file.startswith(scratch + os.sep):
            text = linecache.getline(file, line).strip()[:_LINE]
            own.append(Frame(os.path.relpath(file, scratch), line, frame.f_code.co_name[:_NAME], text))
    return tuple(own[-_FRAMES:])


def _passed(trace: TracebackType | None) -> tuple[str, ...]:
    """Return the modules of TELLING that the exception passed through."""
    names = (frame.f_globals.get("__name__") for frame, _ in traceback.walk_tb(trace))
    modules = {f"{name}." for name in names if type(name) is str}
    return tuple(known for known in TELLING if any(module.startswith(f"{known}.") for module in modules))


def _syntax_frame(error: BaseException, scratch: str) -> tuple[Frame, ...]:
    """Return the place of a syntax error: it has no frame, so the place is in the error itself."""
    if not isinstance(error, SyntaxError) or type(error.filename) is not str or type(error.lineno) is not int:
        return ()
    if not error.filename.startswith(scratch + os.sep):
        return ()
    text = (error.text if type(error.text) is str else "").strip()[:_LINE]
    return (Frame(os.path.relpath(error.filename, scratch), error.lineno, "", text),)
