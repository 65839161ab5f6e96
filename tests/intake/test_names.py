"""Names that others chose: as ids of students, and as paths in an archive."""

import pytest

from softmark.intake.names import DEEPEST, LONGEST_COMPONENT, LONGEST_ID, inner_path, safe_id, unique_ids


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
