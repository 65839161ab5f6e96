"""Hostile and broken submissions: each case must cost what it must cost, and nothing else.

One folder a case in cases/: `spoil.py` is appended to the reference solution, so that its definitions replace the
reference's; `case.toml` says what must come of it. After every case the same engine grades the untouched reference at
full marks: no case may spoil the next submission's grading. Nor may a case make the engine large, or the result.

    outcome = "part"        the part that was spoilt loses all its marks, with a message that matches `says`
    outcome = "some"        the part that was spoilt loses marks, with a message that matches `says`; no other does
    outcome = "neighbours"  every other part keeps full marks
    outcome = "full"        nothing is lost
    outcome = "nothing"     the file cannot be loaded: every part 0, one reason at the top that matches `says`
    outcome = "unearned"    the parts and tests of `nothing_for` earn nothing, everything else keeps full marks

A case is one of attention_scores, unless it names another `homework`.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from softmark.feedback.results_json import encoded
from softmark.records.result import Outcome, Result, Status, encode
from tests.conftest import ROOT, Bench, opened_bench
from tests.support.confined import needs_root
from tests.support.notebooks import job, written
from tests.support.processes import peak_of

CASES = Path(__file__).parent / "cases"
SPOILT = "6"
LARGEST_RESULT, LARGEST_ENGINE = 1_000_000, 600_000_000
AS_NOTEBOOKS = ("forge_reply", "fork_twin", "os_exit", "patch_torch", "print_flood", "pytest_skip", "remove_scratch")
"""Some of each kind; how a submission was loaded makes no difference to what its functions can do."""
LEAVING = ("daemon", "fork_bomb", "hostile_neighbour", "kill_all", "late_thread")
"""What attacks or outlives its own process. Recent kernels keep signals inside; full isolation must not need that."""
OLD_KERNEL = """#!/bin/sh
shift 3
exec {python} -I -c '
from softmark.sandbox.walls import landlock
landlock.abi = lambda: landlock.FILES
from softmark.engines.__main__ import main
main()
' "$@"
"""


@pytest.fixture(scope="module")
def old_bench(short_course: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """An engine that takes this kernel for one whose Landlock governs files only."""
    python = tmp_path_factory.mktemp("old") / "python"
    python.write_text(OLD_KERNEL.format(python=sys.executable))
    python.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "executable", str(python))
        with opened_bench(short_course) as bench:
            patch.undo()
            yield bench


def lost(result: Result) -> dict[str, float]:
    return {part.number: part.points - part.earned for part in result.parts if part.earned != part.points}


def said(result: Result) -> str:
    facts = [f"{verdict.fact} {verdict.where}" for test in result.tests for verdict in test.verdicts]
    return "\n".join(facts)


@pytest.fixture(scope="module")
def lstm_bench() -> Iterator[Bench]:
    with opened_bench(ROOT, "lstm_gates") as opened:
        yield opened


def of(homework: str) -> list[Path]:
    """The cases of a homework."""
    every = {case: tomllib.loads((case / "case.toml").read_text()) for case in sorted(CASES.iterdir())}
    return [case for case, expected in every.items() if expected.get("homework", "attention_scores") == homework]


class TestRedteam:
    """What must hold for every case, through the real sandbox."""

    @pytest.mark.parametrize("case", of("lstm_gates"), ids=lambda case: case.name)
    def test_of_another_homework(self, case: Path, lstm_bench: Bench) -> None:
        """The same where one part runs another many times."""
        reference = (ROOT / "reference/lstm_gates.py").read_text()
        self._check(case, lstm_bench.grade(reference + "\n\n" + (case / "spoil.py").read_text()), lstm_bench)

    @pytest.mark.parametrize("case", of("attention_scores"), ids=lambda case: case.name)
    def test_costs_what_it_must_and_nothing_else(self, case: Path, bench: Bench, reference_source: str) -> None:
        """The part spoilt loses its marks with a clear message, all others keep theirs, and nothing is left."""
        result = bench.grade(reference_source + "\n\n" + (case / "spoil.py").read_text())
        text = encoded(result)  # strict JSON in Gradescope's form, whatever was printed or raised
        assert len(text) + len(encode(result)) < LARGEST_RESULT
        assert peak_of(*bench.engine.pids) < LARGEST_ENGINE
        assert [test.name for test in result.tests] == [test.name for test in bench.grade(reference_source).tests]
        self._check(case, result, bench)
        again = bench.grade(reference_source)
        assert again.total == again.max_score

    @pytest.mark.parametrize("name", AS_NOTEBOOKS)
    def test_costs_the_same_in_a_cell(self, name: str, bench: Bench, reference_source: str) -> None:
        """In a notebook, with the reference in the first cell and what spoils it in the second."""
        cells = reference_source, (CASES / name / "spoil.py").read_text()
        handed_in = job("attention_scores.ipynb", written(*cells))
        self._check(CASES / name, bench.engine.submit(handed_in).result(), bench)

    @needs_root
    @pytest.mark.parametrize("name", LEAVING)
    def test_costs_the_same_on_an_old_kernel(self, name: str, old_bench: Bench, reference_source: str) -> None:
        """With the first version of Landlock, from which on full isolation is promised."""
        result = old_bench.grade(reference_source + "\n\n" + (CASES / name / "spoil.py").read_text())
        self._check(CASES / name, result, old_bench)
        assert old_bench.grade(reference_source).total == 20.0

    def _check(self, case: Path, result: Result, bench: Bench) -> None:
        expected = tomllib.loads((case / "case.toml").read_text())
        assert bench.processes() == []
        assert bench.files() == []
        getattr(self, f"_check_{expected['outcome']}")(result, expected)

    def _check_part(self, result: Result, expected: dict[str, str]) -> None:
        assert result.status is Status.GRADED
        assert lost(result) == {SPOILT: 4.0}, said(result)
        assert re.search(expected["says"], said(result)), said(result)
        if "category" in expected:
            assert {v.category for test in result.tests for v in test.verdicts} == {expected["category"]}

    def _check_some(self, result: Result, expected: dict[str, str]) -> None:
        assert result.status is Status.GRADED
        assert set(lost(result)) == {SPOILT}, said(result)
        assert re.search(expected["says"], said(result)), said(result)
        assert {v.category for test in result.tests for v in test.verdicts} == {expected["category"]}

    def _check_neighbours(self, result: Result, expected: dict[str, str]) -> None:
        assert result.status is Status.GRADED
        assert set(lost(result)) <= {SPOILT}, said(result)

    def _check_full(self, result: Result, expected: dict[str, str]) -> None:
        assert lost(result) == {}, said(result)

    def _check_unearned(self, result: Result, expected: dict[str, list[str]]) -> None:
        assert result.status is Status.GRADED
        unearned = tuple(f"{number}." for number in expected["nothing_for"])
        for test in result.tests:
            assert test.score == (0 if f"{test.number}.".startswith(unearned) else test.max_score), test.number

    def _check_nothing(self, result: Result, expected: dict[str, str]) -> None:
        assert result.status is Status.NOT_GRADABLE
        assert result.total == 0
        assert all(test.outcome is Outcome.FAILED for test in result.tests)
        assert re.search(expected["says"], result.reason), result.reason
