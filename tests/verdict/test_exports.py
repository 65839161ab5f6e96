"""What hidden tests import from the top of the package."""

import subprocess
import sys

import softmark
from softmark import verdict


class TestExports:
    """`from softmark import …` finds the checks, and importing softmark alone loads nothing heavy."""

    def test_names(self):
        """Every promised name is the verdict room's own."""
        assert {"agree", "draw", "mistake", "equivalent", "gradients_agree", "raises"} <= set(softmark.__all__)
        assert all(getattr(softmark, name) is getattr(verdict, name) for name in softmark.__all__)

    def test_are_lazy(self):
        """A process that never compares numbers does not pay for torch."""
        code = "import sys, softmark; sys.exit('torch' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

    def test_unknown_names(self):
        """An unknown name is an ordinary attribute error."""
        assert not hasattr(softmark, "agre")
