"""The commands on results: marks changed by hand; and when a path is wrong, one sentence, exit code 2, no traceback."""

from __future__ import annotations

import html
import json
import sys
from pathlib import Path

import pytest

from softmark.batch.journal import FILE, Journal
from softmark.cli import main
from softmark.course.homework import COURSE_VARIABLE
from softmark.report.class_view import MOST_NAMED
from tests.support.classes import RIGHT, hand_in, marks, write_tiny_course
from tests.support.course import FILE as FILE_HANDED_IN
from tests.support.course import NAME, write_course

HOMEWORK = "attention_scores"


def typed(monkeypatch: pytest.MonkeyPatch, *words: str | Path) -> int:
    monkeypatch.setattr(sys, "argv", ["softmark", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        main()
    assert isinstance(end.value.code, int)
    return end.value.code


class TestWhatCannotBeWritten:
    """The results are left as they are."""

    @pytest.mark.parametrize(
        "words", [("export", "--canvas"), ("export", "--moodle"), ("regrade", "--csv")], ids=" ".join
    )
    def test_file_in_no_folder(
        self, words: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """It names the file and why."""
        with Journal(tmp_path, HOMEWORK):
            pass
        command, option = words
        missing = tmp_path / "missing" / "marks.csv"
        assert typed(monkeypatch, command, tmp_path, option, missing) == 2
        expected = f"softmark: {missing} cannot be written: No such file or directory; name another file\n"
        assert capfd.readouterr() == ("", expected)

    @pytest.mark.parametrize("own", [FILE, "grades.csv", "tests.csv"])
    @pytest.mark.parametrize(
        "words", [("export", "--canvas"), ("export", "--moodle"), ("regrade", "--csv")], ids=" ".join
    )
    def test_file_of_softmarks_own(
        self,
        words: tuple[str, str],
        own: str,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        """A wrong word on the command line does not cost every mark of the class."""
        with Journal(tmp_path, HOMEWORK):
            pass
        before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
        command, option = words
        assert typed(monkeypatch, command, tmp_path, option, tmp_path / own) == 2
        expected = f"softmark: {tmp_path / own} is one of softmark's own files; name another file\n"
        assert capfd.readouterr() == ("", expected)
        assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before

    def test_one_file_for_two_platforms(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """The second would silently replace the first."""
        both = tmp_path / "marks.csv"
        assert typed(monkeypatch, "export", tmp_path, "--canvas", both, "--moodle", both) == 2
        expected = f"softmark: {both} cannot be both Canvas's file and Moodle's; name two\n"
        assert capfd.readouterr() == ("", expected)

    def test_folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        """A file is wanted."""
        assert typed(monkeypatch, "export", tmp_path, "--canvas", ".") == 2
        assert "is a directory" in capfd.readouterr().err


class TestNoResults:
    """What is no folder of results is not taken for one."""

    def test_journal_of_a_run_that_ended_before_it_began(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """An empty file is what is left of it."""
        (tmp_path / FILE).touch()
        assert typed(monkeypatch, "regrade", tmp_path) == 2
        assert capfd.readouterr().err == f"softmark: {tmp_path / FILE} holds no results yet\n"


class TestLatePolicy:
    @pytest.mark.parametrize("late", ["", "[late]\npercent_per_day = 10\n"], ids=["none", "some"])
    def test_of_today_is_on_both_sides(
        self, late: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """Said where there is one, for a change of it is no difference."""
        monkeypatch.setenv(COURSE_VARIABLE, str(write_course(tmp_path / "course", "", more=late)))
        with Journal(tmp_path / "results", NAME):
            pass
        assert typed(monkeypatch, "regrade", tmp_path / "results") == 0
        assert ("today's late policy is on both sides" in capfd.readouterr().out) == bool(late)


class TestOtherResults:
    """What is a folder of results, but not the right one, or not whole."""

    def test_of_another_homework(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """Two homeworks have no marks to compare."""
        ours, theirs = tmp_path / "ours", tmp_path / "theirs"
        for folder, homework in ((ours, HOMEWORK), (theirs, "lstm_gates")):
            with Journal(folder, homework):
                pass
        assert typed(monkeypatch, "regrade", ours, "--against", theirs) == 2
        expected = f"softmark: {theirs} holds the results of lstm_gates, {ours} of {HOMEWORK}\n"
        assert capfd.readouterr() == ("", expected)

    @pytest.mark.parametrize("words", [("regrade",), ("export", "--canvas", "marks.csv")], ids=" ".join)
    def test_journal_that_is_damaged(
        self,
        words: tuple[str, ...],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        """A sentence, and no file made of half of it."""
        with Journal(tmp_path, HOMEWORK):
            pass
        content = (tmp_path / FILE).read_bytes()
        (tmp_path / FILE).write_bytes(content[:4096] + b"x" * (len(content) - 4096))
        monkeypatch.chdir(tmp_path)
        assert typed(monkeypatch, words[0], tmp_path, *words[1:]) == 2
        assert capfd.readouterr() == (
            "",
            "softmark: the results' gradebook.sqlite is damaged: database disk image is malformed; "
            "put a copy of it back, or grade into another folder with -o\n",
        )
        assert not (tmp_path / "marks.csv").exists()


class TestAdjust:
    """A mark is changed by hand."""

    @pytest.fixture
    def results(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """Of one who has everything right, and one who has nothing."""
        for folder, text in {"ada_ben": RIGHT, "cyd": "x = 1\n"}.items():
            (tmp_path / "class" / folder).mkdir(parents=True)
            (tmp_path / "class" / folder / FILE_HANDED_IN).write_text(text)
        monkeypatch.setenv(COURSE_VARIABLE, str(write_tiny_course(tmp_path / "course")))
        self.grade(tmp_path, monkeypatch)
        return tmp_path / "results"

    def grade(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *more: str, code: int = 0) -> None:
        words = (tmp_path / "class", "-a", NAME, "-o", tmp_path / "results", "--isolation", "process", *more)
        assert typed(monkeypatch, "grade", *words) == code

    def test_every_file_tells_it_and_grading_again_does_not_undo_it(
        self, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """The gradebook, the feedback, and what goes to a platform; `regrade` shows it until it is taken back."""
        capfd.readouterr()
        assert typed(monkeypatch, "adjust", results, "ada_ben", "--points", "-1.5", "--why", " Not your own. ") == 0
        line = "−1.5 points by the course's staff: Not your own."
        assert capfd.readouterr().out == f"ada_ben: 2.5 of 4 ({line})\n"
        for again in ((), ("--fresh",)):
            assert marks(results) == {"ada_ben": 2.5, "cyd": 0.0}
            folder = results / "submissions/ada_ben"
            assert line in html.unescape((folder / "feedback.html").read_text())
            assert json.loads((folder / "results.json").read_text())["score"] == 2.5
            self.grade(tmp_path, monkeypatch, *again)
        assert typed(monkeypatch, "adjust", results, "ada_ben", "--points", "0") == 0
        assert capfd.readouterr().out.endswith("ada_ben: 4 of 4\n")
        assert marks(results) == {"ada_ben": 4.0, "cyd": 0.0}

    def test_beyond_full_marks_or_below_nothing(
        self, results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """More than full marks must be meant, and the next run of the class can show them; below 0 there is no mark."""
        many = {f"s{number}": {FILE_HANDED_IN: "x = 1\n"} for number in range(MOST_NAMED)}
        hand_in(tmp_path / "class", many)
        self.grade(tmp_path, monkeypatch, code=1)  # most have nothing, for one same reason
        why = ("--why", "So.")
        assert typed(monkeypatch, "adjust", results, "ada_ben", "--points", "106", "--force", *why) == 0
        assert typed(monkeypatch, "adjust", results, "cyd", "--points", "-1000", *why) == 0
        capfd.readouterr()
        self.grade(tmp_path, monkeypatch, code=1)
        assert marks(results)["ada_ben"] == 110.0
        assert marks(results)["cyd"] == 0.0
        assert "\n    4–     1 " in capfd.readouterr().out
        assert typed(monkeypatch, "adjust", results, "cyd", "--points", "0") == 0
        assert marks(results)["cyd"] == 0.0

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (
                ("dee", "--points", "1", "--why", "So."),
                "dee is nobody there: name an id or a submission of {}/grades.csv",
            ),
            (("cyd", "--points", "1"), 'say why, for the student and for whoever asks in a year: --why "…"'),
            (
                ("cyd", "--points", "1", "--why", " "),
                'say why, for the student and for whoever asks in a year: --why "…"',
            ),
            (("cyd", "--points", "nan", "--why", "So."), "--points must be a finite number, not nan"),
            (
                ("cyd", "--points", "0.12345", "--why", "So."),
                "--points must have at most four decimals, but is 0.12345",
            ),
            (("cyd", "--points", "inf", "--why", "So."), "--points must be a finite number, not inf"),
            (("cyd", "--points", "1e308", "--why", "So."), "--points must be at most 1000000, but is 1e+308"),
            (("cyd", "--points", "-1e308", "--why", "So."), "--points must be at most 1000000, but is 1e+308"),
            (("cyd", "--points", "-inf", "--why", "So."), "--points must be a finite number, not inf"),
            (
                ("cyd", "--points", "4.5", "--why", "So."),
                "that would be 4.5 of 4 points, more than full marks: say --force if it is meant",
            ),
            (
                ("ada-ben", "--points", "1", "--why", "So."),
                "ada-ben is nobody there (did you mean ada_ben?): name an id or a submission of {}/grades.csv",
            ),
        ],
        ids="nobody no_reason blank_reason nan decimals inf huge minus_huge minus_inf beyond_full near".split(),
    )
    def test_what_cannot_be(
        self,
        words: tuple[str, ...],
        said: str,
        results: Path,
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        """One sentence, and nothing is changed."""
        before = marks(results)
        capfd.readouterr()
        assert typed(monkeypatch, "adjust", results, *words) == 2
        assert capfd.readouterr() == ("", f"softmark: {said.format(results)}\n")
        assert marks(results) == before
