"""One hostile student among others: whatever they hand in, nothing changes for anybody else."""

from __future__ import annotations

import os
import tempfile
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from softmark.intake.collect import collect
from softmark.intake.model import Collection
from tests.support.exports import FILE, NOTEBOOK, OTHER, SOURCE, STARTER, WANTED, Tree, as_folder, notebook, zipped

WHEN = b"2026-02-02 15:58:23 UTC"
NAMES = ("alice", "Bob", "zoë", "carl-otto", "dora smith", "eve_2", "王明", "hugo", "ida", "jan")
names_of_others = st.lists(st.sampled_from(NAMES), min_size=3, max_size=len(NAMES), unique=True)

FORGED: Mapping[str, Tree] = {
    "a time": {f"x/{FILE}": SOURCE, "x/timestamp.txt": WHEN},
    "many times": {f"x{number}/timestamp.txt": WHEN for number in range(30)},
    "an nbgrader course": {
        "gradebook.db": b"",
        f"source/hw1/{FILE}": STARTER,
        f"submitted/alice/hw1/{FILE}": STARTER,
        "submitted/alice/hw1/timestamp.txt": WHEN,
    },
    "a Gradescope export": {
        "submission_metadata.yml": b"---\nsubmission_1:\n  :submitters:\n  - :name: alice\n    :sid: '1'\n",
        f"submission_1/{FILE}": STARTER,
    },
    "a Canvas download": {f"alice_1_500000_{FILE}": STARTER, f"Bob_LATE_2_500001_{FILE}": STARTER},
    "a Moodle download": {
        f"alice_1_assignsubmission_file_/{FILE}": STARTER,
        f"Bob_2_assignsubmission_file_{FILE}": STARTER,
    },
    "folders of others": {f"alice/{FILE}": STARTER, f"Bob/{FILE}": STARTER},
    "files of others": {"alice.py": STARTER, "Bob.py": STARTER},
    "a zip of others": {"class.zip": zipped({f"alice/{FILE}": STARTER, f"Bob/{FILE}": STARTER})},
    "a zip of zips": {"class.zip": zipped({"alice.zip": zipped({FILE: STARTER})})},
    "another assignment": {f"hw9/{FILE}": OTHER, "hw9/timestamp.txt": WHEN, f"hw1/{FILE}": OTHER},
    "folders deep in each other": {f"{'d/' * 25}{FILE}": SOURCE},
    "names in another case": {FILE.upper(): OTHER, FILE: SOURCE},
    "nothing": {"nothing.txt": b""},
}
ANY_NAME = [name for forged in FORGED.values() for name in forged]
ANY_CONTENT = [SOURCE, STARTER, WHEN, b""]


@dataclass(frozen=True)
class Format:
    """How a source lays out a student's files; the number is the platform's."""

    place: Callable[[int, str], str]
    files: Callable[[str], Tree]
    beside: Tree


WHOLE = {FILE: SOURCE, "helper.py": b"x = 1\n"}
DEEP = {f"code/v2/{FILE}": SOURCE}
FORMATS: Mapping[str, Format] = {
    "folders": Format(lambda number, name: f"{name}/", lambda name: WHOLE, {}),
    "folders with folders": Format(lambda number, name: f"{name}/", lambda name: DEEP, {"README.md": b""}),
    "folders and a starter": Format(lambda number, name: f"{name}/", lambda name: DEEP, {FILE: STARTER}),
    "folders with another name and a starter": Format(
        lambda number, name: f"{name}/", lambda name: {"solution.py": SOURCE}, {FILE: STARTER}
    ),
    "folders named submitted": Format(lambda number, name: f"submitted/{name}/", lambda name: DEEP, {}),
    "Gradescope": Format(
        lambda number, name: f"submission_{number}/",
        lambda name: WHOLE,
        {
            "submission_metadata.yml": b"---\n"
            + b"".join(
                f"submission_{number}:\n  :submitters:\n  - :name: {number}\n    :sid: '{number}'\n"
                "  :created_at: 2026-04-26 17:34:00 Z\n".encode()
                for number in range(20)
            )
        },
    ),
    "Moodle": Format(lambda number, name: f"{name}_{number}_assignsubmission_file_/", lambda name: WHOLE, {}),
    "Moodle, flat": Format(lambda number, name: f"{name}_{number}_assignsubmission_file_", lambda name: WHOLE, {}),
    "Canvas": Format(
        lambda number, name: f"{name.encode().hex()}_{number}_{500_000 + number}_", lambda name: WHOLE, {}
    ),
    "nbgrader": Format(
        lambda number, name: f"submitted/{name}/hw1/",
        lambda name: {FILE: SOURCE, "timestamp.txt": WHEN},
        {f"source/hw1/{NOTEBOOK}": b"{}"},
    ),
}


def handed_in(layout: Format, number: int, name: str, files: Tree) -> Tree:
    """A student's files where the source puts them; what platforms put into one flat folder has no folders."""
    place = layout.place(number, name)
    if place.endswith("/"):
        return {place + file: content for file, content in files.items()}
    many = {place.replace("_500", f"_5{counter:02}"): file for counter, file in enumerate(files)}
    flat = zip(many if "_500" in place else [place] * len(files), files, strict=True)
    return {owner + file.replace("/", "-"): files[file] for owner, file in flat}


def tree_of(layout: Format, names: list[str]) -> dict[str, bytes]:
    tree = dict(layout.beside)
    for number, name in enumerate(names, start=1):
        tree |= handed_in(layout, number, name, layout.files(name))
    return tree


@dataclass(frozen=True)
class Seen:
    """A class as it was found: for each submission, by where it lies, who handed in what, and when."""

    format: str
    entries: Mapping[str, tuple[Any, ...]]
    students: Sequence[str]
    ignored: Sequence[str]


def seen(collection: Collection) -> Seen:
    entries = {}
    for entry in collection.entries:
        handed = entry.load(WANTED)
        who = entry.submission
        about = (who.id, who.students, who.submitted_at, who.late, who.due_at, who.earlier)
        entries[entry.submission.origin] = (*about, handed.main, dict(handed.files), handed.notes, handed.refusal)
    students = [student.id for entry in collection.entries for student in entry.submission.students]
    return Seen(collection.format, entries, students, collection.ignored)


def found(tree: Tree) -> Seen:
    """In a zip, as platforms make one."""
    with tempfile.NamedTemporaryFile(prefix="class", suffix=".zip") as file:
        file.write(zipped(tree))
        file.flush()
        collection = seen(collect([Path(file.name)], WANTED))
    name = Path(file.name).name
    entries = {origin.replace(name, "class"): entry for origin, entry in collection.entries.items()}
    return Seen(collection.format, entries, collection.students, collection.ignored)


def assert_nothing_changed(before: Seen, after: Seen) -> None:
    assert after.format == before.format
    assert {origin: after.entries.get(origin) for origin in before.entries} == before.entries
    new = after.entries.keys() - before.entries.keys()
    assert new or after.ignored, "the hostile student has vanished without a word"
    assert len(set(after.students)) == len(after.students), "somebody has another's id"


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
@pytest.mark.parametrize("layout", FORMATS.values(), ids=FORMATS)
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(names=names_of_others, hostile=st.sampled_from(["aaa mallory", "mallory", "zzz"]))
def test_whatever_one_hands_in_others_are_as_before(
    layout: Format, forged: Tree, names: list[str], hostile: str
) -> None:
    """Their names, files and times; and nobody has an id of theirs."""
    tree = tree_of(layout, names)
    theirs = handed_in(layout, len(names) + 1, hostile, forged)
    assert_nothing_changed(found(tree), found(tree | theirs))


@pytest.mark.parametrize("layout", FORMATS.values(), ids=FORMATS)
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    names=names_of_others, inside=st.dictionaries(st.sampled_from(ANY_NAME), st.sampled_from(ANY_CONTENT), min_size=1)
)
def test_whatever_they_mix_others_are_as_before(layout: Format, names: list[str], inside: dict[str, bytes]) -> None:
    """Any choice of the names above, with any content."""
    tree = tree_of(layout, names)
    theirs = handed_in(layout, len(names) + 1, "mallory", inside)
    assert_nothing_changed(found(tree), found(tree | theirs))


OF_A_FILE = (
    FILE, NOTEBOOK, "submission_metadata.yml", f"alice_1_500_{FILE}", f"LATE_alice_1_500_{FILE}", "timestamp.txt",
    f"alice_1_assignsubmission_file_{FILE}", "ALICE.py", "alice.PY", "alice.py.txt", "alice (1).py", "alice .py",
    "alice\u200b.py", "dora  smith.py", f"{unicodedata.normalize('NFD', 'zoë')}.py", "mallory.zip", "gradebook.db",
     "carl_otto.py", f"Copy of {FILE}", "аlice.py",
)  # fmt: skip


@pytest.mark.parametrize("name", OF_A_FILE)
@settings(max_examples=6, deadline=None)
@given(names=names_of_others, ending=st.sampled_from([".py", ".zip", ".ipynb"]))
def test_whatever_a_file_is_called_others_are_as_before(name: str, names: list[str], ending: str) -> None:
    """In a folder of files, where a student chooses the name: the homework's, a platform's, nearly another's."""
    content = {".py": SOURCE, ".zip": zipped({FILE: SOURCE}), ".ipynb": notebook()}
    tree = {f"{who}{ending}": content[ending] for who in names}
    after = found(tree | {name: OTHER})
    if name.partition(".")[0] not in names:
        assert_nothing_changed(found(tree), after)


@pytest.mark.parametrize(
    "name", ["ALICE", "alice ", "alice.", unicodedata.normalize("NFD", "zoë"), "submitted", "dora  smith"]
)
@settings(max_examples=6, deadline=None)
@given(names=names_of_others)
def test_whatever_a_folder_is_called_others_are_as_before(name: str, names: list[str]) -> None:
    """Nearly another's name, or nbgrader's."""
    tree = {f"{who}/{FILE}": SOURCE for who in names}
    after = found(tree | {f"{name}/{FILE}": OTHER, f"{name}/x/hw1/timestamp.txt": WHEN})
    assert_nothing_changed(found(tree), after)


@pytest.mark.parametrize(
    ("layout", "account"),
    [
        ("Canvas", "1"),
        ("Canvas", "1_500001"),
        ("Canvas", "late"),
        ("Canvas", "anon"),
        ("Canvas", f"{b'alice'.hex()}_1"),
        ("Moodle", "alice_1"),
        ("Moodle", "alice_1_assignsubmission_file_x"),
        ("Moodle", "_assignsubmission_file_"),
        ("Moodle, flat", "alice_1"),
        ("Moodle, flat", "alice_1_assignsubmission_file_x"),
    ],
)
def test_whatever_an_account_is_called_others_are_as_before(layout: str, account: str) -> None:
    """On a platform where students choose the name that is shown: numbers of others, and the platform's own marks."""
    names = ["alice", "Bob", "zoë", "ida"]
    tree = tree_of(FORMATS[layout], names)
    place = FORMATS[layout].place(9, "NAME").replace(b"NAME".hex(), account).replace("NAME", account)
    assert_nothing_changed(found(tree), found(tree | {place + FILE: OTHER}))


@pytest.mark.parametrize("name", ["bob.py", "zoe.py", "dora-smith.py"])
def test_names_that_make_one_id(name: str) -> None:
    """One of both has another id, in a class that was never graded before; nobody's work is taken for the other's."""
    tree = {"Bob.py": SOURCE, "zoë.py": SOURCE, "dora smith.py": SOURCE}
    before, after = found(tree), found(tree | {name: OTHER})
    assert len({student.casefold() for student in after.students}) == 4
    for origin, (_, students, *rest) in before.entries.items():
        _, now, *same = after.entries[origin]
        assert (now[0].name, same) == (students[0].name, rest)


@pytest.mark.parametrize("forged", FORGED.values(), ids=FORGED)
def test_folders_that_are_named_one_by_one(forged: Tree, tmp_path: Path) -> None:
    """As a shell's `*` names them: a student's folder that looks like a class is one submission."""
    paths = [as_folder({FILE: SOURCE}, tmp_path / who) for who in ("alice", "Bob", "zoë")]
    before = seen(collect(paths, WANTED))
    collection = collect([*paths, as_folder(forged, tmp_path / "mallory")], WANTED)
    assert_nothing_changed(before, seen(collection))
    assert [entry.id for entry in collection.entries][3:] == ["mallory"]


def test_more_than_is_read(tmp_path: Path) -> None:
    """Programs of 155 MB in one folder, where folders must be looked into to know what they are."""
    tree = {f"{who}/solution.py": SOURCE for who in ("alice", "Bob", "zoë")} | {FILE: STARTER}
    before = seen(collect([as_folder(tree, tmp_path / "class")], WANTED))
    for number in range(31):
        as_folder({f"mallory/x/part{number}.py": b""}, tmp_path / "class")
        os.truncate(tmp_path / f"class/mallory/x/part{number}.py", 5_000_000)
    as_folder({"mallory/x/timestamp.txt": WHEN}, tmp_path / "class")
    assert_nothing_changed(before, seen(collect([tmp_path / "class"], WANTED)))


def test_id_of_an_earlier_run_is_kept() -> None:
    """Who comes later with a name that makes the same id gets another one, whichever fits better."""
    tree = {"dora smith.py": SOURCE, "dora-smith.py": OTHER}
    with tempfile.TemporaryDirectory() as place:
        folder = as_folder(tree, Path(place) / "class")
        for kept in tree:
            entries = collect([folder], WANTED, {f"class/{kept}": "dora-smith"}).entries
            ids = {entry.submission.origin: (entry.id, entry.submission.students[0].id) for entry in entries}
            assert ids.pop(f"class/{kept}") == ("dora-smith", "dora-smith")
            assert ids.popitem()[1][0].startswith("dora-smith-")


class TestDoubts:
    """What may be somebody's submission and is not graded as one is not only ignored."""

    @pytest.mark.parametrize(
        ("tree", "doubt"),
        [
            ({f"alice/{FILE}": SOURCE, f".bob/{FILE}": SOURCE, ".git/config": b""}, ".bob: its name begins with a dot"),
            ({"alice.py": SOURCE, "..\\bob.py": SOURCE}, "the name ..\\bob.py leads out of the archive"),
            (
                {f"submitted/alice/hw1/{FILE}": SOURCE, f"solutions/{FILE}": SOURCE, "gradebook.db": b""},
                "solutions: it lies beside nbgrader's own folders, so it is not graded",
            ),
            (
                {f"alice_1_500_{FILE}": SOURCE, f"bob_2_501_{FILE}": SOURCE, f"eve_3_503_{FILE}": SOURCE,
                 f"mallory_1_504_{FILE}": SOURCE, f"dan_4_505_{FILE}": SOURCE, f"ida_5_506_{FILE}": SOURCE},
                f"alice_1_500_{FILE}: another file has the number in its name, or another student, so it is graded by "
                "its own name",
            ),
            (
                {f"{name}_assignsubmission_file_/{FILE}": SOURCE for name in ("alice_1", "bob_2", "mallory_1")},
                "alice_1_assignsubmission_file_: somebody of another name is 1, too",
            ),
        ],
        ids="dot archive nbgrader canvas moodle".split(),
    )  # fmt: skip
    def test_are_told(self, tree: Tree, doubt: str, tmp_path: Path) -> None:
        """With the name, so that they can be looked at."""
        (tmp_path / "class.zip").write_bytes(zipped(tree))
        doubts = collect([tmp_path / "class.zip"], WANTED).doubts
        assert doubts
        assert any(line.endswith(doubt) for line in doubts)

    def test_are_none_in_an_ordinary_class(self, tmp_path: Path) -> None:
        """With what editors and staff leave there."""
        tree = {f"alice/{FILE}": SOURCE, f"bob/{FILE}": SOURCE, ".git/config": b"", "README.md": b"", FILE: STARTER}
        assert collect([as_folder(tree, tmp_path / "class")], WANTED).doubts == ()
