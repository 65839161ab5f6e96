"""The commands on results when a path is wrong: one sentence, exit code 2, no traceback."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from softmark.batch.journal import FILE, Journal
from softmark.cli import main
from softmark.grading.homework import COURSE_VARIABLE
from tests.grading.course import NAME, write_course

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
