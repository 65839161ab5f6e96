"""Archives, names and files that are made to break or fool whoever opens them: refused, and nothing else happens."""

from __future__ import annotations

import io
import os
import re
import shutil
import socket
import stat
import struct
import tarfile
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from softmark.intake.collect import collect
from softmark.intake.model import Entry, SubmittedFiles
from softmark.intake.names import unseen
from softmark.intake.places import Unreadable
from tests.support.exports import FILE, SOURCE, WANTED, as_folder

needs_ordinary_user = pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
LIST_ENTRY, MEMBER = b"PK\x01\x02", b"PK\x03\x04"


def zip_of(*members: tuple[str | zipfile.ZipInfo, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive with whatever names and attributes, twice the same if need be."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


def special(name: str, kind: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (kind | 0o777) << 16
    return info


def patched(archive: bytes, offset: int, value: bytes, mark: bytes = LIST_ENTRY) -> bytes:
    """The archive with some bytes of a header of its first member written over."""
    at = archive.index(mark) + offset
    return archive[:at] + value + archive[at + len(value) :]


def locked(archive: bytes) -> bytes:
    return patched(patched(archive, 8, b"\x01\x00"), 6, b"\x01\x00", MEMBER)


def tar() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        info = tarfile.TarInfo(FILE)
        info.size = len(SOURCE)
        archive.addfile(info, io.BytesIO(SOURCE))
    return buffer.getvalue()


GOOD = zip_of((FILE, SOURCE))
NO_REAL_ZIP = "hand in the file itself or a real zip"
AGAIN = "zip it again"

HOSTILE: dict[str, tuple[bytes, str]] = {
    "leads out": (zip_of((FILE, SOURCE), ("../../evil.py", b"")), "holds the name ../../evil.py: zip the file itself"),
    "leads out from within": (zip_of((f"a/../../{FILE}", SOURCE)), f"holds the name a/../../{FILE}: zip"),
    "absolute": (zip_of((FILE, SOURCE), ("/etc/passwd", b"")), "holds the name /etc/passwd: zip"),
    "a drive": (zip_of(("C:/x.py", b"")), "holds the name C:/x.py: zip"),
    "backslashes": (zip_of((f"..\\{FILE}", SOURCE)), f"holds the name ..\\{FILE}: zip"),
    "a NUL in the name": (
        GOOD.replace(FILE.encode(), b"attention_scores\0py"), "holds the name attention_scores\\x00py: zip",
    ),
    "a terminal's control characters": (zip_of(("\x1b[2J.py", b"")), "holds the name \\x1b[2J.py: zip"),
    "letters in another order": (zip_of(("hw\u202eyp.exe", b"")), "holds the name hw\\u202eyp.exe: zip"),
    "a very long name": (zip_of(("x" * 300 + ".py", b"")), "holds the name " + "x" * 200 + "…: zip"),
    "very deep": (zip_of(("a/" * 40 + FILE, SOURCE)), "zip the file itself again"),
    "the file is a link": (
        zip_of((special(FILE, stat.S_IFLNK), b"/etc/passwd")),
        f"{FILE} is a symbolic link, not a file: hand in the file itself",
    ),
    "the file is a device": (zip_of((special(FILE, stat.S_IFCHR), b"")), f"{FILE} is a device, not a file"),
    "a file through a link": (
        zip_of((special("out", stat.S_IFLNK), b"/tmp"), ("out/evil.py", b"x = 1\n")),
        f"expected {FILE}; found out, out/evil.py",
    ),
    "two of one name": (
        zip_of((FILE, SOURCE), (FILE, b"x = 1\n")), f"there are two files named {FILE}: hand in one of them",
    ),
    "two that differ in case": (
        zip_of((FILE, SOURCE), (FILE.upper(), b"")), f"there are two files named {FILE.upper()} and {FILE}: hand in",
    ),
    "two that differ in normal form": (
        zip_of(("u\u0308.py", SOURCE), ("\u00fc.py", b"")),
        "there are two files named u\u0308.py and \u00fc.py: hand in",
    ),
    "a password": (locked(GOOD), f"{FILE} in hw.zip is locked with a password: zip it again without one"),
    "cut off": (GOOD[:-30], f"hw.zip is damaged or cut off: {AGAIN}"),
    "cut off within the file": (GOOD[:60], f"hw.zip is damaged or cut off: {AGAIN}"),
    "other bytes than were packed": (
        zip_of((FILE, SOURCE), compression=zipfile.ZIP_STORED).replace(b"torch", b"t0rch"),
        f"{FILE} in hw.zip is damaged: {AGAIN}",
    ),
    "a way of packing that takes much memory": (
        zip_of((FILE, SOURCE), compression=zipfile.ZIP_LZMA), f"{FILE} in hw.zip is compressed in an unusual way: ",
    ),
    "a bomb": (zip_of((FILE, b"#" * 50_000_000)), f"{FILE} is larger than 5 MB"),
    "a bomb that says it is small": (
        patched(zip_of((FILE, b"#" * 50_000_000)), 24, struct.pack("<I", 10)), f"{FILE} in hw.zip is damaged: {AGAIN}",
    ),
    "a small bomb": (zip_of((FILE, b"#" * 4_000_000)), f"{FILE} in hw.zip is over 500 times as large as it was packed"),
    "more files than anybody writes": (
        zip_of(*((f"{number}", b"") for number in range(5_001))), "hw.zip holds more than 5000 files",
    ),
    "a list of files that would fill the memory": (
        zip_of(*((f"{number}" + "x" * 500, b"") for number in range(4_000))), "hw.zip holds more than 5000 files",
    ),
    "a list of files that is nowhere": (
        GOOD[:-10] + struct.pack("<II", 0xFFFFFFF0, 0) + b"\0\0", f"hw.zip is damaged or cut off: {AGAIN}",
    ),
    "RAR": (b"Rar!\x1a\x07\x01\x00" + SOURCE, f"hw.zip is a RAR archive: {NO_REAL_ZIP}"),
    "7z": (b"7z\xbc\xaf\x27\x1c" + SOURCE, f"hw.zip is a 7z archive: {NO_REAL_ZIP}"),
    "gzip": (b"\x1f\x8b\x08" + SOURCE, f"hw.zip is a gzip archive: {NO_REAL_ZIP}"),
    "tar": (tar(), f"hw.zip is a tar archive: {NO_REAL_ZIP}"),
    "a program": (SOURCE, f"hw.zip is no zip archive: {NO_REAL_ZIP}"),
    "empty": (b"", "hw.zip is empty"),
    "six zips": (b"", "6 zip archives were handed in: hand in one"),
    "a very large zip": (MEMBER + b"\0" * 25_000_000, "hw.zip is larger than 25 MB"),
}  # fmt: skip


@pytest.fixture
def nothing_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What stands in the working directory and beside it is the same afterwards."""
    monkeypatch.chdir(tmp_path)
    yield
    names = {path.name for path in tmp_path.rglob("*")}
    assert not any("evil" in name or "passwd" in name for name in names)
    assert not Path("/tmp/evil.py").exists()


def hand_in(archive: bytes, place: Path, copies: int = 1) -> SubmittedFiles:
    """As one student's file in a folder of the class."""
    names = ["hw.zip", *(f"hw{number}.zip" for number in range(1, copies))]
    as_folder({f"student/{name}": archive for name in names} | {f"other/{FILE}": SOURCE}, place / "class")
    _, student = collect([place / "class"], WANTED).entries
    return student.load(WANTED)


@pytest.mark.usefixtures("nothing_written")
@pytest.mark.parametrize(("archive", "why"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_archives(archive: bytes, why: str, tmp_path: Path) -> None:
    """Refused with the reason; the archive of a student is that student's matter alone."""
    handed_in = hand_in(archive, tmp_path, copies=6 if why.startswith("6") else 1)
    assert why in handed_in.refusal
    assert (handed_in.main, dict(handed_in.files)) == ("", {})


class TestArchivesThatAreFine:
    """Odd, and nobody's fault."""

    def test_zip64(self, tmp_path: Path) -> None:
        """Some programs write nothing else."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive, archive.open(FILE, "w", force_zip64=True) as member:
            member.write(SOURCE)
        assert hand_in(buffer.getvalue(), tmp_path).files == {FILE: SOURCE}

    def test_a_member_larger_than_the_list_may_be(self, tmp_path: Path) -> None:
        """Weights that do not get smaller by packing; the cap on the list of members is not one on them."""
        weights = os.urandom(3_000_000)
        assert hand_in(zip_of((FILE, SOURCE), ("weights.pt", weights)), tmp_path).files["weights.pt"] == weights

    def test_names_that_begin_here(self, tmp_path: Path) -> None:
        """As some programs write them."""
        assert hand_in(zip_of(("./", b""), (f"./{FILE}", SOURCE)), tmp_path).files == {FILE: SOURCE}

    def test_a_header_that_promises_more(self, tmp_path: Path) -> None:
        """What comes out counts."""
        archive = patched(zip_of((FILE, SOURCE)), 24, struct.pack("<I", 4_000_000_000))
        assert hand_in(archive, tmp_path).files == {FILE: SOURCE}

    def test_names_in_utf8_that_are_not_marked_so(self, tmp_path: Path) -> None:
        """As a Mac writes them."""
        name = "übung/" + FILE
        archive = zip_of((name.replace("ü", "uu"), SOURCE)).replace(b"uubung", "übung".encode())
        handed_in = hand_in(archive, tmp_path)
        assert (handed_in.main, handed_in.refusal) == (FILE, "")

    def test_the_thirteenth_month(self, tmp_path: Path) -> None:
        """A date that is none is no reason not to grade."""
        assert hand_in(patched(GOOD, 12, b"\xff\xff\xff\xff"), tmp_path).main == FILE

    def test_a_bad_name_in_the_zip_of_a_class_is_nobodys(self, tmp_path: Path) -> None:
        """It is said, and everybody else is graded."""
        archive = zip_of((f"one/{FILE}", SOURCE), (f"two/../one/{FILE}", b""), (f"two/{FILE}", SOURCE))
        (tmp_path / "class.zip").write_bytes(archive)
        collection = collect([tmp_path / "class.zip"], WANTED)
        assert [entry.load(WANTED).files for entry in collection.entries] == [{FILE: SOURCE}] * 2
        assert collection.ignored == (f"class.zip: the name two/../one/{FILE} leads out of the archive",)


def one_of_two(place: Path) -> Entry:
    """The entry of `student`; `other` is fine and stays so."""
    as_folder({f"other/{FILE}": SOURCE}, place)
    entries = {entry.id: entry for entry in collect([place], WANTED).entries}
    assert entries["other"].load(WANTED).main == FILE
    (entry,) = (entry for name, entry in entries.items() if name.startswith("student"))
    return entry


class TestOnTheDisk:
    """What a folder can hold besides files."""

    def test_a_pipe(self, tmp_path: Path) -> None:
        """Nobody waits for its other end."""
        (tmp_path / "student").mkdir()
        os.mkfifo(tmp_path / "student" / FILE)
        refusal = one_of_two(tmp_path).load(WANTED).refusal
        assert refusal == f"{FILE} is a named pipe, not a file: hand in the file itself"

    def test_a_socket(self, tmp_path: Path) -> None:
        """Not connected to."""
        (tmp_path / "student").mkdir()
        with socket.socket(socket.AF_UNIX) as end:
            end.bind(str(tmp_path / "student" / "x.py"))
            refusal = one_of_two(tmp_path).load(WANTED).refusal
        assert refusal == "x.py is a socket, not a file: hand in the file itself"

    @pytest.mark.parametrize(
        "target", ["/etc/passwd", "../other/attention_scores.py", "attention_scores.py", "nowhere"]
    )
    def test_a_link_to_a_file(self, target: str, tmp_path: Path) -> None:
        """Another student's work, say."""
        (tmp_path / "student").mkdir()
        (tmp_path / "student" / FILE).symlink_to(target)
        refusal = one_of_two(tmp_path).load(WANTED).refusal
        assert refusal == f"{FILE} is a symbolic link, not a file: hand in the file itself"

    @pytest.mark.parametrize("name", ["student", "student/hw"])
    def test_a_link_to_a_folder(self, name: str, tmp_path: Path) -> None:
        """Also in place of the student's own folder, and also in a circle."""
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).symlink_to(tmp_path)
        refusal = one_of_two(tmp_path).load(WANTED).refusal
        assert refusal == f"{name.rpartition('/')[2]} is a symbolic link, not a file: hand in the file itself"

    def test_a_module_that_is_a_link_is_left_out(self, tmp_path: Path) -> None:
        """The submission itself is fine."""
        as_folder({f"student/{FILE}": SOURCE}, tmp_path)
        (tmp_path / "student" / "helper.py").symlink_to("/etc/passwd")
        handed_in = one_of_two(tmp_path).load(WANTED)
        assert (dict(handed_in.files), handed_in.staff_notes) == ({FILE: SOURCE}, ("left out: helper.py",))

    @pytest.mark.parametrize("what", ["student", f"student/{FILE}"])
    def test_what_vanishes_after_it_was_listed(self, what: str, tmp_path: Path) -> None:
        """Somebody tidied up meanwhile."""
        as_folder({f"student/{FILE}": SOURCE}, tmp_path)
        entry = one_of_two(tmp_path)
        shutil.rmtree(tmp_path / "student") if what == "student" else (tmp_path / what).unlink()
        assert entry.load(WANTED).refusal

    def test_a_file_that_becomes_a_link(self, tmp_path: Path) -> None:
        """Between the listing and the reading."""
        as_folder({"student.py": SOURCE}, tmp_path)
        entry = one_of_two(tmp_path)
        (tmp_path / "student.py").unlink()
        (tmp_path / "student.py").symlink_to("/etc/passwd")
        handed_in = entry.load(WANTED)
        assert handed_in.refusal == "student.py could not be read where it is kept: tell your instructor"
        assert "is a symbolic link" in handed_in.staff_notes[0]

    @needs_ordinary_user
    @pytest.mark.parametrize("what", ["student", f"student/{FILE}"])
    def test_without_permission(self, what: str, tmp_path: Path) -> None:
        """One student's folder stops nobody else's grading."""
        as_folder({f"student/{FILE}": SOURCE}, tmp_path)
        (tmp_path / what).chmod(0)
        refusal = one_of_two(tmp_path).load(WANTED).refusal
        (tmp_path / what).chmod(0o700)
        assert "cannot be listed: Permission denied" in refusal or "tell your instructor" in refusal

    def test_names_that_are_no_text(self, tmp_path: Path) -> None:
        """Shown so that they can be written to any file."""
        folder = os.fsencode(tmp_path) + b"/student\xff"
        os.mkdir(folder)
        for name in (b"\xe9t\xe9.py", b"x" * 251 + b".csv", b"a\nb.py"):
            with open(folder + b"/" + name, "wb") as file:
                file.write(SOURCE.replace(b"def ", b"def x") if b"b.py" in name else SOURCE)
        entry = one_of_two(tmp_path)
        handed_in = entry.load(WANTED)
        assert re.fullmatch(r"student-[0-9a-f]{8}", entry.id)
        assert entry.submission.students[0].name == "student\\udcff"
        assert handed_in.notes == (f"`\\udce9t\\udce9.py` was graded as `{FILE}`",)
        assert handed_in.staff_notes == (f"left out: a\\x0ab.py, {'x' * 200}…",)


def harmless(entry: Entry) -> None:
    """Whatever came of it can be shown, stored and written beside others."""
    handed_in = entry.load(WANTED)
    assert bool(handed_in.main) != bool(handed_in.refusal)
    who = entry.submission
    assert_shown(who.id, who.origin, *handed_in.notes, *handed_in.staff_notes, handed_in.refusal, *who.earlier)
    assert entry.id[0] not in ".-"
    assert entry.id.isascii()
    assert all(".." not in name.split("/") and not name.startswith("/") for name in handed_in.files)


def assert_shown(*texts: str) -> None:
    """Nothing in them is invisible, moves a cursor, or cannot be written as UTF-8."""
    assert not any(unseen(character) for text in texts for character in text)


def collected(path: Path) -> tuple[Entry, ...]:
    """What is found; nothing, if the person at the keyboard is told so."""
    try:
        collection = collect([path], WANTED)
    except Unreadable as why:
        assert_shown(str(why))
        return ()
    assert_shown(*collection.ignored)
    return collection.entries


few = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
characters = st.characters(exclude_categories=(), exclude_characters="\0")
names = st.text(characters, min_size=1, max_size=30) | st.sampled_from(
    [FILE, "../x.py", "/etc/x", "a//b.py", "CON", "submission_metadata.yml", "submission_1/x.py", "timestamp.txt",
     "submitted/a/b/x.py", "one_1_2_hw.py", "One_1_assignsubmission_file_/x.py", "hw.zip", "a/hw.py", "a", "..", "."]
)  # fmt: skip
contents = st.binary(max_size=60) | st.sampled_from([SOURCE, GOOD, GOOD[:-9]])


@few
@given(
    st.binary(max_size=300) | st.builds(lambda start, rest: start + rest, st.sampled_from([GOOD, MEMBER]), st.binary())
)
@example(b"PK\x05\x06" + b"\0" * 18)
@example(b"PK\x05\x06" + b"\xff" * 18)
def test_any_bytes_as_a_zip(tmp_path: Path, content: bytes) -> None:
    """Graded or refused, as a class or as one student's; nothing is written."""
    place = tmp_path / "class"
    as_folder({"student.zip": content, "other.py": SOURCE}, place)
    for entry in (*collected(place), *collected(place / "student.zip")):
        harmless(entry)
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*")} == {
        "class", "class/student.zip", "class/other.py",
    }  # fmt: skip


@few
@given(st.integers(0, len(GOOD) - 1), st.binary(min_size=1, max_size=8))
def test_a_zip_with_any_few_bytes_written_over(tmp_path: Path, at: int, value: bytes) -> None:
    """Every field of every header, whatever it claims."""
    as_folder({"student.zip": GOOD[:at] + value + GOOD[at + len(value) :], "other.py": SOURCE}, tmp_path)
    for entry in (*collected(tmp_path), *collected(tmp_path / "student.zip")):
        harmless(entry)


@few
@given(st.dictionaries(names, contents, max_size=6))
def test_any_names_in_a_zip(tmp_path: Path, tree: dict[str, bytes]) -> None:
    """Graded or refused; what is nobody's is named."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in tree.items():
            if name.encode("utf-8", "ignore").decode() == name:  # zipfile writes no halves of characters
                archive.writestr(name, content)
    (tmp_path / "class.zip").write_bytes(buffer.getvalue())
    for entry in collected(tmp_path / "class.zip"):
        harmless(entry)
    assert [path.name for path in tmp_path.iterdir()] == ["class.zip"]
