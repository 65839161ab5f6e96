"""Submissions that know nothing have every name that a homework asks for, and its methods."""

from __future__ import annotations

from pathlib import Path

import torch

from softmark.authoring.no_effort import trivial_submissions
from softmark.course.homework import load_homework
from tests.support.course import write_course

REFERENCE = """import torch
from torch import nn

def one(x):
    return 2 * x

class Two(nn.Module):
    def step(self, x):
        return 2 * x, 3 * x

    def forward(self, x):
        return self.step(x)[0]
"""


def test_methods_of_a_class_are_answered_without_effort(tmp_path: Path) -> None:
    """`function = "Two, Two.step"` is one class, of which both methods give the answer that knows nothing."""
    root = write_course(tmp_path, "", points=[2, 2])
    (root / "reference/tiny.py").write_text(REFERENCE)
    config = root / "graders/tiny/homework.toml"
    config.write_text(config.read_text().replace('function = "two"', 'function = "Two, Two.step"'))
    submissions = trivial_submissions(load_homework("tiny", root))
    for name, expected in (("none", (None, None)), ("right_shaped_constant", (0.5, (0.5, 0.5)))):
        scope: dict[str, object] = {"__name__": name}
        exec(submissions[name], scope)
        module, x = scope["Two"](), torch.tensor(7.0)  # type: ignore[operator]
        assert (module(x), module.step(x)) == expected


def test_constants_keep_no_content(tmp_path: Path) -> None:
    """Of texts, bytes, lists and dictionaries the constant has the length alone."""
    root = write_course(tmp_path, "", points=[2, 2])
    (root / "reference/tiny.py").write_text("def one(x):\n    return x\n\ndef two(x):\n    return x\n")
    scope: dict[str, object] = {}
    exec("import torch\n" + trivial_submissions(load_homework("tiny", root))["right_shaped_constant"], scope)
    found = scope["one"](["ab", b"cd", {"e": 7, "f": "gh"}, ""])  # type: ignore[operator]
    assert found == ["xx", b"xx", {0: 1, 1: "xx"}, ""]
