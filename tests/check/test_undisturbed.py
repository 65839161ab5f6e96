"""A check in a notebook leaves everything as it was, whatever the functions do that it calls."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

STATE = """
import os, random, sys, warnings
import numpy, torch
def state():
    return {
        "variables": {name: thing for name, thing in globals().items() if name not in ("softmark", "before", "after")},
        "random": random.getstate(),
        "numpy": str(numpy.random.get_state()),
        "torch": torch.get_rng_state().tolist(),
        "dtype": torch.get_default_dtype(),
        "gradients": torch.is_grad_enabled(),
        "filters": list(warnings.filters),
        "NumPy's errors": numpy.geterr(),
        "folder": os.getcwd(),
        "path": list(sys.path),
        "environment": dict(os.environ),
        "torch's own": (torch.relu, torch.softmax, torch.nn.LayerNorm.__init__.__code__),
    }
"""
OWN = """
random.seed(3), numpy.random.seed(3), torch.manual_seed(3)
torch.set_default_dtype(torch.float64)
torch.set_grad_enabled(False)
warnings.simplefilter("error")
numpy.seterr(all="raise")
count, kept = 0, 7
"""
BUSY = """
def attend(h, X):
    global count, new, kept
    count, new = count + 1, 1
    kept = None
    random.seed(), numpy.random.seed(), torch.seed()
    torch.set_default_dtype(torch.float16)
    torch.set_grad_enabled(False)
    warnings.resetwarnings()
    numpy.seterr(all="ignore")
    os.chdir("/")
    return X @ h
"""
RIGHT = """
def attend(h, X):
    weights = torch.softmax(torch.zeros(()) + (X @ h.unsqueeze(-1)).squeeze(-1), dim=-1)
    return (weights.unsqueeze(-2) @ X).squeeze(-2)
"""
COMPARED = """
before = state()
import softmark
softmark.check(attend)
after = state()
print("other:", [name for name in before if before[name] != after[name]])
"""
PYPLOT = """
class pyplot:
    '''Stands for matplotlib.pyplot: figures by number, and settings.'''
    figures, current, settings = [1, 2], 2, {"font": 9}
    @classmethod
    def get_fignums(cls): return list(cls.figures)
    @classmethod
    def fignum_exists(cls, number): return number in cls.figures
    @classmethod
    def gcf(cls):
        import types
        return types.SimpleNamespace(number=cls.current)
    @classmethod
    def figure(cls, number=None):
        cls.current = number or max(cls.figures, default=0) + 1
        cls.figures = sorted({*cls.figures, cls.current})
    @classmethod
    def close(cls, number): cls.figures.remove(number)
    @classmethod
    def rc_context(cls):
        import contextlib
        @contextlib.contextmanager
        def kept():
            before = dict(cls.settings)
            yield
            cls.settings = before
        return kept()
sys.modules["matplotlib.pyplot"] = pyplot
def attend(h, X):
    pyplot.figure()
    pyplot.settings = {"font": 40}
    return X
softmark.check(attend)
print("figures:", pyplot.figures, pyplot.current, pyplot.settings)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A homework's folder as a student gets it."""
    return Path(shutil.copytree(ROOT / "assignments/attention_scores", tmp_path / "homework"))


def said(folder: Path, code: str) -> str:
    command = [sys.executable, "-c", code]
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True, check=True).stdout


def test_nothing_changes(folder: Path) -> None:
    """Variables, generators and settings are the same objects after a function that changes all of them."""
    shown = said(folder, STATE + OWN + BUSY + COMPARED)
    assert "public tests: 1 of 3" in shown
    assert "other: []" in shown


def test_settings_of_grading(folder: Path) -> None:
    """The notebook's own defaults change no result: with float64 everywhere, float32 would not stay float32."""
    shown = said(folder, STATE + OWN + RIGHT + COMPARED)
    assert "public tests: 3 of 3" in shown
    assert "other: []" in shown


def test_figures(folder: Path) -> None:
    """A function that plots leaves no figures behind. The figures and the settings of the notebook stay."""
    assert "figures: [1, 2] 2 {'font': 9}" in said(folder, f"import sys, softmark\n{PYPLOT}")


def test_imported(folder: Path) -> None:
    """In a file that is imported the call does nothing, and loads nothing."""
    (folder / "work.py").write_text("import softmark\nsoftmark.check()\nsoftmark.check('attention_scores', part=3)\n")
    loaded = "print([name for name in ('torch', 'numpy', 'rich', 'pytest', 'IPython') if name in sys.modules])"
    assert said(folder, f"import sys, work\n{loaded}") == "[]\n"
