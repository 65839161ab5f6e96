"""A run over a class does the same with the answers of any engine."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from softmark.batch.class_results import ClassResults
from softmark.batch.run import Finished, run_class
from softmark.course.digest import provenance
from softmark.course.homework import Homework
from softmark.engines.protocol import Engine, EngineError, GradingSpec
from softmark.intake.model import Entry, SubmittedFiles
from softmark.records.errors import UsageError
from softmark.records.result import Outcome, Provenance, Result, Status, Submission, grader_error
from tests.support.engine_double import ScriptedEngine
from tests.support.results import HOMEWORK, graded, second_zero

SPEC = GradingSpec.of(HOMEWORK, "full")
RIGHT = msgspec.structs.replace(graded(), provenance=provenance(HOMEWORK, "full"))
ELSEWHERE = msgspec.structs.replace(RIGHT.provenance, torch="1.0", python="3.99.0")
BROKEN = EngineError("the machine went away")
HANGS = "the hidden test graders/tiny/test_hidden.py::test_two"


@dataclass(frozen=True)
class Given:
    """A source that holds these files."""

    files: SubmittedFiles

    def load(self, homework: Homework) -> SubmittedFiles:
        return self.files


def entries(*names: str, refusal: str = "") -> list[Entry]:
    files = SubmittedFiles(refusal=refusal) if refusal else SubmittedFiles(HOMEWORK.file, {HOMEWORK.file: b"x = 1\n"})
    return [Entry(Submission(id=name, origin=f"class/{name}"), Given(files)) for name in names]


def by(graded_with: Provenance, result: Result = RIGHT) -> Result:
    return msgspec.structs.replace(result, provenance=graded_with)


def scripted(
    slots: int = 1, graded_with: Provenance = RIGHT.provenance, **script: Sequence[Result | Exception | None]
) -> ScriptedEngine:
    return ScriptedEngine(SPEC, by(graded_with, second_zero()), script, slots)


def run(folder: Path, engine: Engine, submissions: Sequence[Entry], fresh: bool = False) -> list[Finished]:
    with ClassResults(folder, HOMEWORK) as results, engine:
        return list(run_class(submissions, results, engine, fresh))


def statuses(folder: Path) -> dict[str, Status]:
    with ClassResults(folder, HOMEWORK, write=False) as results:
        return {one.submission.id: one.result.status for one in results.current()}


class TestAttempts:
    """The run decides how often a submission is tried."""

    def test_once_more_if_the_engine_broke(self, tmp_path: Path) -> None:
        engine = scripted(ada=[BROKEN, RIGHT], ben=[RIGHT])
        run(tmp_path, engine, entries("ada", "ben"))
        assert sorted(job.submission.id for job in engine.jobs) == ["ada", "ada", "ben"]
        assert statuses(tmp_path) == {"ada": Status.GRADED, "ben": Status.GRADED}

    def test_no_third_time(self, tmp_path: Path) -> None:
        """Nobody gets a zero for it, and the others are graded."""
        run(tmp_path, scripted(ada=[BROKEN, BROKEN], ben=[RIGHT]), entries("ada", "ben"))
        assert statuses(tmp_path) == {"ada": Status.GRADER_ERROR, "ben": Status.GRADED}

    def test_keeps_how_far_it_came(self, tmp_path: Path) -> None:
        """The result that an engine got until it broke is the one that is recorded."""
        half = EngineError("it broke", grader_error(RIGHT, "it broke"))
        (finished,) = run(tmp_path, scripted(ada=[half, half]), entries("ada"))
        assert finished.result == half.result

    def test_once_more_if_a_hidden_test_failed_by_itself(self, tmp_path: Path) -> None:
        engine = scripted(ada=[grader_error(RIGHT, "1 / 0"), RIGHT], ben=[grader_error(RIGHT, "1 / 0")] * 2)
        run(tmp_path, engine, entries("ada", "ben"))
        assert statuses(tmp_path) == {"ada": Status.GRADED, "ben": Status.GRADER_ERROR}

    def test_ends_if_the_engine_refuses(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="no such level"):
            run(tmp_path, scripted(ada=[UsageError("no such level")]), entries("ada"))
        assert statuses(tmp_path) == {}


class TestEndlessTests:
    """A hidden test that does not return."""

    def test_is_left_out_for_the_submission_that_made_it_hang(self, tmp_path: Path) -> None:
        engine = scripted(ada=[EngineError("hangs", endless=HANGS), RIGHT], ben=[RIGHT])
        run(tmp_path, engine, entries("ada", "ben"))
        assert {(job.submission.id, job.endless) for job in engine.jobs} == {
            ("ada", ()), ("ada", (HANGS,)), ("ben", ()),
        }  # fmt: skip

    @pytest.mark.parametrize("passed", [True, False])
    def test_is_left_out_for_all_if_nobody_has_passed_it(self, passed: bool, tmp_path: Path) -> None:
        """After it has hung for three."""
        first = msgspec.structs.replace(RIGHT.tests[0], name="test_two", outcome=Outcome.PASSED)
        result = RIGHT if not passed else msgspec.structs.replace(RIGHT, tests=(first, *RIGHT.tests[1:]))
        hangs = [EngineError("hangs", endless=HANGS), result]
        engine = scripted(a=hangs, b=hangs, c=hangs, d=[result], e=[result], f=[result], g=[result])
        run(tmp_path, engine, entries(*"abcdefg"))
        (last,) = [job for job in engine.jobs if job.submission.id == "g"]
        assert last.endless == (() if passed else (HANGS,))


class TestWhatIsNotGraded:
    """Submissions that no engine is asked to grade."""

    def test_unchanged_ones_start_no_engine(self, tmp_path: Path) -> None:
        run(tmp_path, scripted(ada=[RIGHT]), entries("ada"))
        engine = scripted()
        (finished,) = run(tmp_path, engine, entries("ada"))
        assert finished.result is None
        assert not engine.started
        assert len(run(tmp_path, scripted(ada=[RIGHT]), entries("ada"), fresh=True)) == 1

    def test_what_another_engine_graded_is_graded_again(self, tmp_path: Path) -> None:
        """An engine reports its versions itself; a grading with other versions is not taken for one of this engine."""
        run(tmp_path, scripted(graded_with=ELSEWHERE, ada=[by(ELSEWHERE)]), entries("ada"))
        (finished,) = run(tmp_path, scripted(ada=[RIGHT]), entries("ada"))
        assert finished.other_software

    def test_an_engine_with_other_versions_than_this_machine_grades_once(self, tmp_path: Path) -> None:
        """A class that was graded elsewhere is compared with the versions there."""
        run(tmp_path, scripted(graded_with=ELSEWHERE, ada=[by(ELSEWHERE)]), entries("ada"))
        engine = scripted(graded_with=ELSEWHERE)
        (finished,) = run(tmp_path, engine, entries("ada"))
        assert finished.result is None
        assert engine.jobs == []

    def test_refused_ones_are_recorded(self, tmp_path: Path) -> None:
        engine = scripted()
        run(tmp_path, engine, entries("ada", refusal="it is a picture"))
        assert engine.jobs == []
        assert statuses(tmp_path) == {"ada": Status.NOT_GRADABLE}


class TestPace:
    """An engine has a bounded number of submissions at once."""

    def test_follows_the_slots(self, tmp_path: Path) -> None:
        """No more is read than the engine has slots for; what has finished is recorded when the run is closed."""
        engine = scripted(slots=2, **{f"s{n}": [RIGHT if n == 0 else None] for n in range(40)})
        submissions = entries(*(f"s{n}" for n in range(40)))
        with (
            ClassResults(tmp_path, HOMEWORK) as results,
            engine,
            closing(run_class(submissions, results, engine)) as running,
        ):
            next(running)
            assert 2 <= len(engine.jobs) <= 10
            engine.open.pop(0).set_result(RIGHT)
        assert statuses(tmp_path) == {"s0": Status.GRADED, "s1": Status.GRADED}
