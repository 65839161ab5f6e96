"""grades.csv and tests.csv: a line for each student, a line for each test, and nothing said twice or left out."""

import csv
import tracemalloc
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from softmark.records.errors import UsageError
from softmark.records.result import Excerpt, Graded, Submission, Submitter
from softmark.report.gradebook import GRADES, TESTS, without_mark, write_gradebook
from tests.support.classroom import (
    HOPPER,
    LOVELACE,
    MONDAY,
    NOETHER,
    TUESDAY,
    better,
    class_of_five,
    grader_error,
    one,
    renamed,
    very_late,
)
from tests.support.results import LATE_LINE, PAYLOADS, graded


def rows(folder: Path, name: str = GRADES) -> list[dict[str, str]]:
    with (folder / name).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def grades(folder: Path, *graded: Graded) -> list[dict[str, str]]:
    write_gradebook(graded, folder)
    return rows(folder)


class TestGrades:
    def test_columns(self, tmp_path: Path) -> None:
        """Who it is, what each part earned of what it was worth, what it makes together, and where it came from."""
        assert list(grades(tmp_path, *class_of_five())[0]) == [
            "id", "name", "email", "status",
            "1 project (of 2)", "2 scores (of 5)", "3 mask (of 3)",
            "total", "deduction", "adjustment", "mark", "of", "lateness", "submitted_at", "submission", "file", "notes",
        ]  # fmt: skip

    def test_in_time(self, tmp_path: Path) -> None:
        """The ordinary case: points by part, total and mark."""
        ada = grades(tmp_path, *class_of_five())[0]
        assert (ada["id"], ada["name"], ada["email"]) == ("1001", "Lovelace, Ada", "ada@example.org")
        assert (ada["1 project (of 2)"], ada["2 scores (of 5)"], ada["3 mask (of 3)"]) == ("2", "1", "0")
        assert (ada["total"], ada["deduction"], ada["mark"], ada["of"]) == ("3", "0", "3", "10")
        assert (ada["status"], ada["lateness"], ada["submitted_at"]) == ("graded", "", MONDAY)
        assert (ada["submission"], ada["file"]) == ("s1", "export/s1")

    def test_late(self, tmp_path: Path) -> None:
        """Total, deduction and mark stand side by side, with the reason; earlier attempts are counted."""
        grace = grades(tmp_path, *class_of_five())[1]
        assert (grace["total"], grace["deduction"], grace["mark"]) == ("3", "2", "1")
        assert grace["lateness"] == LATE_LINE
        assert "1 earlier attempt does not count" in grace["notes"]

    def test_deduction_is_never_more_than_there_was(self, tmp_path: Path) -> None:
        """Total less deduction is the mark, also when everything is lost."""
        (row,) = grades(tmp_path, one("s1", LOVELACE, result=very_late()))
        assert (row["total"], row["deduction"], row["mark"]) == ("3", "3", "0")

    def test_not_gradable_is_a_real_zero(self, tmp_path: Path) -> None:
        """What could not be loaded has 0 points, and the reason beside them."""
        emmy = grades(tmp_path, *class_of_five())[2]
        assert (emmy["status"], emmy["mark"], emmy["total"]) == ("not gradable", "0", "0")
        assert emmy["notes"].startswith("attention_scores.py could not be loaded")

    def test_grader_error_is_no_zero(self, tmp_path: Path) -> None:
        """Where the grader failed every mark is empty, and the status says why."""
        everybody = grades(tmp_path, *class_of_five())
        alan = everybody[3]
        assert alan["status"] == "grader error"
        assert {alan[name] for name in alan if "(of" in name or name in ("total", "deduction", "mark")} == {""}

    def test_group_has_a_line_for_each(self, tmp_path: Path) -> None:
        """Each member of a group has the same grade, and the others are named."""
        alan, claude = grades(tmp_path, *class_of_five())[3:]
        assert (alan["id"], claude["id"]) == ("1004", "1005")
        assert alan["submission"] == claude["submission"] == "s4"
        assert "handed in together with Shannon, Claude" in alan["notes"]
        assert "handed in together with Turing, Alan" in claude["notes"]

    def test_notes(self, tmp_path: Path) -> None:
        """What is to be known about a mark stands in one cell: the reason, the others, earlier attempts, the notes."""
        others = Submitter(id="1003"), NOETHER
        result = msgspec.structs.replace(graded(), reason="Why.", notes=("One.", "Two."), staff_notes=("Three.",))
        (row, *_) = grades(tmp_path, one("s1", LOVELACE, *others, result=result, earlier=("a", "b")))
        assert row["notes"] == (
            "Why.; handed in together with 1003, Noether, Emmy; 2 earlier attempts do not count; One.; Two.; Three."
        )

    def test_submission_that_names_nobody(self, tmp_path: Path) -> None:
        """A plain file has its own name for a student."""
        (row,) = grades(tmp_path, one("ada"))
        assert (row["id"], row["name"]) == ("ada", "")

    def test_empty_class(self, tmp_path: Path) -> None:
        """Without submissions there are headings."""
        assert grades(tmp_path) == []
        assert (tmp_path / TESTS).read_bytes().count(b"\n") == 1

    def test_gives_back_who_has_no_mark(self, tmp_path: Path) -> None:
        """Whom the grader owes a mark can be told without reading the file."""
        written = write_gradebook(class_of_five(), tmp_path)
        assert [grade.student.id for grade in without_mark(written)] == ["1004", "1005"]

    def test_refuses_different_homeworks(self, tmp_path: Path) -> None:
        """Points of different worth never stand in one column."""
        result = one("s1", LOVELACE).result
        parts = (msgspec.structs.replace(result.parts[0], points=3.0), *result.parts[1:])
        other = msgspec.structs.replace(result, parts=parts)
        with pytest.raises(UsageError, match="s1 and s2 were graded with different parts or points"):
            write_gradebook((one("s1", LOVELACE), one("s2", HOPPER, result=other)), tmp_path)


class TestSameStudentTwice:
    def test_the_latest_counts(self, tmp_path: Path) -> None:
        """A student found twice has one line, of the later submission; the other is named."""
        early = one("a", LOVELACE, submitted_at="2026-03-03T11:30:00+01:00", result=better())
        late = one("b", LOVELACE, submitted_at="2026-03-03T10:45:00Z")
        for order in ((early, late), (late, early)):
            (row,) = grades(tmp_path, *order)
            assert (row["submission"], row["mark"]) == ("b", "3")
            assert row["notes"].endswith("also found in export/a: the latest counts")
            assert {line["submission"] for line in rows(tmp_path, TESTS)} == {"b"}

    def test_without_times(self, tmp_path: Path) -> None:
        """Where no time decides, the choice is the same every time, and it is told."""
        (row,) = grades(tmp_path, one("b", LOVELACE), one("a", LOVELACE))
        assert row["submission"] == "b"
        assert "none has a time, so the last by name counts" in row["notes"]

    @pytest.mark.parametrize("time", [None, TUESDAY])
    def test_what_is_handed_in_now_counts(self, tmp_path: Path, time: str | None) -> None:
        """What is gone from the source replaces nothing that is there, whatever its name and its time."""
        old = one("z", LOVELACE, result=better(), submitted_at=time, gone=True)
        (row,) = grades(tmp_path, old, one("a", LOVELACE, submitted_at=time and MONDAY))
        assert (row["submission"], row["mark"]) == ("a", "3")
        assert row["notes"].endswith("found before in export/z: what is handed in now counts")

    def test_all_others_are_named(self, tmp_path: Path) -> None:
        """Every other submission of a student is named; one without a time or an offset is put in its place."""
        (row,) = grades(
            tmp_path,
            one("c", LOVELACE, submitted_at="2026-03-03T12:00:00"),
            one("b", LOVELACE, submitted_at=MONDAY, origin=""),
            one("a", LOVELACE),
            one("z", LOVELACE, gone=True),
        )
        assert row["submission"] == "c"
        assert row["notes"].endswith(
            "also found in export/a, b: the latest counts; found before in export/z: what is handed in now counts"
        )

    def test_nothing_is_handed_in_any_more(self, tmp_path: Path) -> None:
        """The mark from before is kept: the latest, as ever."""
        (row,) = grades(tmp_path, one("a", LOVELACE, gone=True), one("b", LOVELACE, result=better(), gone=True))
        assert (row["submission"], row["mark"]) == ("b", "5")

    def test_alone_and_in_a_group(self, tmp_path: Path) -> None:
        """The other member of the group keeps the group's grade."""
        group = one("g", LOVELACE, HOPPER, submitted_at=MONDAY, result=better())
        ada, grace = grades(tmp_path, group, one("own", LOVELACE, submitted_at=TUESDAY))
        assert (ada["submission"], grace["submission"]) == ("own", "g")


class TestTests:
    def test_a_line_for_each_test(self, tmp_path: Path) -> None:
        """Every test of every student: points, outcome, and the mistakes that were named."""
        write_gradebook(class_of_five(), tmp_path)
        lines = rows(tmp_path, TESTS)
        assert len(lines) == 5 * 5
        assert lines[1] == {
            "id": "1001", "name": "Lovelace, Ada", "submission": "s1", "part": "2", "test": "2.1",
            "title": "The score matrix S = Q Kᵀ / √d_k.", "score": "1", "of": "3", "outcome": "failed",
            "mistakes": "no_scale",
        }  # fmt: skip

    def test_grader_error_is_no_zero(self, tmp_path: Path) -> None:
        """A test that the grader could not judge has no points."""
        write_gradebook([one("s1", LOVELACE, result=grader_error())], tmp_path)
        line = rows(tmp_path, TESTS)[2]
        assert (line["outcome"], line["score"]) == ("grader error", "")


class TestFiles:
    @given(st.permutations(class_of_five()))
    @settings(max_examples=20)
    def test_order_makes_no_difference(self, tmp_path_factory: pytest.TempPathFactory, order: list[Graded]) -> None:
        """The same class gives the same bytes, in whatever order it was graded."""
        here, there = tmp_path_factory.mktemp("here"), tmp_path_factory.mktemp("there")
        write_gradebook(order, here)
        write_gradebook(iter(class_of_five()), there)
        for name in (GRADES, TESTS):
            assert (here / name).read_bytes() == (there / name).read_bytes()

    def test_holds_one_submission_at_a_time(self, tmp_path: Path) -> None:
        """The class is read once, one submission at a time, and what is not needed any more is let go."""

        def many() -> Iterable[Graded]:
            for i in range(100):
                printed = Excerpt(stdout=f"{i:04}" * 250_000)
                yield one(f"s{i}", Submitter(id=f"{i:04}"), result=msgspec.structs.replace(graded(), printed=printed))

        tracemalloc.start()
        write_gradebook(many(), tmp_path)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 20_000_000, "a hundred submissions of a megabyte each were held"
        assert len(rows(tmp_path, TESTS)) == 500

    def test_unix_lines(self, tmp_path: Path) -> None:
        """Lines end with a newline alone, and each student is one line."""
        write_gradebook(class_of_five(), tmp_path)
        data = (tmp_path / GRADES).read_bytes()
        assert b"\r" not in data
        assert data.count(b"\n") == 6

    @pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS)
    def test_hostile_names(self, tmp_path: Path, payload: str) -> None:
        """Names, files and reasons of any kind stay in their cells."""
        graded = renamed(one("s1", LOVELACE), payload)
        submission = Submission(id="s1", name=payload, file=payload)
        hostile = msgspec.structs.replace(graded.result, submission=submission, reason=payload, notes=(payload,))
        where = msgspec.structs.replace(graded.submission, origin=payload)
        (row,) = grades(tmp_path, msgspec.structs.replace(graded, result=hostile, submission=where))
        assert None not in row
        assert all(value.isprintable() for value in row.values())
