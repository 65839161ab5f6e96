"""Names that others chose: as ids of students, and as paths in an archive."""

from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from zoneinfo import ZoneInfo

import pytest

from softmark.intake.names import (
    DEEPEST,
    LONGEST_COMPONENT,
    LONGEST_ID,
    inner_path,
    is_junk,
    is_plain,
    is_slip,
    moment,
    safe_id,
    show,
    unique_ids,
)


@pytest.mark.parametrize("text", ["x" * 79, "x" * 80, "x" * 81, "ü" * 200, "con" + "." * 100, "é.-" * 60])
def test_an_id_is_never_too_long(text: str) -> None:
    """A name that just fits stays as it is; another one is cut, with a fingerprint inside of the limit."""
    identity = safe_id(text)
    assert len(identity) <= LONGEST_ID
    assert (identity == text) == (len(text) <= LONGEST_ID)
    assert not identity.startswith((".", "-"))
    assert not identity.endswith((".", "-"))


def test_ids_of_long_names_stay_different() -> None:
    """Two students' names may differ at their end only."""
    assert safe_id("x" * 90 + "1") != safe_id("x" * 90 + "2")


@pytest.mark.parametrize("origins", [("class/a b.py", "class/a-b.py"), ("class/a-b.py", "class/a b.py")])
def test_the_own_name_keeps_the_id(origins: tuple[str, str]) -> None:
    """The name that is the id itself keeps it, in whatever order two names with one id come."""
    ids = dict(zip(origins, unique_ids(["a-b", "a-b"], origins), strict=True))
    assert ids["class/a-b.py"] == "a-b"
    assert ids["class/a b.py"].startswith("a-b-")


def test_an_earlier_owner_keeps_the_id() -> None:
    """The owner of an id in the run before keeps it, though another name is more like it."""
    ids = unique_ids(["a-b", "a-b"], ["class/a b.py", "class/a-b.py"], {"class/a b.py": "a-b"})
    assert ids[0] == "a-b"
    assert ids[1].startswith("a-b-")


@pytest.mark.parametrize(
    ("name", "fits"),
    [
        ("/".join("d" * DEEPEST), True),
        ("/".join("d" * (DEEPEST + 1)), False),
        ("x" * LONGEST_COMPONENT, True),
        ("x" * (LONGEST_COMPONENT + 1), False),
        ("ü" * (LONGEST_COMPONENT // 2), True),
        ("ü" * (LONGEST_COMPONENT // 2 + 1), False),
        ("./a/./b", True),
        ("a//b", False),
        ("../a", False),
        ("C:a", False),
        ("a\\b", False),
        ("a\u202eb", False),
    ],
    ids=ascii,
)
def test_paths_in_an_archive(name: str, fits: bool) -> None:
    """So deep and so long and no more, and only downwards."""
    assert (inner_path(name) is not None) == fits


def fingerprint(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]


@pytest.mark.parametrize(
    ("text", "identity"),
    [
        ("ada", "ada"),
        ("Ada Lovelace", "Ada-Lovelace"),
        ("ada@example.org", "ada-example.org"),
        (".ada-", "ada"),
        ("Müller", "Muller"),
        ("straße", f"strae-{fingerprint('straße')}"),
        ("李", f"student-{fingerprint('李')}"),
        ("", f"student-{fingerprint('')}"),
        ("console", "console"),
        ("x.con", "x.con"),
        *((name, f"{name}-{fingerprint(name)}") for name in ("con", "PRN", "aux", "nul", "com1", "LPT9")),
        ("con.txt.py", f"con-txt-py-{fingerprint('con.txt.py')}"),
    ],
)
def test_an_id_is_a_folder_on_every_system(text: str, identity: str) -> None:
    """Letters that a folder cannot have, and names that Windows keeps for itself, get a fingerprint."""
    assert safe_id(text) == identity


def test_ids_are_different_where_case_does_not_count() -> None:
    """Also from an id that another entry has, and for several entries of one origin."""
    mark = fingerprint("x/b")
    assert unique_ids(["a", "A"], ["x/a", "x/b"]) == ["a", f"A-{mark}"]
    assert unique_ids(["a", "a", f"a-{mark}"], ["x/a", "x/b", "x/c"]) == ["a", f"a-{mark}-2", f"a-{mark}"]
    assert unique_ids(["a"] * 4, ["x/b"] * 4) == ["a", f"a-{mark}", f"a-{mark}-2", f"a-{mark}-3"]
    assert unique_ids(["a", "b"], ["x/a", "x/b"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("rivals", "owner"),
    [
        (("c/a b.py", "c/a-b.py"), "c/a-b.py"),
        (("c/A b.py", "c/a b.py"), "c/a b.py"),
        (("c/a-b (1).py", "c/a-b(12).py"), "c/a-b (1).py"),
        (("d/a-b.py", "c/a-b.py"), "c/a-b.py"),
    ],
    ids=["the same", "but for case", "shorter", "first by name"],
)
def test_the_most_similar_name_keeps_the_id(rivals: tuple[str, str], owner: str) -> None:
    """In whatever order they come."""
    for origins in (rivals, rivals[::-1]):
        ids = dict(zip(origins, unique_ids(["a-b", "a-b"], origins), strict=True))
        assert [origin for origin, identity in ids.items() if identity == "a-b"] == [owner]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("hw.py", "hw.py"),
        ("a\u202eb\x1b\n", "a\\u202eb\\x1b\\x0a"),
        ("\U000e0041", "\\U000e0041"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 200 + "…"),
    ],
)
def test_a_name_is_shown_with_all_that_is_in_it(text: str, shown: str) -> None:
    """What a reader would not see is written out, and a long name is cut."""
    assert show(text) == shown


@pytest.mark.parametrize(
    ("name", "slip"),
    [
        *((name, True) for name in ("hw.py", "HW.py", "hw (1).py", "hw(12).py", "hw-1.py", "hw_2.py", "hw 3.py")),
        *((name, True) for name in ("Copy of hw.py", "copy of copy of hw.py", "Kopie von hw.py", "hw - Copy.py")),
        *((name, True) for name in ("hw_copy.py", "hw kopie (2).py", "hw.py.txt", "hw.PY.json", " hw.py ")),
        *((name, False) for name in ("hw.ipynb", "hw1.py", "my hw.py", "hw.txt", "hw", "copyofhw.py", "hw.py.zip")),
    ],
)
def test_slips_of_a_name(name: str, slip: bool) -> None:
    """Another case, a download's number, a copy, an ending that an editor has added."""
    assert is_slip(name, "hw.py") == slip


@pytest.mark.parametrize(
    ("name", "slip"),
    [
        *((name, True) for name in ("hw_2 (1).py", "HW 2.py", "hw-2_copy.py", "hw_2_1.py", "Copy of hw 2 (3).py")),
        *((name, False) for name in ("hw.py", "hw_3.py", "hw_3 (2).py", "hw (2).py", "hw2.py")),
    ],
)
def test_a_number_of_the_wanted_name_is_its_own(name: str, slip: bool) -> None:
    """A homework may be called hw_2; a space stands for any gap."""
    assert is_slip(name, "hw_2.py") == slip


@pytest.mark.parametrize(
    ("name", "junk"),
    [
        *((name, True) for name in ("__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini", ".DS_Store")),
        *((name, True) for name in (".ipynb_checkpoints", "._hw.py", "~$notes.docx")),
        *((name, False) for name in ("hw.py", "_hw.py", "~hw.py", ".hw.py")),
    ],
)
def test_what_nobody_meant_to_hand_in(name: str, junk: bool) -> None:
    """Files of an operating system or an editor."""
    assert is_junk(name) == junk


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        *((name, True) for name in ("hw_1-a.py", "x" * 100, "_x", "1")),
        *((name, False) for name in ("x" * 101, "-rf", ".x", "x.", "a b", "ü", "", "a/b")),
    ],
)
def test_names_that_are_safe_everywhere(name: str, plain: bool) -> None:
    """In a shell, in a table, as a file."""
    assert is_plain(name) == plain


TIME = datetime(2026, 3, 2, 23, 59, 1)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-03-02 23:59:01", TIME),
        ("handed in 2026-03-02T23:59:01.123456, late", TIME),
        ("2026-03-02 23:59:01 UTC", TIME.replace(tzinfo=UTC)),
        ("2026-03-02T23:59:01Z", TIME.replace(tzinfo=UTC)),
        ("2026-03-02 23:59:01.5 GMT", TIME.replace(tzinfo=UTC)),
        ("2026-03-02 23:59:01 -08:30", TIME.replace(tzinfo=timezone(-timedelta(hours=8, minutes=30)))),
        ("2026-03-02T23:59:01+0530", TIME.replace(tzinfo=timezone(timedelta(hours=5, minutes=30)))),
        ("2026-03-02 23:59:01 Europe/Berlin", TIME.replace(tzinfo=ZoneInfo("Europe/Berlin"))),
        ("2026-06-31 23:59:01", None),
        ("2026-03-02 23:59:01 Europe/Nowhere", None),
        ("2026-03-02", None),
        ("", None),
    ],
)
def test_times_of_platforms(text: str, time: datetime | None) -> None:
    """Each with the zone that it names; what is no time, or in no zone, is none."""
    found = moment(text)
    assert found == time
    assert (found and found.tzinfo and found.utcoffset()) == (time and time.tzinfo and time.utcoffset())
