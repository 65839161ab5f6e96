"""The journal of a class: every grading that was ever made, in one SQLite file. A run that was killed goes on with it.

One transaction per submission, before the next is looked at: killed at any moment, a run loses at most the submissions
that were just being graded. A grading that is in here has its files, too: they are written before it is committed.
Nothing is overwritten. The mark that counts is that of the latest grading that is one: a failure of the grader itself
never takes an earlier mark away, and is tried again by the next run.

    runs          one row for each `softmark grade` of this class; one that was stopped is never finished
    submissions   whose they are, where they came from, when: as the latest run found it
    adjustments   append-only: what the staff decided by hand; the latest counts, whatever is graded after it
    gradings      append-only; `fingerprint` says of what exactly (files, hidden tests, reference, versions, walls)

The file's user_version is the version of this schema; an older file is brought up to date when it is opened.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from softmark.records.errors import UsageError
from softmark.records.result import Adjustment, Graded, Result, Status, Submission, decode, encode
from softmark.report.student_folder import private_file, results_folder

FILE = "gradebook.sqlite"
_MIGRATIONS = (  # number n brings a file of version n to version n + 1
    """
    CREATE TABLE runs (number INTEGER PRIMARY KEY, homework TEXT NOT NULL, started TEXT NOT NULL);
    CREATE TABLE submissions (id TEXT PRIMARY KEY, run INTEGER NOT NULL REFERENCES runs, known BLOB NOT NULL);
    CREATE TABLE gradings (
        number INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES runs,
        submission TEXT NOT NULL REFERENCES submissions,
        fingerprint TEXT NOT NULL,
        status TEXT NOT NULL,
        mark REAL NOT NULL,
        result BLOB NOT NULL
    );
    CREATE INDEX gradings_of_a_submission ON gradings (submission, number);
    """,
    "ALTER TABLE runs ADD COLUMN finished TEXT; UPDATE runs SET finished = started",
    """
    CREATE TABLE adjustments (
        number INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES runs,
        submission TEXT NOT NULL REFERENCES submissions,
        adjustment BLOB NOT NULL
    );
    CREATE INDEX adjustments_of_a_submission ON adjustments (submission, number);
    """,
)
_CURRENT = """
    SELECT s.id, s.known, s.run < (SELECT max(run) FROM submissions), g.result, latest.status, latest.result, (
        SELECT adjustment FROM adjustments WHERE submission = s.id AND run <= :run ORDER BY number DESC LIMIT 1)
    FROM submissions s
    JOIN gradings latest ON latest.number = (
        SELECT max(number) FROM gradings WHERE submission = s.id AND run <= :run)
    JOIN gradings g ON g.number = coalesce(
        (SELECT max(number) FROM gradings WHERE submission = s.id AND run <= :run AND status != :error), latest.number)
"""
_KNOWN = """
    SELECT known, (SELECT adjustment FROM adjustments WHERE submission = s.id ORDER BY number DESC LIMIT 1)
    FROM submissions s WHERE id = ?
"""


class Journal:
    """One class's journal, open for one run; a context manager."""

    def __init__(self, folder: Path, homework: str, *, write: bool = True) -> None:
        self.path = folder / FILE
        self._lock = _lock(folder) if write else None
        try:
            self._db = _open(self.path, write=write)
            self._check_homework(homework)
            self.run = self._begin(homework) if write else self._last_run()
        except BaseException:
            self._unlock()
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *exception: object) -> None:
        self._db.close()
        self._unlock()

    def save_submissions(self, submissions: Iterable[Submission]) -> None:
        """Note which submissions this run has, and whose they are."""
        with self._db:
            self._db.executemany(
                "INSERT INTO submissions VALUES (?, ?, ?) "
                "ON CONFLICT (id) DO UPDATE SET run = excluded.run, known = excluded.known",
                ((one.id, self.run, msgspec.json.encode(one)) for one in submissions),
            )

    def fingerprints(self) -> dict[str, str]:
        """Return the fingerprint of each submission's latest grading, unless that failed."""
        rows = self._db.execute(
            "SELECT submission, fingerprint FROM gradings WHERE status != ? "
            "AND number IN (SELECT max(number) FROM gradings GROUP BY submission)",
            (Status.GRADER_ERROR,),
        )
        return dict(rows)

    @contextmanager
    def record(self, submission: str, fingerprint: str, result: Result) -> Iterator[Graded]:
        """Add a grading. The block writes the files of what counts now; if it raises, nothing is added."""
        row = (self.run, submission, fingerprint, result.status, result.total, zlib.compress(encode(result), 1))
        with _explained(self.path), self._db:
            self._db.execute(
                "INSERT INTO gradings (run, submission, fingerprint, status, mark, result) VALUES (?, ?, ?, ?, ?, ?)",
                row,
            )
            if result.status is Status.GRADER_ERROR:
                yield self.current_of(submission)  # may be a mark from before
            else:
                ((about, by_hand),) = self._db.execute(_KNOWN, (submission,))
                yield _with_what_is_known(submission, about, result, by_hand, gone=False)

    @contextmanager
    def adjust(self, submission: str, points: float, why: str) -> Iterator[Graded]:
        """Add a decision of the staff; 0 points take back an earlier one. The block writes files, as in `record`."""
        before = self.current_of(submission)
        adjustment = Adjustment(points=points, why=why, made=_now(), total=before.result.total)
        with _explained(self.path), self._db:
            self._db.execute(
                "INSERT INTO adjustments (run, submission, adjustment) VALUES (?, ?, ?)",
                (self.run, submission, msgspec.json.encode(adjustment)),
            )
            yield self.current_of(submission)

    def current(self, run: int | None = None) -> Iterator[Graded]:
        """Yield what counts after that run (the present one, if none is named), in the order of the ids."""
        return map(_graded, self._db.execute(f"{_CURRENT} ORDER BY s.id", self._as_of(run)))

    def current_of(self, submission: str) -> Graded:
        """Return what counts of one submission that has been graded."""
        return _graded(
            self._db.execute(f"{_CURRENT} WHERE s.id = :id", {**self._as_of(None), "id": submission}).fetchone()
        )

    def _as_of(self, run: int | None) -> dict[str, object]:
        return {"run": self.run if run is None else run, "error": Status.GRADER_ERROR}

    def finish(self) -> None:
        """Note that nothing of this run is left to be done."""
        with self._db:
            self._db.execute("UPDATE runs SET finished = ? WHERE number = ?", (_now(), self.run))

    def before_last_change(self) -> int:
        """Return the run before the last that graded anything. A run that was stopped and continued is one run."""
        (number,) = self._db.execute(
            "SELECT coalesce(max(number), 0) FROM runs "
            "WHERE finished IS NOT NULL AND number < (SELECT max(run) FROM gradings)"
        ).fetchone()
        return int(number)

    def _begin(self, homework: str) -> int:
        with self._db:
            number = self._db.execute(
                "INSERT INTO runs (homework, started) VALUES (?, ?)", (homework, _now())
            ).lastrowid
        assert number is not None
        return number

    def _last_run(self) -> int:
        (number,) = self._db.execute("SELECT coalesce(max(number), 0) FROM runs").fetchone()
        return int(number)

    def _check_homework(self, homework: str) -> None:
        row = self._db.execute("SELECT homework FROM runs WHERE homework != ? LIMIT 1", (homework,)).fetchone()
        if row is not None:
            self._db.close()
            raise UsageError(
                f"{self.path.parent} holds the results of {row[0]}; choose another folder for {homework} with -o"
            )

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)


def homework_of(folder: Path) -> str:
    """Return the homework whose results a folder holds. Raise UsageError if it holds none."""
    path = folder / FILE
    if not path.is_file():
        raise UsageError(f"{folder} holds no results: there is no {FILE} in it; name the folder that was given with -o")
    with closing(_open(path, write=False)) as db:
        row = db.execute("SELECT homework FROM runs LIMIT 1").fetchone()
    if row is None:
        raise UsageError(f"{path} holds no results yet")
    return str(row[0])


def ids_in(folder: Path) -> dict[str, str]:
    """Return the id that each submission of earlier runs has, by where it was found."""
    path = folder / FILE
    if path.is_file():
        with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(_for_reading(path), uri=True)) as db:
            rows = db.execute("SELECT id, known FROM submissions ORDER BY run").fetchall()
            return {msgspec.json.decode(about, type=Submission).origin: name for name, about in rows}
    return {}  # a damaged journal is reported when it is opened to be written to


def _graded(row: tuple[str, bytes, int, bytes, str, bytes, bytes | None]) -> Graded:
    name, about, gone, data, latest_status, latest, by_hand = row
    result = _result(data)
    if latest_status == Status.GRADER_ERROR != result.status:
        result = _with_note(result, _result(latest))
    return _with_what_is_known(name, about, result, by_hand, gone=bool(gone))


def _with_what_is_known(name: str, about: bytes, result: Result, by_hand: bytes | None, *, gone: bool) -> Graded:
    adjustment = None if by_hand is None else msgspec.json.decode(by_hand, type=Adjustment)
    if adjustment is not None and adjustment.points:
        result = msgspec.structs.replace(result, adjustment=adjustment)
    graded = result.submission
    submission = msgspec.structs.replace(
        msgspec.json.decode(about, type=Submission), id=name, name=graded.name, file=graded.file, sha256=graded.sha256
    )
    return Graded(submission, result, gone)


def _with_note(kept: Result, failed: Result) -> Result:
    why = "; ".join(failed.faults) or "a hidden test or the reference failed"
    note = f"the latest attempt at grading failed ({why}); this is the mark from before"
    return msgspec.structs.replace(kept, staff_notes=(*kept.staff_notes, note))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _result(data: bytes) -> Result:
    return decode(zlib.decompress(data))


def _lock(folder: Path) -> int:
    """Lock the folder itself, so that one run writes at a time. The kernel releases the lock however the run ends."""
    try:
        results_folder(folder)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        why = f"results cannot be written to {folder}: {error.strerror}"
        raise UsageError(f"{why}; choose another folder with -o") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise UsageError(f"another run is writing to {folder}; wait for its end, or choose another folder") from None
    return descriptor


def _open(path: Path, *, write: bool) -> sqlite3.Connection:
    if write:
        with suppress(OSError):  # then sqlite fails, too, and says why
            for file in (path, *path.parent.glob(f"{FILE}-*")):  # sqlite gives the files beside it the same rights
                private_file(file)
    with _explained(path, write=write):
        db = sqlite3.connect(path if write else _for_reading(path), uri=not write)
        try:
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version > len(_MIGRATIONS):
                raise UsageError(f"{path} was written by a newer softmark: install that one, or choose another folder")
            if version == 0 and not write:
                raise UsageError(f"{path} holds no results yet")
            if version < len(_MIGRATIONS) and not write:
                raise UsageError(f"{path} was written by an older softmark: grade into this folder once more first")
            if write:
                db.execute("PRAGMA journal_mode = WAL")
                # a power cut costs the last few gradings, which are made again
                db.execute("PRAGMA synchronous = NORMAL")
                _migrate(db, version)
        except BaseException:
            db.close()
            raise
    return db


def _for_reading(path: Path) -> str:
    """Return the address that opens a journal to read it.

    SQLite makes a file beside a journal even to read it. Where it cannot, nobody can be writing to the journal either.
    """
    wal = path.with_name(f"{FILE}-wal")
    frozen = not os.access(path.parent, os.W_OK) and not wal.exists()
    return f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if frozen else ''}"


def _migrate(db: sqlite3.Connection, version: int) -> None:
    for number in range(version, len(_MIGRATIONS)):
        db.executescript(f"BEGIN; {_MIGRATIONS[number]}; PRAGMA user_version = {number + 1}; COMMIT")


@contextmanager
def _explained(path: Path, *, write: bool = True) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        if not write:
            raise UsageError(f"{path} cannot be read: {error}; copy the folder to where you may write") from None
        why = f"results cannot be written to {path}: {error}"
        raise UsageError(f"{why}; put that right and run the same command again, or choose another -o") from None
    except sqlite3.DatabaseError as error:
        raise UsageError(f"{path} cannot be used as a journal: {error}; choose another folder with -o") from None
