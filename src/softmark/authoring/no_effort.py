"""Makes submissions that know nothing and must earn nothing: the starter, and one kind of answer for every part.

A constant of the right shape takes the shape, and nothing else, from a copy of the reference. Nobody is paid for
shapes.
"""

from __future__ import annotations

import ast

from softmark.authoring.starter import cut
from softmark.course.homework import Homework

_ANSWERS = {
    "none": "return None",
    "first_argument": "return args[0] if args else next(iter(kwargs.values()), None)",
    "zeros": "return torch.zeros(2, 3, dtype=torch.float64)",
    "ones": "return torch.ones(2, 3, dtype=torch.float64)",
    "nan": "return torch.full((2, 3), float('nan'), dtype=torch.float64)",
    "empty": "return torch.empty(0, dtype=torch.float64)",
    "error": "raise ValueError('a part that always raises')",
}

_FUNCTION = """
def {name}(*args, **kwargs):
    {body}
"""

_CLASS = """
class {name}(torch.nn.Module):
    def __init__(self, *args, **kwargs):
        super().__init__()
"""

_METHOD = """
    def {name}(self, *args, **kwargs):
        {body}
"""

_CONSTANT = """
def _constant(value):
    if isinstance(value, torch.Tensor):
        return torch.full_like(value, True if value.dtype is torch.bool else 0.5)
    if isinstance(value, (tuple, list)):
        return type(value)(_constant(item) for item in value)
    if isinstance(value, dict):
        return {place: _constant(item) for place, item in enumerate(value.values())}
    if isinstance(value, (str, bytes)):
        return (b"x" if isinstance(value, bytes) else "x") * len(value)
    return type(value)(1) if isinstance(value, (bool, int, float)) else value
"""

_CONSTANT_FUNCTION = """
_right_{name} = {name}


def {name}(*args, **kwargs):
    try:
        return _constant(_right_{name}(*args, **kwargs))
    except Exception:
        return None
"""

_CONSTANT_CLASS = """
class {name}({name}):
    def __init__(self, *args, **kwargs):
        try:
            super().__init__(*args, **kwargs)
        except Exception:
            torch.nn.Module.__init__(self)
"""

_CONSTANT_METHOD = """
    def {name}(self, *args, **kwargs):
        try:
            return _constant(super().{name}(*args, **kwargs))
        except Exception:
            return None
"""


def starter(homework: Homework) -> str:
    """Return the starter as a submission: the one that is handed out, or else one that is cut now."""
    handed_out = homework.root / "assignments" / homework.name / homework.file
    if handed_out.is_file():
        return handed_out.read_text(encoding="utf-8")
    return cut(homework.reference.read_text(encoding="utf-8"), homework)


def trivial_submissions(homework: Homework) -> dict[str, str]:
    """Return the source texts by name."""
    reference = homework.reference.read_text(encoding="utf-8")
    classes = {node.name for node in ast.parse(reference).body if isinstance(node, ast.ClassDef)}
    methods = {name: ["forward", *_methods(homework, name)] for name in homework.wanted if name in classes}

    def defined(name: str, function: str, of_class: str, method: str, body: str = "") -> str:
        if name not in methods:
            return function.format(name=name, body=body)
        own = [method.format(name=one, body=body) for one in methods[name]]
        return of_class.format(name=name) + "".join(own)

    submissions = {}
    for label, body in _ANSWERS.items():
        pieces = [defined(name, _FUNCTION, _CLASS, _METHOD, body) for name in homework.wanted]
        submissions[label] = "import torch\n\n" + "\n".join(pieces)
    pieces = [defined(name, _CONSTANT_FUNCTION, _CONSTANT_CLASS, _CONSTANT_METHOD) for name in homework.wanted]
    submissions["right_shaped_constant"] = reference + _CONSTANT + "\n".join(pieces)
    return submissions


def _methods(homework: Homework, name: str) -> list[str]:
    """Return the methods of a class that the parts name: "Decoder.step" has "step"."""
    named = [one.partition(".") for part in homework.parts for one in part.functions]
    return [method for owner, _, method in named if owner == name and method not in ("", "forward")]
