"""The journal: only ever added to, never mistaken for another, and never silent when it cannot be written."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from softmark.batch.journal import _MIGRATIONS, FILE, Journal
from softmark.records.errors import UsageError
from softmark.records.result import CaseResult, Outcome, Result, Status, Submission
from tests.support.classroom import grader_error
from tests.support.results import graded, not_gradable, with_cases

HOMEWORK = graded().homework
STATUSES = {Status.GRADED: graded, Status.NOT_GRADABLE: not_gradable, Status.GRADER_ERROR: grader_error}


def record(folder: Path, *results: Result, submission: str = "ada", fingerprint: str = "f") -> None:
    """One run that grades one submission so often."""
    with Journal(folder, HOMEWORK) as journal:
        journal.save_submissions([Submission(id=submission)])
        for result in results:
            with journal.record(submission, fingerprint, result):
                pass


def adjust(folder: Path, points: float) -> None:
    with Journal(folder, HOMEWORK) as journal, journal.adjust("ada", points, "So."):
        pass


def graded_run(folder: Path, *submissions: str, stopped: bool = False) -> int:
    """The number of a run that grades these."""
    with Journal(folder, HOMEWORK) as journal:
        journal.save_submissions(Submission(id=submission) for submission in submissions)
        for submission in submissions:
            with journal.record(submission, "f", graded()):
                pass
        if not stopped:
            journal.finish()
        return journal.run


def rows(folder: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(folder / FILE)) as db:
        return list(db.execute("SELECT * FROM gradings ORDER BY number"))


class TestWhatCounts:
    """Which of all gradings of a submission is its mark."""

    @given(runs=st.lists(st.lists(st.sampled_from(list(Status)), max_size=4), min_size=1, max_size=4))
    @settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_is_the_latest_that_is_one(
        self, runs: Sequence[Sequence[Status]], tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        """A failure of the grader takes no earlier mark away, and only what did not fail last is not done again."""
        folder = tmp_path_factory.mktemp("results")
        before: list[tuple[object, ...]] = []
        for statuses in runs:
            record(folder, *(STATUSES[status]() for status in statuses))
            assert rows(folder)[: len(before)] == before
            before = rows(folder)
        everything = [status for statuses in runs for status in statuses]
        marks = [status for status in everything if status is not Status.GRADER_ERROR]
        with Journal(folder, HOMEWORK) as journal:
            counting = [(one.submission.id, one.result.status) for one in journal.current()]
            done = journal.fingerprints()
        assert counting == [("ada", (marks or everything)[-1])] if everything else counting == []
        assert done == ({"ada": "f"} if everything and everything[-1] is not Status.GRADER_ERROR else {})

    def test_says_that_it_is_from_before(self, tmp_path: Path) -> None:
        """Staff are told why the latest attempt is not the one that counts."""
        record(tmp_path, graded(), grader_error())
        with Journal(tmp_path, HOMEWORK) as journal:
            one = journal.current_of("ada")
        assert one.result.total == graded().total
        assert "the latest attempt at grading failed" in one.result.staff_notes[-1]

    def test_can_be_asked_of_an_earlier_run(self, tmp_path: Path) -> None:
        """What counted after each run can be told for ever."""
        record(tmp_path, graded())
        record(tmp_path, with_cases(graded(), 2, CaseResult(id="", outcome=Outcome.PASSED, share="1")))
        with Journal(tmp_path, HOMEWORK, write=False) as journal:
            totals = [[one.result.total for one in journal.current(run)] for run in (0, 1, 2)]
        assert totals == [[], [graded().total], [graded().total + 2]]

    def test_is_not_what_could_not_be_written_to_files(self, tmp_path: Path) -> None:
        """A grading is in the journal when its files are there, or not at all."""
        with Journal(tmp_path, HOMEWORK) as journal:
            journal.save_submissions([Submission(id="ada")])
            with pytest.raises(KeyboardInterrupt), journal.record("ada", "f", graded()):
                raise KeyboardInterrupt
            assert journal.fingerprints() == {}
        assert rows(tmp_path) == []


class TestAdjustment:
    """What the staff decided by hand."""

    def test_stays_whatever_is_graded_after_it(self, tmp_path: Path) -> None:
        """And is told with what counts at once, as if it were read from the file again."""
        record(tmp_path, graded())
        adjust(tmp_path, 1.5)
        with Journal(tmp_path, HOMEWORK) as journal:
            for result in (grader_error(), graded()):
                with journal.record("ada", "f", result) as one:
                    assert one.result.mark == graded().total + 1.5
                assert journal.current_of("ada").result.adjustment == one.result.adjustment

    def test_the_latest_counts_and_none_is_lost(self, tmp_path: Path) -> None:
        """As of each run; 0 takes back what was decided."""
        record(tmp_path, graded())
        for points in (1.5, -1, 0):
            adjust(tmp_path, points)
        with Journal(tmp_path, HOMEWORK, write=False) as journal:
            marks = [[one.result.mark for one in journal.current(run)] for run in range(1, 5)]
        assert marks == [[3], [4.5], [2], [3]]

    def test_is_not_what_could_not_be_written_to_files(self, tmp_path: Path) -> None:
        """As with a grading."""
        record(tmp_path, graded())
        with Journal(tmp_path, HOMEWORK) as journal:
            with pytest.raises(KeyboardInterrupt), journal.adjust("ada", 1.5, "So."):
                raise KeyboardInterrupt
            assert journal.current_of("ada").result.adjustment is None


class TestBeforeTheLastChange:
    """The run whose marks are the old ones."""

    def test_is_before_a_run_that_was_stopped_and_gone_on_with(self, tmp_path: Path) -> None:
        """However often the last run was stopped, all that it graded is new."""
        first = graded_run(tmp_path, "ada", "ben")
        graded_run(tmp_path, "ada", stopped=True)
        graded_run(tmp_path, stopped=True)
        graded_run(tmp_path, "ben")
        with Journal(tmp_path, HOMEWORK, write=False) as journal:
            assert journal.before_last_change() == first

    def test_is_not_before_a_run_that_found_everything_unchanged(self, tmp_path: Path) -> None:
        """Grading once more, with nothing to grade, does not forget the change."""
        first = graded_run(tmp_path, "ada")
        graded_run(tmp_path, "ada")
        graded_run(tmp_path)
        with Journal(tmp_path, HOMEWORK, write=False) as journal:
            assert journal.before_last_change() == first

    def test_of_one_run_is_nothing(self, tmp_path: Path) -> None:
        graded_run(tmp_path, "ada", stopped=True)
        graded_run(tmp_path, "ada")
        with Journal(tmp_path, HOMEWORK, write=False) as journal:
            assert journal.before_last_change() == 0


class TestFolderThatNobodyMayWriteTo:
    """Results on a read-only disk."""

    def test_is_read_without_leaving_anything(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """SQLite's own files beside a journal could not be made there."""
        graded_run(tmp_path, "ada")
        monkeypatch.setattr("os.access", lambda path, mode: False)
        with Journal(tmp_path, HOMEWORK, write=False) as journal:
            assert [one.submission.id for one in journal.current()] == ["ada"]
            assert [file.name for file in tmp_path.iterdir()] == [FILE]


class TestSubmissionsThatAreGone:
    """Students who were in the class, and are not in it now."""

    def test_are_kept_and_named(self, tmp_path: Path) -> None:
        record(tmp_path, graded(), submission="ada")
        record(tmp_path, graded(), submission="ben")
        with Journal(tmp_path, HOMEWORK) as journal:
            journal.save_submissions([Submission(id="ben")])
            assert {one.submission.id: one.gone for one in journal.current()} == {"ada": True, "ben": False}
        with Journal(tmp_path, HOMEWORK, write=False) as journal:
            assert [one.submission.id for one in journal.current() if one.gone] == ["ada"]


class TestJournalThatIsRefused:
    """One sentence with the next step, and what was there stays as it was."""

    def refusal(self, folder: Path, homework: str = HOMEWORK) -> str:
        with pytest.raises(UsageError) as refused:
            Journal(folder, homework)
        return str(refused.value)

    def test_of_another_homework(self, tmp_path: Path) -> None:
        record(tmp_path, graded())
        said = f"{tmp_path} holds the results of {HOMEWORK}; choose another folder for other with -o"
        assert self.refusal(tmp_path, "other") == said
        assert len(rows(tmp_path)) == 1

    def test_of_a_run_that_is_going_on(self, tmp_path: Path) -> None:
        with Journal(tmp_path, HOMEWORK):
            said = f"another run is writing to {tmp_path}; wait for its end, or choose another folder"
            assert self.refusal(tmp_path) == said
        record(tmp_path, graded())
        assert len(rows(tmp_path)) == 1

    def test_of_a_newer_softmark(self, tmp_path: Path) -> None:
        with closing(sqlite3.connect(tmp_path / FILE)) as db:
            db.execute("PRAGMA user_version = 999")
        said = f"{tmp_path / FILE} was written by a newer softmark: install that one, or choose another folder"
        assert self.refusal(tmp_path) == said

    def test_that_is_something_else(self, tmp_path: Path) -> None:
        (tmp_path / FILE).write_bytes(b"garbage" * 1000)
        said = f"{tmp_path / FILE} cannot be used as a journal: file is not a database; choose another folder with -o"
        assert self.refusal(tmp_path) == said
        assert (tmp_path / FILE).read_bytes() == b"garbage" * 1000

    def test_in_a_place_where_nothing_can_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        folder = tmp_path / "file" / "results"
        assert self.refusal(folder) == (
            f"results cannot be written to {folder}: Not a directory; choose another folder with -o"
        )

    def test_on_a_disk_that_is_full(self, tmp_path: Path) -> None:
        """What was recorded before is still there, and the run can go on once there is room."""

        def fill() -> None:
            for _ in range(100):
                with journal.record("ada", "f", graded()):
                    pass

        record(tmp_path, graded())
        with Journal(tmp_path, HOMEWORK) as journal:
            journal._db.execute("PRAGMA max_page_count = 1")  # as many pages as the file has: none can be added
            with pytest.raises(UsageError) as full:
                fill()
        assert str(full.value) == (
            f"results cannot be written to {tmp_path / FILE}: database or disk is full; "
            "put that right and run the same command again, or choose another -o"
        )
        before = len(rows(tmp_path))
        record(tmp_path, graded())
        assert len(rows(tmp_path)) == before + 1


class TestVersions:
    """Files of older versions are brought up to date."""

    def test_from_an_empty_file(self, tmp_path: Path) -> None:
        """An empty file is one of version 0, which all migrations lead away from."""
        (tmp_path / FILE).touch()
        record(tmp_path, graded())
        with closing(sqlite3.connect(tmp_path / FILE)) as db:
            assert db.execute("PRAGMA user_version").fetchone() == (3,)
        assert len(rows(tmp_path)) == 1

    def test_from_one_that_knows_of_no_stopped_runs(self, tmp_path: Path) -> None:
        """Its runs are taken for finished; until it is written to, it is not read either, and that is said."""
        with closing(sqlite3.connect(tmp_path / FILE)) as db:
            db.executescript(f"{_MIGRATIONS[0]}; INSERT INTO runs VALUES (1, '{HOMEWORK}', 'then')")
            db.execute("PRAGMA user_version = 1")
        with pytest.raises(UsageError) as refused:
            Journal(tmp_path, HOMEWORK, write=False)
        said = f"{tmp_path / FILE} was written by an older softmark: grade into this folder once more first"
        assert str(refused.value) == said
        graded_run(tmp_path, "ada")
        with Journal(tmp_path, HOMEWORK, write=False) as journal:
            assert journal.before_last_change() == 1
