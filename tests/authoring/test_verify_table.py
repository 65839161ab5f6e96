"""Checks the table that `softmark verify` shows of a verification."""

import io

from rich.console import Console

from softmark.authoring.verification import Verification
from softmark.authoring.verify_table import as_plain, show_verifications


def shown(*verifications: Verification) -> str:
    console = Console(file=io.StringIO(), width=100)
    show_verifications(verifications, 1.0, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


class TestNothingToProveWith:
    """A homework without mistakes or without other right code has no gap, and is not proved either."""

    def test_is_said_plainly(self) -> None:
        verification = Verification("tiny", starters=1, starters_zero=1, trivial=8, trivial_zero=8)
        said = shown(verification)
        assert "✓  tiny      none    none   none   1/1      8/8      –, –" in said
        assert "! tiny: nothing is proved about wrong answers: name mistakes in mistakes.toml" in said
        assert "! tiny: nothing is proved about other right answers: add some to equivalents.py" in said
        assert as_plain([verification], 1.0)["ok"] is True

    def test_is_not_said_of_a_whole_one(self) -> None:
        verification = Verification("tiny", mistakes=2, caught=2, named=2, equivalents=1, equivalents_full=1)
        verification.conditions = {"in every call": {"double": "caught"}}
        assert "nothing is proved" not in shown(verification)
        assert "2/2" in shown(verification)
