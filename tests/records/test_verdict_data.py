"""Verdicts as plain data."""

import math
import subprocess
import sys

from softmark.records.result import VerdictData, encode
from softmark.records.verdict import Category, Cause, CodeLine, Verdict
from softmark.records.verdict import Picture as DrawnPicture
from softmark.records.verdict_data import CauseData, FrameData, Picture, recorded


class TestRecorded:
    def test_keeps_everything(self) -> None:
        """Each field of a verdict has its place, and two mistakes made together are one named cause."""
        verdict = Verdict(
            Category.NAN,
            "2 of 2 numbers are NaN",
            where="at [0, 1]",
            staff="seed 1",
            causes=(Cause(("no_scale", "no_max"), says="Both.", hint="Look."),),
            frames=(CodeLine("scores.py", 4, "scores", "return Q"),),
            picture=DrawnPicture(expected=((1.0, 2.0),), got=((math.nan, math.inf),), slice=(0, 1)),
        )
        assert recorded(verdict, subtest="[one]") == VerdictData(
            category="nan",
            fact="2 of 2 numbers are NaN",
            where="at [0, 1]",
            staff="seed 1",
            causes=(CauseData(name="no_scale + no_max", says="Both.", hint="Look."),),
            frames=(FrameData(file="scores.py", line=4, function="scores", text="return Q"),),
            picture=Picture(expected=((1.0, 2.0),), got=((None, None),), caption="at [0, 1, :, :]"),
            subtest="[one]",
        )

    def test_of_the_least(self) -> None:
        """A verdict with a fact alone stays one."""
        assert recorded(Verdict(Category.SHAPE, "shape (3,)")) == VerdictData(category="shape", fact="shape (3,)")


def test_reading_results_needs_no_torch() -> None:
    """A process that only reads or writes results stays light: no torch, numpy or pytest comes with them."""
    program = f"import sys, {encode.__module__}; print({{'torch', 'numpy', 'pytest'}} & set(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "set()"
