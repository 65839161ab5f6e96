"""A hostile sample submission: it looks for the reference in memory, in its callers' variables and among the files."""

import gc
import sys
import types
from pathlib import Path

import torch

NAMES = "rnn_step joined rnn gru_step RNN read_out rnn_backward clip state_jacobian".split()


def found(name):
    """The reference's function of this name, if there is a way to it."""
    for module in list(sys.modules.values()):
        if "reference" in getattr(module, "__name__", "") and hasattr(module, name):
            return getattr(module, name)
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__name__ == name and thing.__module__ != __name__:
            return thing
    frame = sys._getframe()
    while frame is not None:
        for value in [*frame.f_locals.values(), *frame.f_globals.values()]:
            if hasattr(value, "gru_step") and getattr(value, "__name__", __name__) != __name__:
                return getattr(value, name)
        frame = frame.f_back
    for folder in sys.path:
        for path in (Path(folder or "."), *Path(folder or ".").resolve().parents):
            try:
                source = (path / "reference" / "recurrent.py").read_text()
            except OSError:
                continue
            scope = {}
            exec(source, scope)
            return scope[name]
    return lambda *args, **kwargs: torch.zeros(3, 4)


def stolen(name):
    def function(*args, **kwargs):
        return found(name)(*args, **kwargs)

    return function


globals().update({name: stolen(name) for name in NAMES})
