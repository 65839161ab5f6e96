"""Says why a name is not defined: a forgotten import, a failed cell, a slip of the pen."""

from __future__ import annotations

import re
from collections.abc import Callable

from softmark.intake.model import SubmittedFiles
from softmark.sandbox.wire import Raised

_NAME = re.compile(r"(?:name|variable) '(\w{1,60})'")
_GUARD = re.compile(r"^if[ \t]+__name__[ \t]*==.*$", re.MULTILINE)

_IMPORTS = {
    **{name: f"import {name}" for name in "collections copy functools itertools json math os random re sys".split()},
    **{name: f"import {name}" for name in "time torch typing warnings".split()},
    **{name: f"from typing import {name}" for name in "Any Callable Dict List Optional Tuple Union".split()},
    **{name: f"from collections import {name}" for name in "Counter OrderedDict defaultdict deque namedtuple".split()},
    **{name: f"from torch.utils.data import {name}" for name in ("DataLoader", "Dataset", "TensorDataset")},
    **{name: f"from torch.nn import {name}" for name in ("Linear", "Module", "ModuleList", "Parameter")},
    **{name: f"from functools import {name}" for name in ("partial", "reduce")},
    **{name: f"from math import {name}" for name in ("ceil", "exp", "log", "pi", "sqrt")},
    "F": "import torch.nn.functional as F",
    "np": "import numpy as np",
    "numpy": "import numpy",
    "nn": "from torch import nn",
    "optim": "from torch import optim",
    "Tensor": "from torch import Tensor",
    "Path": "from pathlib import Path",
    "dataclass": "from dataclasses import dataclass",
}
_OTHERWISE = {
    "true": "Python writes `True`",
    "false": "Python writes `False`",
    **dict.fromkeys(("null", "nil", "NULL"), "Python writes `None`"),
    **dict.fromkeys(("get_ipython", "display"), "only a notebook has it; delete this line"),
    "xrange": "Python 3 writes `range`",
    "unicode": "Python 3 writes `str`",
    "raw_input": "Python 3 writes `input`",
}


def missing_name(raised: Raised, line: str, handed: SubmittedFiles, lacking: Callable[[str], str]) -> str | None:
    """Return a sentence about the name in a NameError, if the student's line contains the name.

    `lacking` returns, for a name, why a notebook's cell did not set it.
    """
    found = _NAME.search(raised.message)
    if found is None or not re.search(rf"\b{found[1]}\b", line):
        return None
    name = found[1]
    if raised.cls == "UnboundLocalError":
        return f"uses `{name}` before it has a value: give it one before this line, in every branch"
    return f"uses `{name}`, {_why(name, handed, lacking)}"


def _why(name: str, handed: SubmittedFiles, lacking: Callable[[str], str]) -> str:
    """Return the rest of the sentence: why the name is not defined, and what to do."""
    behind = lacking(name)
    if behind:
        return behind
    if name in _OTHERWISE:
        return f"which is not defined: {_OTHERWISE[name]}"
    text = handed.text
    if name in _IMPORTS:
        known = _IMPORTS[name]
        move = re.search(rf"^[ \t]+{re.escape(known)}[ \t]*$", text, re.MULTILINE)
        return f"which is not defined: {'move' if move else 'add'} `{known}` {'to' if move else 'at'} the top"
    guard = _GUARD.search(text)
    if guard and re.search(rf"^[ \t]+(?:def |class )?{name}\b[ \t]*[=(:]", text[guard.end() :], re.MULTILINE):
        return f"which is set only under `{guard[0].strip()[:60]}`, and that is not run while grading: set it above"
    if re.search(rf"^[ \t]*(?:def |class )?{name}\b[ \t]*(?:[=(:,]|$)", text, re.MULTILINE):
        return "which is not defined at this place: pass it as an argument, or define it before it is used"
    similar = handed.similar(name)
    if similar is not None:
        return f"which is not defined: did you mean `{similar}`?"
    return "which is defined nowhere: check how it is spelt, or define it"
