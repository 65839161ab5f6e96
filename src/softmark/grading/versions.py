"""Says which version of torch, NumPy or Python is used here, if the student's code needs another one."""

from __future__ import annotations

import re

import numpy as np
import torch

from softmark.grading.unreadable import PYTHON
from softmark.sandbox.wire import Raised

_VERSIONS = {
    "torch": f"torch {torch.__version__.partition('+')[0]}",
    "numpy": f"NumPy {np.__version__}",
}
_NO_ATTRIBUTE = re.compile(r"module '(torch|numpy)[\w.]*' has no attribute '(\w{1,60})'")
_NO_METHOD = re.compile(r"'(Tensor|numpy\.ndarray|ndarray)' object has no attribute '(\w{1,60})'")
_REMOVED = re.compile(r"`np\.(\w{1,60})` was removed")
_GONE = re.compile(r"deprecated since version [\d.]+ and is now removed")
_OF_TORCH = re.compile(r"\btorch\.(?:linalg\.)?(\w{1,60})\(")
_INSTEAD = {
    **{name: name for name in ("bool", "complex", "float", "int", "object", "str")},
    "float_": "np.float64",
    "complex_": "np.complex128",
    "unicode_": "np.str_",
    "Inf": "np.inf",
    "infty": "np.inf",
    "NaN": "np.nan",
    "NAN": "np.nan",
    "product": "np.prod",
    "cumproduct": "np.cumprod",
    "in1d": "np.isin",
    "alltrue": "np.all",
    "sometrue": "np.any",
    "row_stack": "np.vstack",
    "trapz": "np.trapezoid",
    "asfarray": "np.asarray",
    "round_": "np.round",
    "mat": "np.asmatrix",
    "bool8": "np.bool_",
}


def version_of(library: str) -> str:
    """Return the name and the version of a library; for a module of Python's own, those of Python."""
    return _VERSIONS.get(library, f"Python {PYTHON}")


def lacking(raised: Raised, line: str) -> str | None:
    """Return a sentence about a function in the student's line that the version here does not have."""
    if raised.cls == "AttributeError":
        return _attribute(raised.message, line)
    gone = _OF_TORCH.search(line)
    if raised.cls == "RuntimeError" and gone and _GONE.search(raised.message):
        return f"uses `{gone[0][:-1]}`, which {_VERSIONS['torch']}, used here, no longer has: see what replaces it"
    return None


def _attribute(message: str, line: str) -> str | None:
    found = _NO_ATTRIBUTE.search(message)
    removed = _REMOVED.search(message)
    module, name = ("numpy", removed[1]) if removed else (found[1], found[2]) if found else ("", "")
    if name:
        written = re.search(rf"[\w.]*\.{name}\b", line)
        hint = _INSTEAD.get(name) if module == "numpy" else None
        instead = f"write `{hint}`" if hint else "check how it is spelt, or write it another way"
        return (
            f"uses `{written[0]}`, which {_VERSIONS[module]}, used here, does not have: {instead}" if written else None
        )
    method = _NO_METHOD.search(message)
    if method is None or not re.search(rf"\.{method[2]}\b", line):
        return None
    things = f"tensors of {_VERSIONS['torch']}" if method[1] == "Tensor" else f"arrays of {_VERSIONS['numpy']}"
    return (
        f"uses `.{method[2]}`, which {things}, used here, do not have: check how it is spelt, or write it another way"
    )
