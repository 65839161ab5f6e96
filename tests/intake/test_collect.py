"""Where submissions come from: each source is known by itself, and every student in it is found."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from softmark.intake.collect import collect
from softmark.intake.model import Collection, Entry
from softmark.intake.places import Unreadable
from softmark.records.result import Submitter
from tests.support import exports
from tests.support.exports import (
    FILE,
    NOTEBOOK,
    OTHER,
    SOURCE,
    STARTER,
    WANTED,
    Tree,
    as_folder,
    as_zip,
    asking_for,
    notebook,
    zipped,
)  # fmt: skip

Made = Callable[[Tree, Path], Path]
both_ways = pytest.mark.parametrize("made", [as_folder, as_zip])


def found(tree: Tree, made: Made, place: Path) -> dict[str, Entry]:
    collection = collect([made(tree, place / "given")], WANTED)
    return {entry.id: entry for entry in collection.entries}


def graded(entries: dict[str, Entry]) -> dict[str, str]:
    """What each is graded as, or why not."""
    loaded = {name: entry.load(WANTED) for name, entry in entries.items()}
    return {name: handed_in.main or handed_in.refusal for name, handed_in in loaded.items()}


def format_of(tree: Tree, made: Made, place: Path) -> Collection:
    return collect([made(tree, place / "given")], WANTED)


class TestGradescope:
    """The export of an assignment's submissions."""

    @both_ways
    def test_everybody_is_found_with_name_and_time(self, made: Made, tmp_path: Path) -> None:
        """Groups, names in quotes, both ways of writing a time; what a student printed is no metadata."""
        entries = found(exports.gradescope(), made, tmp_path)
        assert graded(entries) == {
            "submission_31": FILE,
            "submission_32": NOTEBOOK,
            "submission_33": f"expected {FILE}; found notes.docx",
        }
        assert entries["submission_31"].submission.students == (Submitter("1001", "Student One", "one@example.com"),)
        assert entries["submission_31"].submission.submitted_at == datetime(2026, 4, 26, 17, 34, tzinfo=UTC)
        assert entries["submission_31"].submission.earlier == ("submitted at 2026-04-25 11:00:00.000000000 Z",)
        assert entries["submission_32"].submission.students == (
            Submitter("1002", 'Student "Two" É', "two@example.com"),
            Submitter("three@example.com", "Student O'Three", "three@example.com"),
        )
        assert entries["submission_32"].submission.submitted_at == datetime(2026, 4, 27, 8, tzinfo=UTC)
        seven_west = timezone(timedelta(hours=-7))
        assert entries["submission_33"].submission.submitted_at == datetime(2026, 4, 27, 1, tzinfo=seven_west)
        assert entries["submission_33"].submission.students == (Submitter("submission_33"),)

    @both_ways
    def test_format_and_what_is_missing(self, made: Made, tmp_path: Path) -> None:
        """A submission that the metadata names and the export does not hold is said, not lost."""
        collection = format_of(exports.gradescope(), made, tmp_path)
        assert collection.format == "Gradescope export"
        assert [line.partition("export/")[2] for line in collection.ignored] == [
            "submission_metadata.yml: submission_34 has no folder"
        ]


class TestCanvas:
    """The bulk download of an assignment."""

    @both_ways
    def test_everybody_is_found(self, made: Made, tmp_path: Path) -> None:
        """Late or not, groups, anonymous, a zip, a text typed in."""
        entries = found(exports.canvas(), made, tmp_path)
        assert graded(entries) == {
            "anon_Ab3dE": FILE,
            "fivestudent_1005": f"expected {FILE}; found text.html",
            "fourstudent_1004": FILE,
            "group7_1003": NOTEBOOK,
            "onestudent_1001": FILE,
            "twostudent_1002": FILE,
        }
        assert entries["onestudent_1001"].submission.students == (Submitter("1001", "onestudent"),)
        assert {name: entry.submission.late for name, entry in entries.items() if entry.submission.late} == {
            "fivestudent_1005": True,
            "twostudent_1002": True,
        }
        assert format_of(exports.canvas(), made, tmp_path).format == "Canvas download"

    @both_ways
    def test_the_last_of_several_uploads_counts(self, made: Made, tmp_path: Path) -> None:
        """Canvas numbers a name that was handed in before: that is no slip of the student's."""
        entry = found(exports.canvas(), made, tmp_path)["twostudent_1002"]
        handed_in = entry.load(WANTED)
        assert handed_in.files == {FILE: OTHER, "helper.py": b"x = 1\n"}
        assert handed_in.notes == ()
        assert entry.submission.earlier == (f"twostudent_LATE_1002_500092_{FILE}",)

    @pytest.mark.parametrize(("older", "newer"), [(99, 100), (99_999, 100_000), (100_000, 100_001)])
    @both_ways
    def test_the_largest_number_is_the_last_upload(self, made: Made, older: int, newer: int, tmp_path: Path) -> None:
        """Of two files of one name that with the larger number counts, also where it has a digit more."""
        tree = {f"onestudent_1001_{older}_{FILE}": STARTER, f"onestudent_1001_{newer}_{FILE}": SOURCE}
        entry = found(tree, made, tmp_path)["onestudent_1001"]
        assert entry.load(WANTED).files == {FILE: SOURCE}
        assert entry.submission.earlier == (f"onestudent_1001_{older}_{FILE}",)

    @pytest.mark.parametrize("late_first", [True, False])
    @pytest.mark.parametrize("again", ["", "-2"])
    @both_ways
    def test_the_newest_file_says_whether_it_was_late(
        self, made: Made, again: str, late_first: bool, tmp_path: Path
    ) -> None:
        """The last upload counts, be the first one a file that was handed in again: more time may have been given."""
        first, second = ("LATE_", "") if late_first else ("", "LATE_")
        tree = {
            f"onestudent_{first}1001_500101_{FILE.removesuffix('.py')}{again}.py": SOURCE,
            f"onestudent_{second}1001_500102_helper.py": b"x = 1\n",
        }
        entry = found(tree, made, tmp_path)["onestudent_1001"]
        assert list(entry.load(WANTED).files) == [FILE, "helper.py"]
        assert entry.submission.late is not late_first

    @both_ways
    def test_names_with_numbers_are_no_canvas_download(self, made: Made, tmp_path: Path) -> None:
        """Else all of them would be taken for one student's."""
        tree = {f"hw1_2026_01_{who}.py": SOURCE for who in ("one", "two")}
        assert list(found(tree, made, tmp_path)) == ["hw1_2026_01_one", "hw1_2026_01_two"]


class TestMoodle:
    """The download of all submissions."""

    @both_ways
    def test_everybody_is_found(self, made: Made, tmp_path: Path) -> None:
        """Old and new names of folders, online text, a group."""
        entries = found(exports.moodle(), made, tmp_path)
        assert graded(entries) == {
            "Default-group": FILE,
            "Student-One_1001": FILE,
            "Student-Three_1003": f"expected {FILE}; found onlinetext.html",
            "Zoe-Two_1002": FILE,
        }
        assert entries["Zoe-Two_1002"].submission.students == (Submitter("1002", "Zoë Twó"),)
        assert format_of(exports.moodle(), made, tmp_path).format == "Moodle download"

    @both_ways
    def test_what_was_typed_counts_only_without_a_file(self, made: Made, tmp_path: Path) -> None:
        """A remark in Moodle's own editor is no part of what was handed in, and nothing that was left out of it."""
        entries = found(exports.moodle(), made, tmp_path)
        assert "onlinetext" not in entries["Student-One_1001"].submission.origin
        assert entries["Student-One_1001"].load(WANTED).staff_notes == ()
        assert "onlinetext" in entries["Student-Three_1003"].submission.origin

    @both_ways
    def test_the_flat_download(self, made: Made, tmp_path: Path) -> None:
        """Files of one student are put together again."""
        entries = found(exports.moodle_flat(), made, tmp_path)
        assert graded(entries) == {"Student-One_1001": FILE, "Student-Two_1002": NOTEBOOK}
        handed_in = entries["Student-One_1001"].load(WANTED)
        assert (sorted(handed_in.files), handed_in.notes) == ([FILE, "helper.py"], ())


class TestNbgrader:
    """A course's folder, or its folder `submitted`."""

    @pytest.mark.parametrize("start", ["", "submitted/"])
    @both_ways
    def test_everybody_is_found(self, made: Made, start: str, tmp_path: Path) -> None:
        """Of two attempts the later; who handed in something else for this homework is told; others are not asked."""
        tree = {name.removeprefix(start): content for name, content in exports.nbgrader().items() if start in name}
        collection = format_of(tree, made, tmp_path)
        entries = {entry.id: entry for entry in collection.entries}
        assert collection.format == "nbgrader folder"
        assert graded(entries) == {
            "one": NOTEBOOK,
            "two": NOTEBOOK,
            "three": f"expected {FILE}; found essay.docx",
        }
        pacific = ZoneInfo("America/Los_Angeles")
        assert entries["one"].submission.submitted_at == datetime(2026, 2, 2, 15, 58, 23, tzinfo=pacific)
        assert entries["two"].submission.submitted_at == datetime(2026, 2, 3, 10, tzinfo=UTC)
        assert [origin.rpartition("/")[2] for origin in entries["two"].submission.earlier] == ["hw1"]
        assert entries["two"].load(WANTED).files == {NOTEBOOK: notebook()}
        assert [line.rpartition("/")[2] for line in collection.ignored] == ["four: other assignments only"]


class TestPlain:
    """Without a platform."""

    @both_ways
    def test_a_file_for_each_student(self, made: Made, tmp_path: Path) -> None:
        """Named after them: nobody misnamed anything. A README is nobody's."""
        tree = {
            "student_one.py": SOURCE,
            "student two.ipynb": notebook(),
            "student_three.zip": zipped({f"x/{FILE}": SOURCE}),
            "student_four.docx": b"words",
            "README.md": b"read me",
            "roster.csv": b"a,b",
        }
        collection = format_of(tree, made, tmp_path)
        entries = {entry.id: entry for entry in collection.entries}
        assert collection.format == "folder of files"
        assert graded(entries) == {
            "student_one": FILE,
            "student-two": NOTEBOOK,
            "student_three": FILE,
            "student_four": f"expected {FILE}; found student_four.docx",
        }
        assert {note for entry in entries.values() for note in entry.load(WANTED).notes} == set()
        assert entries["student-two"].submission.students == (Submitter("student-two", "student two"),)
        assert [line.rpartition("/")[2] for line in collection.ignored] == ["README.md", "roster.csv"]

    @pytest.mark.parametrize("wrapping", ["", "class/", "a/b/c/"])
    @both_ways
    def test_a_folder_for_each_student(self, made: Made, wrapping: str, tmp_path: Path) -> None:
        """However often the whole is wrapped, and though the starter lies beside them."""
        tree = {f"{wrapping}{who}/{FILE}": SOURCE for who in ("one", "two")} | {f"{wrapping}{FILE}": exports.STARTER}
        collection = format_of(tree, made, tmp_path)
        assert collection.format == "folder of folders"
        assert graded({entry.id: entry for entry in collection.entries}) == {"one": FILE, "two": FILE}

    @both_ways
    def test_names_that_windows_knows_no_folders_of(self, made: Made, tmp_path: Path) -> None:
        """Results are kept in folders of these ids, on any system: `con`, `aux.txt` and `LPT1` can be no folder."""
        names = ["con", "PRN", "aux.txt", "NUL", "com1", "COM¹", "lpt9", "LPT1.2026", "console", "Auxiliary", "com"]
        entries = found({f"{name}/{FILE}": SOURCE for name in names}, made, tmp_path)
        reserved = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
        assert len(entries) == len(names)
        assert not {name.partition(".")[0].casefold() for name in entries} & reserved
        assert {"console", "Auxiliary", "com"} < set(entries)

    @pytest.mark.parametrize("seen", [("one",), ("one", "four")], ids=len)
    @both_ways
    def test_a_name_that_begins_with_a_dot(self, made: Made, seen: tuple[str, ...], tmp_path: Path) -> None:
        """Nobody's submission is passed over without a word; what systems leave behind is not worth one."""
        tree = {f"{who}/{FILE}": SOURCE for who in (*seen, ".two", "__MACOSX", ".ipynb_checkpoints")}
        collection = format_of(tree | {".three.py": SOURCE, ".gitignore": b""}, made, tmp_path)
        assert len(collection.entries) == len(seen)
        assert [line.rpartition("/")[2] for line in collection.ignored] == [
            ".three.py: its name begins with a dot",
            ".two: its name begins with a dot",
        ]

    @pytest.mark.parametrize("wrapping", ["", "hw/", "hw/hw/"])
    @both_ways
    def test_a_folder_that_is_one_submission(self, made: Made, wrapping: str, tmp_path: Path) -> None:
        """The wanted file and what it imports."""
        tree = {f"{wrapping}{FILE}": SOURCE, f"{wrapping}helper.py": b"x = 1\n", f"{wrapping}util/a.py": b"y = 1\n"}
        collection = format_of(tree, made, tmp_path)
        (entry,) = collection.entries
        assert collection.format == "one submission"
        assert sorted(entry.load(WANTED).files) == [FILE, "helper.py", "util/a.py"]

    def test_one_file(self, tmp_path: Path) -> None:
        """By whatever name: whoever names a file wants that file graded."""
        (tmp_path / "mine.py").write_bytes(SOURCE)
        collection = collect([tmp_path / "mine.py"], WANTED)
        assert collection.format == "one file"
        assert [(entry.id, entry.submission.origin, entry.load(WANTED).main) for entry in collection.entries] == [
            ("mine", "mine.py", FILE)
        ]


class TestSeveralPaths:
    """What a shell's `*` gives."""

    def test_files_of_the_homeworks_name_are_told_apart_by_their_folders(self, tmp_path: Path) -> None:
        """The name of the file says nothing about its student."""
        as_folder({f"{who}/{FILE}": SOURCE for who in ("one", "two")}, tmp_path)
        collection = collect([tmp_path / "one" / FILE, tmp_path / "two" / FILE], WANTED)
        assert [entry.id for entry in collection.entries] == ["one", "two"]

    def test_folders_of_students_who_wrapped_their_work(self, tmp_path: Path) -> None:
        """The path that was given names the student, not the folder inside."""
        as_folder({f"{who}/hw/{FILE}": SOURCE for who in ("one", "two")}, tmp_path)
        collection = collect([tmp_path / "one", tmp_path / "two"], WANTED)
        assert [entry.submission.students[0].name for entry in collection.entries] == ["one", "two"]

    def test_names_of_which_little_can_be_a_folder(self, tmp_path: Path) -> None:
        """Whose names differ only in other scripts, or far at the end, are different students all the same."""
        names = {"王明 hw", "李红 hw", "a" * 90, "a" * 89 + "b"}
        entries = collect([as_folder({f"{name}.py": SOURCE for name in names}, tmp_path / "class")], WANTED).entries
        students = [student for entry in entries for student in entry.submission.students]
        assert {student.name for student in students} == names
        assert len({student.id for student in students}) == 4

    def test_the_same_name_twice(self, tmp_path: Path) -> None:
        """Also where case does not count; each keeps its id in every run, whatever else is graded with it."""
        as_folder({"a/one.py": SOURCE, "b/One.py": OTHER, "c/two.py": SOURCE}, tmp_path)
        paths = [tmp_path / name for name in ("a", "b", "c")]
        identities = [entry.id for entry in collect(paths, WANTED).entries]
        assert len({identity.casefold() for identity in identities}) == 3
        assert identities[2] == "two"
        assert [entry.id for entry in collect(paths[:2], WANTED).entries] == identities[:2]

    @pytest.mark.parametrize(("students", "as_one"), [(1, False), (2, True)])
    def test_a_student_whose_folder_looks_like_a_class(self, students: int, as_one: bool, tmp_path: Path) -> None:
        """It is one submission, and staff are told, if most paths are one; half of the paths are not most."""
        copied = {f"{who}/{FILE}": SOURCE for who in ("ada", "ben", "cyd")}
        as_folder({f"dee/{name}": text for name, text in copied.items()}, tmp_path)
        others = [f"student{number}" for number in range(students)]
        as_folder({f"{who}/{FILE}": OTHER for who in others}, tmp_path)
        collection = collect([tmp_path / who for who in ("dee", *others)], WANTED)
        found = {entry.id for entry in collection.entries} - set(others)
        assert found == ({"dee"} if as_one else {"ada", "ben", "cyd"})
        said = "dee: looks like a folder of folders of 3, but most paths are one submission each"
        assert [doubt.startswith(said) for doubt in collection.doubts] == [True] * as_one

    def test_sources_of_different_kinds(self, tmp_path: Path) -> None:
        """All formats are named."""
        paths = [as_zip(exports.canvas(), tmp_path / "canvas"), as_folder(exports.moodle(), tmp_path / "moodle")]
        collection = collect(paths, WANTED)
        assert collection.format == "Canvas download, Moodle download"
        assert len(collection.entries) == 10

    def test_one_broken_archive_stops_nobody(self, tmp_path: Path) -> None:
        """Among others it is one student's, who is told."""
        (tmp_path / "one.zip").write_bytes(b"Rar!\x1a\x07\x00")
        (tmp_path / "two.zip").write_bytes(zipped({FILE: SOURCE}))
        collection = collect([tmp_path / "one.zip", tmp_path / "two.zip"], WANTED)
        assert graded({entry.id: entry for entry in collection.entries}) == {
            "one": "one.zip is a RAR archive: hand in the file itself or a real zip",
            "two": FILE,
        }


class TestUnreadable:
    """What is told to whoever named the paths."""

    @pytest.mark.parametrize(
        ("name", "content", "why"),
        [
            ("absent", None, "no such file: .*absent"),
            ("class.zip", b"PK\x03\x04 cut off", "class.zip is damaged or cut off: zip it again"),
            ("class.zip", b"", "class.zip is empty"),
            ("class.zip", zipped({"README.md": b"-"}), "no submission in .*class.zip: expected attention_scores.py"),
        ],
    )
    def test_a_path_that_holds_nothing(self, name: str, content: bytes | None, why: str, tmp_path: Path) -> None:
        """A typing mistake or a failed download is no student's zero."""
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(Unreadable, match=why):
            collect([tmp_path / name], WANTED)

    def test_an_empty_folder(self, tmp_path: Path) -> None:
        """The next step is in the sentence."""
        with pytest.raises(Unreadable, match="or a file or folder for each student"):
            collect([tmp_path], WANTED)


def test_ten_thousand_students_are_listed_in_seconds(tmp_path: Path) -> None:
    """Listing reads no file."""
    for number in range(10_000):
        (tmp_path / f"student_{number}.py").touch()
    start = time.process_time()
    collection = collect([tmp_path], asking_for(FILE))
    assert len({entry.id for entry in collection.entries}) == 10_000
    assert time.process_time() - start < 5
