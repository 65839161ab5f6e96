"""The small slips of honest students: forgiven with a note, or refused in a sentence that says what to do."""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from softmark.course.homework import Homework
from softmark.intake.collect import collect
from softmark.intake.model import SubmittedFiles
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
)

HALF = b"def attend(h, X):\n    return X\n\n\ndef project(X, W_Q, W_K, W_V):\n    return X\n"
QUARTER = b"def attend(h, X):\n    return X\n"


def renamed(name: str, to: str = FILE) -> tuple[str, ...]:
    return (f"`{name}` was graded as `{to}`",)


@dataclass(frozen=True)
class Forgiven:
    """What was handed in, what of it is graded, and what the student and staff are told."""

    tree: Tree
    notes: tuple[str, ...] = ()
    staff_notes: tuple[str, ...] = ()
    main: str = FILE
    content: bytes = SOURCE
    beside: Tree = field(default_factory=dict)


def left_out(names: str) -> tuple[str, ...]:
    return (f"left out: {names}",)


FORGIVEN: dict[str, Forgiven] = {
    "as it should be": Forgiven({FILE: SOURCE}),
    "the notebook": Forgiven({NOTEBOOK: notebook()}, main=NOTEBOOK, content=notebook()),
    "another case": Forgiven({"Attention_Scores.PY": SOURCE}, renamed("Attention_Scores.PY")),
    "a second download": Forgiven({"attention_scores (1).py": SOURCE}, renamed("attention_scores (1).py")),
    "without the space": Forgiven({"attention_scores(2).py": SOURCE}, renamed("attention_scores(2).py")),
    "a number": Forgiven({"attention_scores-1.py": SOURCE}, renamed("attention_scores-1.py")),
    "a copy": Forgiven({"attention_scores_copy.py": SOURCE}, renamed("attention_scores_copy.py")),
    "a copy, by Windows": Forgiven(
        {"attention_scores - Copy (2).py": SOURCE}, renamed("attention_scores - Copy (2).py")
    ),
    "a copy, by a web page": Forgiven(
        {"Copy of attention_scores.ipynb": notebook()},
        renamed("Copy of attention_scores.ipynb", NOTEBOOK),
        main=NOTEBOOK,
        content=notebook(),
    ),
    "hidden ending": Forgiven({"attention_scores.py.txt": SOURCE}, renamed("attention_scores.py.txt")),
    "a space or a dash in the name": Forgiven({"Attention-scores.py": SOURCE}, renamed("Attention-scores.py")),
    "one folder around it": Forgiven({f"homework/{FILE}": SOURCE}),
    "three folders around it": Forgiven({f"a/b/c/{FILE}": SOURCE}),
    "zipped": Forgiven(
        {"homework.zip": zipped({f"homework/{FILE}": SOURCE, "homework/h.py": b"x=1"})}, beside={"h.py": b"x=1"}
    ),
    "zipped on a Mac": Forgiven(
        {"Archive.zip": zipped({FILE: SOURCE, f"__MACOSX/._{FILE}": b"\0\5\x16\7", ".DS_Store": b"\0"})}
    ),
    "what editors and systems leave behind": Forgiven(
        {
            FILE: SOURCE,
            f"._{FILE}": b"\0\5\x16\7",
            ".DS_Store": b"\0",
            "Thumbs.db": b"\0",
            f".ipynb_checkpoints/{NOTEBOOK}": notebook(),
            f"__pycache__/{FILE}c": b"\0",
        }
    ),
    "byte order mark": Forgiven({FILE: b"\xef\xbb\xbf" + SOURCE}, content=b"\xef\xbb\xbf" + SOURCE),
    "Windows lines": Forgiven({FILE: SOURCE.replace(b"\n", b"\r\n")}, content=SOURCE.replace(b"\n", b"\r\n")),
    "misnamed": Forgiven({"my_solution.py": HALF}, renamed("my_solution.py"), content=HALF),
    "misnamed notebook": Forgiven(
        {"Untitled3.ipynb": notebook(HALF)}, renamed("Untitled3.ipynb", NOTEBOOK), main=NOTEBOOK, content=notebook(HALF)
    ),
    "misnamed, beside a module of theirs": Forgiven(
        {"solution.py": SOURCE, "masks.py": QUARTER}, renamed("solution.py"), beside={"masks.py": QUARTER}
    ),
    "the exact name wins": Forgiven(
        {FILE: SOURCE, "attention_scores (1).py": STARTER},
        (f"attention_scores (1).py was not graded, because `{FILE}` is there",),
    ),
    "what a note has named is not left out as well": Forgiven(
        {FILE: SOURCE, "attention_scores (1).py": STARTER, "a b.py": b""},
        (f"attention_scores (1).py was not graded, because `{FILE}` is there",),
        left_out("a b.py"),
    ),
    "the exact name wins over older ones": Forgiven(
        {FILE: SOURCE, f"old/{FILE}": STARTER, "attention_scores_old.py": STARTER},
        beside={f"old/{FILE}": STARTER, "attention_scores_old.py": STARTER},
    ),
    "the same file twice": Forgiven({f"a/{FILE}": SOURCE, f"b/{FILE}": SOURCE}, staff_notes=left_out(f"b/{FILE}")),
    "the notebook has more": Forgiven(
        {FILE: QUARTER, NOTEBOOK: notebook()},
        (f"`{NOTEBOOK}` was graded, not `{FILE}`: it defines 4 of the 4 names that are asked for, the other 1",),
        main=NOTEBOOK,
        content=notebook(),
        beside={FILE: QUARTER},
    ),
    "the file has more": Forgiven(
        {FILE: SOURCE, NOTEBOOK: notebook(QUARTER)},
        (f"`{FILE}` was graded, not `{NOTEBOOK}`: it defines 4 of the 4 names that are asked for, the other 1",),
    ),
    "the starter was left in": Forgiven(
        {FILE: STARTER, NOTEBOOK: notebook()},
        (f"`{NOTEBOOK}` was graded, not `{FILE}`: less of it is left as it was in the starter",),
        main=NOTEBOOK,
        content=notebook(),
        beside={FILE: STARTER},
    ),
    "the notebook was not begun, and the file only imports": Forgiven(
        {FILE: b"from mine import *\n", "mine.py": SOURCE, NOTEBOOK: notebook(STARTER)},
        (f"`{FILE}` was graded, not `{NOTEBOOK}`: less of it is left as it was in the starter",),
        content=b"from mine import *\n",
        beside={"mine.py": SOURCE},
    ),
    "a module that hides Python's": Forgiven(
        {FILE: SOURCE, "random.py": b"x = 1\n"},
        ("your file random.py hides the standard module of that name, so it was left out",),
    ),
    "a module that hides a library's": Forgiven(
        {FILE: SOURCE, "torch.py": b"x = 1\n", "numpy/__init__.py": b"x = 1\n"},
        (
            "your file torch.py hides the installed module of that name, so it was left out",
            "your file numpy/__init__.py hides the installed module of that name, so it was left out",
        ),
    ),
    "files that steer pytest or Python": Forgiven(
        {FILE: SOURCE, "conftest.py": b"", "pytest.ini": b"", "sitecustomize.py": b"", ".netrc": b"", "tox.ini": b""},
        staff_notes=left_out(".netrc, conftest.py, pytest.ini, sitecustomize.py, tox.ini"),
    ),
    "names that are options or commands": Forgiven(
        {FILE: SOURCE, "-pplugin.py": b"", "a b.py": b"", "$(reboot).py": b"", "x\ny.py": b""},
        staff_notes=left_out("$(reboot).py, -pplugin.py, a b.py, x\\x0ay.py"),
    ),
    "a package of the same name": Forgiven(
        {FILE: SOURCE, "attention_scores/__init__.py": b"x = 1\n"}, staff_notes=left_out("attention_scores/__init__.py")
    ),
    "modules, data and papers": Forgiven(
        {
            FILE: SOURCE,
            "util/masks.py": b"x = 1\n",
            "data/train.csv": b"1,2\n",
            "notes.docx": b"words",
            "plot.exe": b"MZ",
        },
        staff_notes=left_out("notes.docx, plot.exe"),
        beside={"util/masks.py": b"x = 1\n", "data/train.csv": b"1,2\n"},
    ),
    "characters that cannot be seen": Forgiven(
        {FILE: SOURCE + "# \u202eeurt\u200b\n".encode()},
        staff_notes=(f"{FILE} line 20 holds characters that cannot be seen: U+200B, U+202E",),
        content=SOURCE + "# \u202eeurt\u200b\n".encode(),
    ),
    "characters that cannot be seen in a module beside it": Forgiven(
        {FILE: SOURCE, "util/masks.py": "x = 1\n# \u202e\n".encode(), "data.csv": "\u202e1\n".encode()},
        staff_notes=("util/masks.py line 2 holds characters that cannot be seen: U+202E",),
        beside={"util/masks.py": "x = 1\n# \u202e\n".encode(), "data.csv": "\u202e1\n".encode()},
    ),
}

REFUSED: dict[str, tuple[Tree, str]] = {
    "a document": ({"notes.docx": b"words"}, f"expected {FILE}; found notes.docx"),
    "a PDF and a picture": ({"hw.pdf": b"%PDF", "page.jpg": b"\xff\xd8"}, f"expected {FILE}; found hw.pdf, page.jpg"),
    "only rubbish": ({"__MACOSX/._x": b"\0", ".DS_Store": b"\0"}, f"expected {FILE}; found nothing"),
    "another homework": ({"lstm_gates.py": QUARTER}, f"expected {FILE}; found lstm_gates.py"),
    "too many files to list": (
        {f"page_{number:02}.jpg": b"" for number in range(12)},
        f"expected {FILE}; found " + ", ".join(f"page_{number:02}.jpg" for number in range(8)) + " and 4 more",
    ),
    "two downloads that differ": (
        {"attention_scores (1).py": SOURCE, "attention_scores (2).py": OTHER},
        f"expected {FILE}; found attention_scores (1).py, attention_scores (2).py, and which one is meant is "
        "not clear: hand in one file",
    ),
    "two folders that differ": (
        {f"a/{FILE}": SOURCE, f"b/{FILE}": OTHER},
        f"expected {FILE}; found a/{FILE}, b/{FILE}, and which one is meant is not clear: hand in one file",
    ),
    "two solutions": (
        {"first.py": SOURCE, "second.py": OTHER},
        f"expected {FILE}; found first.py, second.py, and which one is meant is not clear: hand in one file",
    ),
    "empty": ({FILE: b""}, "the file is empty"),
    "UTF-16": (
        {FILE: "x = 1\n".encode("utf-16")},
        "the file is UTF-16, not Python source in UTF-8: save it as UTF-8 and hand it in again",
    ),
    "Latin-1": (
        {FILE: "x = 'é'\n".encode("latin-1")},
        "the file is not UTF-8: line 1 holds the byte 0xE9; save it as UTF-8 and hand it in again",
    ),
    "too large": ({FILE: b"#" * 5_000_001}, f"{FILE} is larger than 5 MB"),
    "a notebook with far too many pictures": (
        {NOTEBOOK: b"{" + b" " * 30_000_000},
        f"{NOTEBOOK} is larger than 30 MB: clear its outputs and hand it in again",
    ),
    "a RAR with a zip's name": (
        {"hw.zip": b"Rar!\x1a\x07\x01\x00"}, "hw.zip is a RAR archive: hand in the file itself or a real zip",
    ),
    "a RAR": ({"hw.rar": b"Rar!\x1a\x07\x01\x00"}, f"expected {FILE}; found hw.rar"),
    "a zip in a zip in a zip": (
        {"hw.zip": zipped({"inner.zip": zipped({FILE: SOURCE})})},
        f"hw.zip holds another archive: hand in {FILE} itself",
    ),
    "a folder of the file's name": ({f"{FILE}/readme.md": b"-"}, f"{FILE} is a folder, not a file"),
    "names that differ in case only": (
        {FILE: SOURCE, "Attention_scores.py": OTHER},
        f"there are two files named Attention_scores.py and {FILE}: hand in one of them",
    ),
    "folders without end": ({"a/" * 20 + FILE: SOURCE}, "folders lie more than 12 deep in each other"),
    "a folder with everything": (
        {f"f{number}.txt": b"" for number in range(5001)}, "more than 5000 files were handed in",
    ),
}  # fmt: skip


def hand_in(tree: Tree, place: Path, wanted: Homework = WANTED) -> SubmittedFiles:
    """As one of a class, in which nobody else slipped."""
    as_folder({f"student/{name}": content for name, content in tree.items()} | {f"other/{FILE}": SOURCE}, place)
    (entry,) = (entry for entry in collect([place], wanted).entries if entry.id == "student")
    return entry.load(wanted)


@pytest.mark.parametrize("case", FORGIVEN.values(), ids=FORGIVEN)
def test_forgiven(case: Forgiven, tmp_path: Path) -> None:
    """Graded, and the student is told what was made of it."""
    handed_in = hand_in(case.tree, tmp_path)
    assert handed_in == SubmittedFiles(
        main=case.main,
        files={case.main: case.content, **case.beside},
        notes=case.notes,
        staff_notes=case.staff_notes,
    )


@pytest.mark.parametrize(("tree", "why"), REFUSED.values(), ids=REFUSED)
def test_refused(tree: Tree, why: str, tmp_path: Path) -> None:
    """One sentence, and nothing of it is graded."""
    handed_in = hand_in(tree, tmp_path)
    assert (handed_in.refusal, handed_in.main, dict(handed_in.files), handed_in.notes) == (why, "", {}, ())


@pytest.mark.parametrize("name", ["case.py", "exact"])
def test_the_same_slips_in_a_zip_of_the_class(name: str, tmp_path: Path) -> None:
    """Where the files lie makes no difference."""
    tree = {"student/Attention_Scores.py": SOURCE, f"other/hw/{FILE}": SOURCE}
    entries = collect([as_zip(tree, tmp_path / name)], WANTED).entries
    assert [entry.load(WANTED).notes for entry in entries] == [(), renamed("Attention_Scores.py")]


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_accents_in_either_form(form: str, tmp_path: Path) -> None:
    """A Mac writes an ü as two characters; that is the same name."""
    wanted = asking_for("übung.py", "attend")
    handed_in = hand_in({unicodedata.normalize(form, "übung.py"): SOURCE}, tmp_path, wanted)
    assert (handed_in.main, handed_in.notes) == ("übung.py", ())


@pytest.mark.parametrize(("newer", "older"), [(NOTEBOOK, FILE), (FILE, NOTEBOOK)])
def test_of_two_that_are_as_far_on_the_newer_counts(newer: str, older: str, tmp_path: Path) -> None:
    """A student who works in both hands in the last one."""
    as_folder({f"student/{FILE}": SOURCE, f"student/{NOTEBOOK}": notebook(), f"other/{FILE}": SOURCE}, tmp_path)
    os.utime(tmp_path / "student" / older, (1_000_000, 1_000_000))
    handed_in = collect([tmp_path], WANTED).entries[1].load(WANTED)
    assert (handed_in.main, handed_in.notes) == (newer, (f"`{newer}` was graded, not `{older}`: it is the newer one",))


def test_of_two_of_the_same_time_python_counts(tmp_path: Path) -> None:
    """Nothing is said of the newer one if nothing tells which is further on."""
    as_folder({f"student/{FILE}": SOURCE, f"student/{NOTEBOOK}": notebook(), f"other/{FILE}": SOURCE}, tmp_path)
    for name in (FILE, NOTEBOOK):
        os.utime(tmp_path / "student" / name, (1_000_000, 1_000_000))
    handed_in = collect([tmp_path], WANTED).entries[1].load(WANTED)
    why = "both define the same names"
    assert (handed_in.main, handed_in.notes) == (FILE, (f"`{FILE}` was graded, not `{NOTEBOOK}`: {why}",))


def test_a_notebook_full_of_pictures(tmp_path: Path) -> None:
    """It is as large as many are, and no slip."""
    pictures = notebook() + b" " * 10_000_000
    assert hand_in({NOTEBOOK: pictures}, tmp_path) == SubmittedFiles(NOTEBOOK, {NOTEBOOK: pictures})
