"""The second run over a class: what is graded again, what is not, and what the marks are then."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.support.classes import FILE, MIXED, NAME, RIGHT, WRONG, grade, gradings, hand_in, left_in, marks, run
from tests.support.processes import Changes

THREE = {"ada": {FILE: RIGHT}, "ben": {FILE: WRONG}, "cleo": {FILE: RIGHT}}


class TestSecondRun:
    """Each step is the same command, after something has changed."""

    def test_grades_what_has_changed_and_keeps_the_rest(self, course: Path, tmp_path: Path) -> None:
        """A file, a student who is gone, a test that breaks and is mended, a lost page, --fresh, other points."""
        folder, results = hand_in(tmp_path / "class", THREE), tmp_path / "results"
        tests, config = course / "graders" / NAME / "test_hidden.py", course / "graders" / NAME / "homework.toml"
        whole = tests.read_text()

        assert run(folder, "-o", results).returncode == 0
        assert marks(results) == {"ada": 4.0, "ben": 2.0, "cleo": 4.0}

        (folder / "ben" / FILE).write_text(RIGHT)
        shutil.rmtree(folder / "cleo")
        done = run(folder, "-o", results)
        assert "not handed in any more, the marks from before are kept: cleo\n" in done.stdout
        assert "1 graded, 1 unchanged in " in done.stdout
        assert marks(results) == {"ada": 4.0, "ben": 4.0, "cleo": 4.0}
        assert gradings(results) == {"ada": 1, "ben": 2, "cleo": 1}

        tests.write_text(whole.replace("ref.two, x)", "ref.two, x / 0)"))
        done = run(folder, "-o", results)
        assert (done.returncode, done.stderr) == (3, "")
        assert "2 grader errors in " in done.stdout
        assert "\nthe grader failed at 2 submissions: 2: the hidden test or the reference raised " in done.stdout
        assert marks(results) == {"ada": 4.0, "ben": 4.0, "cleo": 4.0}
        assert (results / "grades.csv").read_text().count("this is the mark from before") == 2

        tests.write_text(whole)
        assert "2 graded in " in run(folder, "-o", results).stdout
        page = results / "submissions" / "ben" / "feedback.html"
        before = page.read_bytes()
        page.unlink()
        assert "2 unchanged in " in run(folder, "-o", results).stdout
        assert page.read_bytes() == before
        assert gradings(results) == {"ada": 3, "ben": 4, "cleo": 1}
        assert "2 graded in " in run(folder, "-o", results, "--fresh").stdout
        assert gradings(results) == {"ada": 4, "ben": 5, "cleo": 1}

        tests.write_text(whole.replace("@weight(2)", "@weight(3)", 1))
        config.write_text(config.read_text().replace("points = 2", "points = 3", 1).replace("points = 4", "points = 5"))
        done = run(folder, "-o", results)
        assert (done.returncode, done.stderr) == (0, "")
        assert f"graded with other parts or points than {NAME} has now, not in grades.csv: cleo\n" in done.stdout
        assert marks(results) == {"ada": 5.0, "ben": 5.0}

    def test_that_is_stopped_after_points_have_changed(self, course: Path, tmp_path: Path) -> None:
        """The gradebook is of those who were graded since, and not half old and half new."""
        folder, results = hand_in(tmp_path / "class", THREE), tmp_path / "results"
        assert run(folder, "-o", results, "--jobs", "1").returncode == 0
        tests, config = course / "graders" / NAME / "test_hidden.py", course / "graders" / NAME / "homework.toml"
        tests.write_text(tests.read_text().replace("@weight(2)", "@weight(3)", 1))
        config.write_text(config.read_text().replace("points = 2", "points = 3", 1).replace("points = 4", "points = 5"))
        hand_in(folder, {"ben": MIXED["endless"], "cleo": MIXED["endless"]})
        changes = Changes(results / "submissions" / "ben")
        with subprocess.Popen(grade(folder, "-o", results, "--jobs", "1"), stdout=subprocess.DEVNULL) as process:
            assert changes.await_one(process)
            process.terminate()
        assert process.returncode == 143
        assert {"ada": 5.0}.items() <= marks(results).items() <= {"ada": 5.0, "ben": 3.0}.items()


class TestNumberOfJobs:
    """Several submissions side by side."""

    def test_changes_nothing(self, course: Path, tmp_path: Path, undisturbed: Path) -> None:
        """Marks and feedback are the same byte for byte with two and three judges, in whatever order they finish."""
        folder = hand_in(tmp_path / "class", MIXED)
        for jobs in ("2", "3"):
            results = tmp_path / f"results{jobs}"
            assert run(folder, "-o", results, "--jobs", jobs).returncode == 0
            assert left_in(results) == left_in(undisturbed)

    def test_each_stays_on_a_core(self, course: Path, tmp_path: Path) -> None:
        """So what a submission starts slows down nobody else's."""
        alone = f"import os\nassert len(os.sched_getaffinity(0)) == 1\n{RIGHT}"
        folder = hand_in(tmp_path / "class", {student: {FILE: alone} for student in ("ada", "ben", "cleo", "dan")})
        assert run(folder, "-o", tmp_path / "results", "--jobs", "2").returncode == 0
        assert set(marks(tmp_path / "results").values()) == {4.0}


class TestResultsThatCannotBeWritten:
    """Something stands where a student's results should be."""

    def test_are_told_in_a_sentence(self, course: Path, tmp_path: Path, temporary: Path) -> None:
        """Exit code 2; nobody is taken for done, and the same command goes on once it is put right."""
        folder, results = hand_in(tmp_path / "class", THREE), tmp_path / "results"
        results.mkdir()
        (results / "submissions").touch()
        done = run(folder, "-o", results, "--jobs", "2")
        assert done.returncode == 2
        assert done.stderr == (
            f"softmark: results cannot be written to {results}: Not a directory; choose another folder with -o\n"
        )
        assert gradings(results) == {}
        assert list(temporary.iterdir()) == []
        (results / "submissions").unlink()
        assert run(folder, "-o", results).returncode == 0
        assert marks(results) == {"ada": 4.0, "ben": 2.0, "cleo": 4.0}
