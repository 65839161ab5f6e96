"""What makes two gradings the same: everything that marks or feedback depend on, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from softmark.batch.class_results import fingerprint as fingerprint_of
from softmark.course.digest import provenance
from softmark.course.homework import Homework, load_homework
from softmark.engines.protocol import GradingSpec
from softmark.grading.job import read_job
from softmark.intake.model import Entry, SubmittedFiles
from softmark.records.result import Submission, Submitter
from tests.support.classes import FILE, HELPER, NAME, WITH_A_HELPER

MONDAY = datetime(2026, 3, 2, 12)


class Given:
    """A source that holds these files and notes."""

    def __init__(self, handed: SubmittedFiles) -> None:
        self._handed = handed

    def load(self, wanted: Homework) -> SubmittedFiles:
        return self._handed


FILES = {FILE: WITH_A_HELPER.encode(), "helper.py": HELPER.encode(), "data.txt": b"1 2 3"}
HANDED = SubmittedFiles(FILE, FILES, notes=("renamed",))
WHO = Submission(
    id="ada", students=(Submitter("ada", "Ada"),), origin="class/ada", submitted_at=MONDAY, late=False, due_at=MONDAY
)
ENTRY = Entry(WHO, Given(HANDED))


def fingerprint(course: Path, entry: Entry = ENTRY, *, isolation: str = "full", timeout: float | None = None) -> str:
    homework = load_homework(NAME, course)
    spec = GradingSpec.of(homework, isolation, timeout)
    return fingerprint_of(read_job(entry, homework), spec, provenance(homework, isolation))


def of(**changes: object) -> Entry:
    return replace(ENTRY, source=Given(replace(HANDED, **changes)))  # type: ignore[arg-type]


def by(**changes: object) -> Entry:
    return replace(ENTRY, submission=msgspec.structs.replace(WHO, **changes))


def append(path: str, line: str) -> Callable[[Path], None]:
    def change(course: Path) -> None:
        with (course / path).open("a") as file:
            file.write(line)

    return change


class TestFingerprint:
    """Compared with that of one submission: right, with a helper, data, a note, and a time."""

    @pytest.mark.parametrize(
        "entry",
        [
            of(files={**FILES, FILE: FILES[FILE] + b"#"}),
            of(files={**FILES, "helper.py": b""}),
            of(files={**FILES, "data.txt": b"1 2 4"}),
            of(files={**FILES, "more.py": b""}),
            of(files={FILE: FILES[FILE], "helper.py": FILES["data.txt"], "data.txt": FILES["helper.py"]}),
            of(notes=()),
            of(staff_notes=("found twice",)),
            of(refusal="it is a picture"),
            by(submitted_at=MONDAY + timedelta(seconds=1)),
            by(due_at=None),
            by(late=True),
            by(students=(Submitter("ada", "Ada L."),)),
        ],
        ids="main helper data more exchanged notes staff_notes refusal time due late name".split(),
    )
    def test_changes_with_what_was_handed_in(self, entry: Entry, course: Path) -> None:
        assert fingerprint(course, entry) != fingerprint(course)

    @pytest.mark.parametrize(
        "change",
        [
            append(f"graders/{NAME}/test_hidden.py", "# 1\n"),
            append(f"graders/{NAME}/homework.toml", "# 1\n"),
            append(f"graders/{NAME}/mistakes.py", "# 1\n"),
            append(f"reference/{NAME}.py", "# 1\n"),
        ],
        ids="tests configuration mistakes reference".split(),
    )
    def test_changes_with_what_it_is_graded_with(self, change: Callable[[Path], None], course: Path) -> None:
        before = fingerprint(course)
        change(course)
        assert fingerprint(course) != before

    def test_changes_with_how_it_is_graded(self, course: Path) -> None:
        same = {fingerprint(course), fingerprint(course, isolation="user"), fingerprint(course, timeout=60.0)}
        assert len(same | {fingerprint(course, timeout=61.0)}) == 4

    def test_does_not_change_with_where_it_lies(self, course: Path) -> None:
        """A class that was moved or downloaded again is not graded again."""
        moved = by(origin="other/ada", earlier=("other/ada/1",))
        turned = of(files=dict(reversed(FILES.items())))
        assert fingerprint(course, moved) == fingerprint(course, turned) == fingerprint(course)
