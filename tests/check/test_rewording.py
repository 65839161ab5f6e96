"""Decisions do not read sentences: with every sentence about a failure reworded, `check` decides as before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from softmark.records.result import Outcome, Result, decode
from softmark.records.verdict import Code
from tests.conftest import ROOT

SOLUTION = (ROOT / "reference/attention_scores.py").read_text()
UNSCALED = SOLUTION.replace("return S / math.sqrt(d_k)", "return S")
REWORDED = """
import sys
from softmark.sandbox.failures import StudentFailure
as_before = StudentFailure.__post_init__
def reworded(failure):
    failure.fact = "Other words; they are no use: none"
    as_before(failure)
StudentFailure.__post_init__ = reworded
from softmark.cli import main
main()
"""


def check(folder: Path, source: str) -> Result:
    """Check a submission in a process in which every failure without an answer has the same words."""
    folder.mkdir()
    for name in ("examples.json", "test_public.py"):
        (folder / name).write_bytes((ROOT / "assignments/attention_scores" / name).read_bytes())
    (folder / "attention_scores.py").write_text(source)
    command = [sys.executable, "-c", REWORDED, "check", "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    result = decode(done.stdout)
    facts = [verdict.fact for test in result.tests for verdict in test.verdicts]
    assert all("implemented" not in fact and "defined" not in fact for fact in facts)
    return result


def test_a_part_that_is_not_written(tmp_path: Path) -> None:
    """It is "not run", whatever is said about NotImplementedError."""
    unwritten = "def causal_mask(n):\n    not_yet = NotImplementedError\n    raise not_yet\n"
    result = check(tmp_path / "homework", f"{SOLUTION}\n{unwritten}")
    codes = {verdict.code for test in result.tests for verdict in test.verdicts}
    assert codes == {Code.NOT_WRITTEN}
    assert Outcome.FAILED not in {test.outcome for test in result.tests}


@pytest.mark.parametrize(
    ("attend", "code"),
    [("del attention", Code.NOT_DEFINED), ("def attention(one, more, Q, K, V):\n    return Q", Code.WRONG_ARGUMENTS)],
)
def test_a_failure_that_no_earlier_part_caused(tmp_path: Path, attend: str, code: str) -> None:
    """It is not put down to the mistake in part 3."""
    result = check(tmp_path / "homework", f"{UNSCALED}\n{attend}\n")
    own = [verdict for test in result.tests if test.part == "6" for verdict in test.verdicts]
    assert {verdict.code for verdict in own} == {code}
    assert not any("may follow" in verdict.fact for verdict in own)
