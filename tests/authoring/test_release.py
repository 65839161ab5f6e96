"""`softmark release`: what a student gets, the same bytes each time, and what is refused."""

from __future__ import annotations

import io
import re
import shutil
import zipfile
from pathlib import Path

import pytest

from softmark.authoring.release import Release, check_place, write
from softmark.records.errors import UsageError
from tests.support.releases import PUBLIC, README, releasable
from tests.support.tiny_homework import HIDDEN, REFERENCE, softmark

FILES = ["README.html", "README.md", "examples.json", "install.py", "test_public.py", "tiny.ipynb", "tiny.py"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return releasable(tmp_path_factory.mktemp("course"))


@pytest.fixture
def root(built: Path, tmp_path: Path) -> Path:
    """A course of one homework, which a test may change."""
    return shutil.copytree(built, tmp_path / "course")


def made(homework: str = "tiny", *more: str) -> Release:
    """A release of few files."""
    return Release(homework, dict.fromkeys((*FILES, *more), b""))


def contents(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


class TestContent:
    def test_is_all_that_a_student_needs(self, root: Path, tmp_path: Path) -> None:
        """The handout in two forms, starters, public tests, and Softmark; the zip holds the same in a folder."""
        (root / "assignments/tiny/data").mkdir()
        (root / "assignments/tiny/data/page.txt").write_text("a text")
        (root / "assignments/tiny/__pycache__").mkdir()
        (root / "assignments/tiny/__pycache__/tiny.pyc").write_text("")
        (root / "assignments/tiny/.DS_Store").write_text("")
        done = softmark(root, "release", str(tmp_path / "out"))
        assert (done.returncode, done.stderr) == (0, "")
        names = contents(tmp_path / "out/tiny")
        (wheel,) = (name for name in names if name.endswith(".whl"))
        assert sorted(names) == sorted([*FILES, wheel, "data/page.txt"])
        with zipfile.ZipFile(tmp_path / "out/tiny.zip") as archive:
            assert {name: archive.read(name) for name in archive.namelist()} == {
                f"tiny/{name}": content for name, content in names.items()
            }
        assert f'WHEEL = "{wheel}"'.encode() in names["install.py"]
        assert "<math" in names["README.html"].decode()

    def test_is_told(self, root: Path, tmp_path: Path) -> None:
        """Where it is and how large, and what a student types, how much that downloads, and how long it takes."""
        out = tmp_path / "out"
        done = softmark(root, "release", str(out))
        size = (out / "tiny.zip").stat().st_size / 1000
        assert done.stdout.startswith(f"wrote to {out}, each folder with its zip beside it:\n")
        assert re.search(rf"^ +tiny +tiny/ +{size:.0f} kB *$", done.stdout, re.MULTILINE)
        assert "A student unpacks a zip and types there `python install.py`." in done.stdout
        assert "up to 25 MB in less than a minute, and without PyTorch up to 275 MB in one to five." in done.stdout

    def test_is_the_same_every_time(self, root: Path, tmp_path: Path) -> None:
        """The bytes do not depend on when it is made; every file in the zip has the same date."""
        assert softmark(root, "release", str(tmp_path / "one")).returncode == 0
        for file in (root / "assignments/tiny").iterdir():
            file.touch()
        assert softmark(root, "release", str(tmp_path / "two"), "tiny", TZ="Asia/Tokyo").returncode == 0
        assert contents(tmp_path / "one") == contents(tmp_path / "two")
        with zipfile.ZipFile(tmp_path / "one/tiny.zip") as archive:
            assert {entry.date_time for entry in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}

    def test_wheel_holds_no_course(self, root: Path, tmp_path: Path) -> None:
        """It is Softmark and nothing else: no grader, no reference, nothing that was handed in."""
        assert softmark(root, "release", str(tmp_path / "out")).returncode == 0
        (wheel,) = (tmp_path / "out/tiny").glob("*.whl")
        with zipfile.ZipFile(io.BytesIO(wheel.read_bytes())) as archive:
            tops = {tuple(name.split("/")[:2]) for name in archive.namelist()}
        assert {top[0].partition("-")[0] for top in tops} == {"softmark"}
        assert not {"graders", "reference", "samples", "assignments"} & {top[1] for top in tops}


class TestPlace:
    """The folder that is written to."""

    def test_what_a_release_made_is_replaced(self, tmp_path: Path) -> None:
        """Also a file that the new one does not have; another homework's release stays."""
        for release in (made("other"), made("tiny", "data/old.txt"), made("tiny", "new.txt")):
            check_place(tmp_path)
            write(release, tmp_path)
        assert set(contents(tmp_path / "tiny")) == {*FILES, "new.txt"}
        assert set(contents(tmp_path / "other")) == set(FILES)

    def test_half_a_release_is_replaced(self, tmp_path: Path) -> None:
        """As Ctrl-C leaves it."""
        folder, _ = write(made(), tmp_path)
        (folder / "README.html").unlink()
        check_place(tmp_path)

    @pytest.mark.parametrize("name", ["notes.txt", "tiny/notes.txt", "mine/tiny.py", "mine.zip", "tiny.zip"])
    def test_anything_else_is_refused(self, name: str, tmp_path: Path) -> None:
        """The first such file is named."""
        write(made(), tmp_path)
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
        with pytest.raises(UsageError, match="was not made by `softmark release`: move it away, or name"):
            check_place(tmp_path)

    def test_is_looked_at_before_anything_is_made(self, root: Path, tmp_path: Path) -> None:
        """Exit code 2, one sentence, and nothing has changed."""
        out = tmp_path / "out"
        out.write_text("mine")
        done = softmark(root, "release", str(out))
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"softmark: {out} is a file: name a folder for the releases\n"
        assert out.read_text() == "mine"


class TestRefused:
    """A homework that may not be handed out as it is: exit code 2, a sentence, and nothing is written."""

    def refused(self, root: Path, out: Path) -> str:
        done = softmark(root, "release", str(out))
        assert (done.returncode, done.stdout) == (2, "")
        assert not out.exists()
        return done.stderr

    def test_a_file_that_is_stale(self, root: Path, tmp_path: Path) -> None:
        """A starter, in which the author has tried something out."""
        name = "tiny.py"
        (root / "assignments/tiny" / name).write_text((root / "reference/tiny.py").read_text())
        said = self.refused(root, tmp_path / "out")
        assert said == f"softmark: assignments/tiny/{name}:1: this file is not up to date: run `softmark build tiny`\n"

    def test_no_public_tests(self, root: Path, tmp_path: Path) -> None:
        (root / "assignments/tiny/test_public.py").unlink()
        said = self.refused(root, tmp_path / "out")
        assert "assignments/tiny/test_public.py:1: there is no such file, and students check their work with it" in said

    def test_a_handout_without_the_line(self, tmp_path: Path) -> None:
        """A student would not know how to begin."""
        root = releasable(tmp_path / "course", README.replace("Type `python install.py`, once.", "Begin."))
        said = self.refused(root, tmp_path / "out")
        assert "README.md:1: it does not tell students to install Softmark: write `python install.py` below" in said

    def test_a_formula_that_cannot_be_shown(self, tmp_path: Path) -> None:
        root = releasable(tmp_path / "course", README.replace("y = 2x", r"y \approxly 2x"))
        said = self.refused(root, tmp_path / "out")
        assert r"README.md:9: the formula 'y \\approxly 2x' cannot be turned into MathML" in said

    def test_a_solution_in_the_handout(self, tmp_path: Path) -> None:
        """It is said what stands where."""
        reference = REFERENCE.replace("return 2 * x", "twice = 2 * x\n    return twice.clone()")
        readme = README + "\nFor instance\n\n```python\ntwice = 2*x  # the factor\nreturn twice.clone()\n```\n"
        root = releasable(tmp_path / "course", readme, reference=reference)
        said = self.refused(root, tmp_path / "out")
        assert said.startswith("softmark: tiny is not released: README.md holds a solution of reference/tiny.py, and ")

    def test_a_hidden_test_among_the_public_ones(self, tmp_path: Path) -> None:
        """As when it was copied to begin with."""
        body = HIDDEN.partition('"""Twice the input."""')[2]
        head = "\n\nfrom reference import tiny as ref\nfrom softmark import agree, draw\n"
        public = PUBLIC.replace("number\n", f"number{head}", 1) + f'\n\n@number("1.2")\ndef test_mine(student):{body}'
        said = self.refused(releasable(tmp_path / "course", public=public), tmp_path / "out")
        assert said == (
            "softmark: tiny is not released: test_public.py holds `test_double` of graders/tiny/test_hidden.py; "
            "take it out\n"
        )
