"""Makes a homework of one function, for tests that need to break things."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

TOML = """title = "Tiny"
file = "tiny.py"
points = 2
conditions = false

[[part]]
number = "1"
function = "double"
title = "Twice"
points = 2
"""
REFERENCE = '''"""Tiny."""

import torch


def double(x: torch.Tensor) -> torch.Tensor:
    """Twice x."""
    # BEGIN SOLUTION
    return 2 * x
    # END SOLUTION
'''
HIDDEN = '''"""Hidden tests."""

from gradescope_utils.autograder_utils.decorators import number, weight

from reference import tiny as ref
from softmark import agree, draw


@number("1.1")
@weight(2)
def test_double(student):
    """Twice the input."""
    agree(student.double, ref.double, draw("n", n=5))
'''
HEAD = "from reference import tiny as ref\nfrom softmark import equivalent, mistake\n\n\n"
MISTAKES = (
    HEAD
    + """FACTOR = 3


def factor():
    return FACTOR


@mistake(ref.double, says="You take it three times.", hint="Count again.")
def three_times(x):
    return factor() * x
"""
)
EQUIVALENTS = HEAD + "@equivalent(ref.double)\ndef added(x):\n    return x + x\n"


def course(root: Path, **files: str) -> Path:
    """Write the homework into a folder of its own; a file given by name replaces the usual one."""
    contents = {
        "graders/tiny/homework.toml": files.get("toml", TOML),
        "graders/tiny/test_hidden.py": files.get("hidden", HIDDEN),
        "graders/tiny/mistakes.py": files.get("mistakes", MISTAKES),
        "graders/tiny/equivalents.py": files.get("equivalents", EQUIVALENTS),
        "reference/tiny.py": files.get("reference", REFERENCE),
    }
    for name, content in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return root


def softmark(root: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(Path(sys.executable).with_name("softmark")), *words],
        env={**os.environ, "SOFTMARK_COURSE": str(root), "COLUMNS": "200", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
