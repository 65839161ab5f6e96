"""Trouble that passes: a hidden test that fails once, a run that is stopped, a page that was lost, and what is said."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from softmark.batch.class_results import ClassResults, collect_class
from softmark.batch.run import run_class
from softmark.course.homework import load_homework
from softmark.engines.local import LocalEngine
from softmark.engines.protocol import GradingSpec
from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Status, Submission
from tests.support.classes import BROKEN, FILE, NAME, RIGHT, STRONGEST, WRONG, gradings, hand_in, marks, run
from tests.support.sandboxes import not_for_ever

THREE = {"ada": {FILE: RIGHT}, "ben": {FILE: WRONG}, "cleo": {FILE: RIGHT}}


def before_test(course: Path, name: str, line: str) -> None:
    """Put a line into a hidden test, where it runs first.

    The line handles an exception, so the test's own code runs for every submission.
    """
    tests = course / "graders" / NAME / "test_hidden.py"
    title = {"test_one": '    """One."""\n', "test_two": '    """Two."""\n'}[name]
    handled = f"    try:\n        {line}\n    except KeyError:\n        raise\n"
    text = tests.read_text().replace(title, f"{title}{handled}")
    tests.write_text(f"import os\nimport time\n{text}")


class TestHiddenTestThatFailsOnce:
    """A grader's fault that is gone when it is looked at again."""

    @pytest.mark.parametrize("name", ["test_one", "test_two"])
    def test_costs_nobody_a_mark(self, name: str, course: Path, tmp_path: Path) -> None:
        """A test that raises at its first run and passes at the second gives the full mark, and no fault is told."""
        trouble = tmp_path / "trouble"
        trouble.touch()
        before_test(course, name, f"os.path.exists({str(trouble)!r}) and (os.remove({str(trouble)!r}), 1 / 0)")
        done = run(hand_in(tmp_path / "class", THREE), "-o", tmp_path / "results", "--jobs", "1")
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        assert not trouble.exists()
        assert marks(tmp_path / "results") == {"ada": 4.0, "ben": 2.0, "cleo": 4.0}


class TestHiddenTestThatFails:
    """A grader's fault that stays."""

    def test_costs_one_test_and_no_process(self, course: Path) -> None:
        """The engine gives a result with the points of the other tests, and goes on in the same process."""
        before_test(course, "test_one", "1 / 0")
        spec = GradingSpec.of(load_homework(NAME, course), STRONGEST)
        with LocalEngine(spec) as engine:
            engine.pending()
            processes = engine.pids
            job = Job(Submission(id="ada"), SubmittedFiles(FILE, {FILE: RIGHT.encode()}))
            first, second = (engine.submit(job).result() for _ in range(2))
            assert engine.pids == processes
        assert (first.status, first.total) == (second.status, second.total) == (Status.GRADER_ERROR, 2.0)

    def test_is_told_as_long_as_a_submission_has_no_mark(self, course: Path, tmp_path: Path) -> None:
        """The exit code is 3 in later runs, too, also where the submission is not handed in any more."""
        tests = course / "graders" / NAME / "test_hidden.py"
        sound = tests.read_text()
        before_test(course, "test_one", "1 / 0")
        folder, results = hand_in(tmp_path / "class", {"ada": THREE["ada"]}), tmp_path / "results"
        assert run(folder, "-o", results).returncode == 3
        tests.write_text(sound)
        (folder / "ada").rename(folder / "ben")
        assert run(folder, "-o", results).returncode == 3
        (folder / "ben").rename(folder / "ada")
        assert run(folder, "-o", results).returncode == 0


class TestStop:
    """Ctrl-C while results that are finished wait to be recorded."""

    def test_loses_none_that_is_finished(self, course: Path, tmp_path: Path) -> None:
        """What was graded while another result was being recorded is in the journal; what was being graded is not."""
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        before_test(course, "test_one", f"os.write(os.open({str(pipe)!r}, os.O_WRONLY), b'.')")
        homework = load_homework(NAME, course)
        folder = hand_in(tmp_path / "class", {f"s{n}": {FILE: RIGHT} for n in range(6)})
        entries = collect_class([folder], homework, tmp_path / "results").entries
        engine = LocalEngine(GradingSpec.of(homework, STRONGEST))
        begun = os.open(pipe, os.O_RDWR)

        def grade_until_stopped(results: ClassResults) -> None:
            with engine, closing(run_class(entries, results, engine)) as running:
                for _ in running:
                    for _ in range(4):  # with the fourth begun, the second and the third are finished
                        assert os.read(begun, 1) == b"."
                    raise KeyboardInterrupt

        with not_for_ever(), ClassResults(tmp_path / "results", homework) as results, pytest.raises(KeyboardInterrupt):
            grade_until_stopped(results)
        os.close(begun)
        recorded = list(gradings(tmp_path / "results"))
        assert recorded == [folder.name for folder in sorted((tmp_path / "results/submissions").iterdir())]
        assert {"s0", "s1", "s2"} <= set(recorded) < {f"s{n}" for n in range(6)}


class TestEmptyFiles:
    """What a full disk, or a careless hand, leaves of a student's results."""

    @pytest.mark.parametrize("damage", [lambda file: file.write_bytes(b""), Path.unlink], ids=["empty", "lost"])
    def test_are_made_again(self, damage: Callable[[Path], object], course: Path, tmp_path: Path) -> None:
        """The next run makes a file again that is empty or lost, and grades nobody for that."""
        folder, results = hand_in(tmp_path / "class", THREE), tmp_path / "results"
        assert run(folder, "-o", results).returncode == 0
        files = [
            results / "submissions" / student / name
            for student, name in zip(THREE, ("feedback.html", "feedback.md", "results.json"), strict=True)
        ]
        before = [file.read_bytes() for file in files]
        for file in files:
            damage(file)
        assert "3 unchanged in " in run(folder, "-o", results).stdout
        assert [file.read_bytes() for file in files] == before
        assert gradings(results) == dict.fromkeys(THREE, 1)


class TestLargeClass:
    """More submissions than are shown one by one."""

    def test_says_who_was_not_graded(self, course: Path, tmp_path: Path) -> None:
        """Those that are not graded are listed under a heading of their own, and how many more there are."""
        nothing = {f"nobody{n:02}": {"notes.docx": "sorry"} for n in range(45)}
        done = run(hand_in(tmp_path / "class", {**nothing, "ada": {FILE: RIGHT}}), "-o", tmp_path / "results")
        lines = [line.strip() for line in done.stdout.splitlines()]
        assert "not graded:" in lines
        listed = lines[lines.index("not graded:") :]
        assert sum(line.startswith("nobody") for line in listed) == 40
        assert "… and 5 more: see grades.csv" in listed

    def test_says_nothing_of_nobody(self, course: Path, tmp_path: Path) -> None:
        """Where few were not graded all of them are listed, and there are no more to speak of."""
        few = {f"s{n:02}": {FILE: f"{RIGHT}# {n}\n"} for n in range(41)}
        done = run(hand_in(tmp_path / "class", {**few, "ben": {FILE: BROKEN}}), "-o", tmp_path / "results")
        assert "not graded:" in done.stdout
        assert "more: see grades.csv" not in done.stdout


class TestNotes:
    """The column of notes in grades.csv."""

    def test_holds_what_there_is_to_say_and_nothing_else(self, course: Path, tmp_path: Path) -> None:
        """Empty for a submission of which there is nothing to say; one sentence after the other for the others."""
        late = {"ada": {FILE: RIGHT}, "ben": {FILE: BROKEN}, "cleo": {"Tiny (1).PY": RIGHT}}
        run(hand_in(tmp_path / "class", late), "-o", tmp_path / "results")
        with (tmp_path / "results/grades.csv").open(encoding="utf-8-sig", newline="") as file:
            notes = {row["id"]: row["notes"] for row in csv.DictReader(file)}
        assert notes["ada"] == ""
        assert notes["ben"]
        assert notes["cleo"]
        for said in notes.values():
            assert all(said.split("; ")) or not said
            assert not said.startswith(";")
            assert not said.endswith("; ")
