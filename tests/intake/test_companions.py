"""Which files are kept beside the one that is graded, and what is told of the others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from softmark.intake.choose import Pieces
from softmark.intake.contents import Piece
from softmark.intake.model import SubmittedFiles
from softmark.intake.places import FOLDER, Folder, Item
from tests.support.results import HOMEWORK

HW = replace(HOMEWORK, file="hw.py")
MAIN = b"def project(): pass\ndef scores(): pass\ndef mask(): pass\n"


def handed_in(root: Path, files: dict[str, bytes], main: str = "hw.py") -> SubmittedFiles:
    """Return what is read of a submission with these files beside the graded one."""
    for name, content in {main: MAIN, **files}.items():
        file = root / "ada" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return Pieces((Piece(Folder(root, root.name), Item("ada", FOLDER), ()),)).load(HW)


def kept(root: Path, *names: str, main: str = "hw.py") -> set[str]:
    files = handed_in(root, dict.fromkeys(names, b"1\n"), main)
    assert not files.refusal
    return set(files.files) - {"hw.py"}


class TestKept:
    @pytest.mark.parametrize(
        "name",
        [
            *("helper.py", "pkg/helper.py", "pkg/sub/deep.py", "x.csv", "x.tsv", "x.txt", "x.json", "x.npy", "x.npz"),
            *("x.pt", "x.pth", "x.safetensors", "X.CSV", "data/x.npy", "hw_data/x.csv", "hw2.py", "hw/x.csv"),
        ],
    )
    def test_python_and_data(self, name: str, tmp_path: Path) -> None:
        """Helper files and data, beside the graded file and in folders."""
        assert kept(tmp_path, name) == {name}

    @pytest.mark.parametrize(
        "name",
        [
            *("conftest.py", "pytest.ini", "pytest.toml", "pyproject.toml", "setup.cfg", "setup.py", "tox.ini"),
            *("noxfile.py", "sitecustomize.py", "usercustomize.py", "__main__.py", "Conftest.py", "pkg/conftest.py"),
            *("x.sh", "x.so", "x.pyc", "x.pth.zip", "x", "hw/helper.py", ".hidden/x.csv", "x.pkl", "x.png"),
        ],
    )
    def test_nothing_that_steers(self, name: str, tmp_path: Path) -> None:
        """No file that tools obey, no other kind of file, and no package that hides the graded file."""
        assert kept(tmp_path, name) == set()

    @pytest.mark.parametrize(
        ("name", "whose"),
        [
            ("random.py", "standard"),
            ("json/x.py", "standard"),
            ("torch.py", "installed"),
            ("numpy/x.py", "installed"),
            ("softmark.py", "installed"),
        ],
    )
    def test_nothing_that_hides_a_module(self, name: str, whose: str, tmp_path: Path) -> None:
        """A file that is called like a module is left out, and the student is told."""
        files = handed_in(tmp_path, {name: b"x = 1\n", "torch.csv": b"1\n"})
        assert set(files.files) == {"hw.py", "torch.csv"}
        assert files.notes == (f"your file {name} hides the {whose} module of that name, so it was left out",)

    def test_only_from_the_folder_of_the_graded_file(self, tmp_path: Path) -> None:
        """What lies beside that folder is left out, and staff are told; names begin at the folder."""
        files = handed_in(tmp_path, {"work/helper.py": b"x = 1\n", "other/x.py": b"", "y.csv": b"1\n"}, "work/hw.py")
        assert set(files.files) == {"hw.py", "helper.py"}
        assert files.staff_notes == ("left out: y.csv, other/x.py",)


class TestLimits:
    @pytest.mark.parametrize(("number", "more"), [(8, ""), (9, "1 more of your files hide modules, too")])
    def test_hiding_files_are_named_up_to_eight(self, number: int, more: str, tmp_path: Path) -> None:
        """Of many the rest is a number."""
        names = "abc ast cmd csv dis io json os pdb".split()[:number]
        notes = handed_in(tmp_path, {f"{name}.py": b"x = 1\n" for name in names}).notes
        assert len(notes) == number
        assert [note for note in notes if "more of your files" in note] == ([more] if more else [])

    def test_sixty_files(self, tmp_path: Path) -> None:
        """Of many small files the first sixty are kept, and staff are told of ten of the others."""
        files = handed_in(tmp_path, {f"f{n:03}.csv": b"1\n" for n in range(75)})
        assert set(files.files) == {"hw.py", *(f"f{n:03}.csv" for n in range(60))}
        assert files.staff_notes == (f"left out: {', '.join(f'f{n:03}.csv' for n in range(60, 70))} and 5 more",)

    def test_twenty_megabytes(self, tmp_path: Path) -> None:
        """A file that does not fit with those before it is left out; a smaller one after it may fit."""
        sizes = {"a": 5, "b": 5, "c": 5, "d": 4.5, "e": 1, "f": 0.25}
        files = handed_in(tmp_path, {f"{name}.csv": b"1\n" * int(size * 500_000) for name, size in sizes.items()})
        assert set(files.files) == {"hw.py", "a.csv", "b.csv", "c.csv", "d.csv", "f.csv"}
        assert files.staff_notes == ("left out: e.csv (all files together are larger than 20 MB)",)
