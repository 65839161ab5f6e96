"""The zip for Gradescope: what is in it, the same bytes from any checkout, refused where graders do not grade."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest

from softmark.authoring.bundle import bundle
from softmark.course.homework import load_homework
from tests.support.another_softmark import AnotherSoftmark
from tests.support.tiny_homework import HIDDEN, course, softmark

ROOT = Path(__file__).parents[2]
HOMEWORK = "positional_encoding"


@pytest.fixture(scope="module")
def packed() -> bytes:
    return bundle(load_homework(HOMEWORK, ROOT), 10, None)


@pytest.fixture(scope="module")
def archive(packed: bytes) -> zipfile.ZipFile:
    return zipfile.ZipFile(BytesIO(packed))


class TestContent:
    def test_scripts_are_at_the_root_and_run(self, archive: zipfile.ZipFile) -> None:
        """Both can be executed once they are unpacked, and have Unix line ends."""
        for name in ("setup.sh", "run_autograder"):
            assert archive.getinfo(name).external_attr >> 16 == stat.S_IFREG | 0o755
            text = archive.read(name)
            assert text.startswith(b"#!/bin/sh\n")
            assert b"\r" not in text

    def test_holds_one_homework_only(self, archive: zipfile.ZipFile) -> None:
        """Nothing of another homework gets to the platform, and nothing that was left lying about."""
        names = [Path(name) for name in archive.namelist()]
        assert {name.parts[1] for name in names if name.parts[0] == "graders"} == {HOMEWORK}
        assert [name.name for name in names if name.parts[0] == "reference"] == [f"{HOMEWORK}.py"]
        assert not [name for name in names if "__pycache__" in name.parts]

    def test_wheel_holds_no_solution(self, archive: zipfile.ZipFile) -> None:
        """The wheel is softmark and nothing else."""
        (wheel,) = (name for name in archive.namelist() if name.endswith(".whl"))
        with zipfile.ZipFile(BytesIO(archive.read(wheel))) as inside:
            assert {Path(name).parts[0].partition("-")[0] for name in inside.namelist()} == {"softmark"}

    @pytest.mark.parametrize(("minutes", "seconds"), [(10, 540), (40, 2340)])
    def test_run_ends_before_the_platform_ends_it(self, minutes: int, seconds: int) -> None:
        """A minute less than Gradescope's timeout."""
        made = zipfile.ZipFile(BytesIO(bundle(load_homework(HOMEWORK, ROOT), minutes, None)))
        assert f"\nTIMEOUT={seconds} " in made.read("run_autograder").decode()

    def test_index_of_torch_is_passed_on(self) -> None:
        made = zipfile.ZipFile(BytesIO(bundle(load_homework(HOMEWORK, ROOT), 10, "https://index.example/cpu")))
        assert made.read("torch-index") == b"https://index.example/cpu\n"


def checkout(folder: Path, *more: str) -> Path:
    """A copy of what a bundle is made from."""
    folder.mkdir(exist_ok=True)
    for name in ("docker", "src", "LICENSE", "README.md", "constraints.txt", "pyproject.toml", *more):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    return folder


class TestReproducible:
    def test_another_checkout_gives_the_same_bytes(self, packed: bytes, tmp_path: Path) -> None:
        """Whenever, wherever and in whatever time zone it is made."""
        checkout(tmp_path, "graders", "reference")
        for file in (tmp_path / "graders").rglob("*"):
            os.utime(file, (1_000_000_000, 1_000_000_000))
        program = (
            "import sys; from pathlib import Path; from softmark.authoring.bundle import bundle; "
            "from softmark.course.homework import load_homework; "
            f"sys.stdout.buffer.write(bundle(load_homework({HOMEWORK!r}, Path.cwd()), 10, None))"
        )
        environment = {**os.environ, "PYTHONPATH": str(tmp_path / "src"), "TZ": "Asia/Tokyo"}
        umask = os.umask(0o077)
        try:
            done = subprocess.run(
                [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, check=True
            )
        finally:
            os.umask(umask)
        assert done.stdout == packed


class TestCommand:
    """`softmark bundle`, on a homework of one function."""

    @pytest.fixture(autouse=True)
    def cache(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """What has been proved before is remembered in a place of the test's own."""
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def test_says_what_to_type_into_the_form(self, tmp_path: Path) -> None:
        """Points, container and timeout, as Gradescope's form calls them; and the second time it is quick."""
        output = tmp_path / "autograder.zip"
        done = softmark(course(tmp_path), "bundle", "tiny", "-o", str(output), "--minutes", "15")
        assert done.returncode == 0, done.stderr
        form = {line.split(":")[0].strip(): line.split(":")[1].strip() for line in done.stdout.splitlines()[1:]}
        assert (form["Autograder points"], form["Autograder timeout"]) == ("2", "15 minutes")
        first = output.read_bytes()
        (tmp_path / "graders/tiny/mistakes.py").touch()
        again = softmark(tmp_path, "bundle", "tiny", "-o", str(output), "--minutes", "15")
        assert (again.returncode, again.stdout) == (0, done.stdout)
        assert output.read_bytes() == first

    @pytest.mark.parametrize("name", ["graders/tiny/homework.toml", "missing/autograder.zip"])
    def test_refuses_to_write_what_is_no_zip(self, name: str, tmp_path: Path) -> None:
        """Said before anything is proved; no other file is replaced by a zip."""
        course(tmp_path)
        before = {file: file.read_bytes() for file in tmp_path.rglob("*.*") if file.is_file()}
        done = softmark(tmp_path, "bundle", "tiny", "-o", name)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"softmark: -o {name} cannot be the bundle: name a .zip, or a folder that exists\n"
        assert {file: file.read_bytes() for file in tmp_path.rglob("*.*") if file.is_file()} == before

    def test_refuses_what_does_not_verify(self, tmp_path: Path) -> None:
        """A homework that pays for nothing gets no bundle, however often: exit 1, why, and an older zip stays."""
        output = tmp_path / "autograder.zip"
        output.write_bytes(b"older")
        idle = HIDDEN.replace('agree(student.double, ref.double, draw("n", n=5))', "assert True")
        course(tmp_path, hidden=idle)
        for _ in range(2):  # that it was refused once does not make it good
            done = softmark(tmp_path, "bundle", "tiny", "-o", str(output))
            assert done.returncode == 1
            assert "pay for no knowledge" in done.stderr
            assert "no bundle was made" in done.stderr
            assert output.read_bytes() == b"older"

    def test_a_change_is_proved_again(self, tmp_path: Path) -> None:
        """That a homework was proved before says nothing of it once it has changed."""
        output = tmp_path / "autograder.zip"
        assert softmark(course(tmp_path), "bundle", "tiny", "-o", str(output)).returncode == 0
        with (tmp_path / "graders/tiny/equivalents.py").open("a") as equivalents:
            equivalents.write("\n\n@equivalent(ref.double)\ndef halved(x):\n    return x / 2\n")
        done = softmark(tmp_path, "bundle", "tiny", "-o", str(output))
        assert done.returncode == 1
        assert "correct code must not lose marks" in done.stderr

    def test_of_an_installed_softmark(self, tmp_path: Path) -> None:
        """Without a checkout all goes as with one, and the wheel in the bundle is the one that was installed."""
        original = wheel_in(bundle(load_homework(HOMEWORK, ROOT), 10, None))
        installed = AnotherSoftmark.from_wheel(original, tmp_path / "installed")
        place, output = course(tmp_path / "course"), tmp_path / "autograder.zip"
        words = ("bundle", "tiny", "-o", output)
        done = installed(*words, cwd=place)
        assert (done.returncode, done.stdout.splitlines()[0][:5]) == (0, "wrote"), done.stderr
        assert contents(wheel_in(output.read_bytes())) == contents(original)
        first = output.read_bytes()
        assert installed(*words, cwd=place).returncode == 0
        assert output.read_bytes() == first

    def test_warns_without_an_index_of_torch(self, tmp_path: Path) -> None:
        """Gradescope would install the build for CUDA, and its set-up then fail."""
        place = course(tmp_path)
        done = softmark(place, "bundle", "tiny", "-o", str(tmp_path / "autograder.zip"))
        assert done.stderr.startswith("softmark: without --torch-index, Gradescope gets torch from pip's own index")
        words = ("-o", str(tmp_path / "autograder.zip"), "--torch-index", "https://index.example/cpu")
        done = softmark(place, "bundle", "tiny", *words)
        assert (done.returncode, done.stderr) == (0, "")

    @pytest.mark.parametrize("address", ["URL", "https://a.example https://b.example", "https://a.example\n", ""])
    def test_refuses_what_is_no_address(self, address: str, tmp_path: Path) -> None:
        """Said before anything is proved."""
        done = softmark(course(tmp_path), "bundle", "tiny", "-o", str(tmp_path / "a.zip"), "--torch-index", address)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"--torch-index {address!r} is no address of a package index" in done.stderr


class TestMemory:
    """What `softmark bundle` remembers of the homeworks that it has proved."""

    @pytest.fixture
    def verifications(self, tmp_path: Path) -> Callable[[], int]:
        """How often the homework is proved when a bundle is made of it: its hidden test tells when it runs."""
        runs, made = tmp_path / "runs", checkout(tmp_path / "checkout")
        told = HIDDEN.replace("    agree(", f"    open({str(runs)!r}, 'a').write('.')\n    agree(")
        root = course(tmp_path / "course", hidden=told)
        environment = {
            **os.environ, "SOFTMARK_COURSE": str(root), "PYTHONPATH": str(made / "src"),
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
        }  # fmt: skip
        program = [sys.executable, "-c", "from softmark.cli import main; main()"]

        def verifications() -> int:
            runs.write_text("")
            output = str(tmp_path / "autograder.zip")
            done = subprocess.run(
                [*program, "bundle", "tiny", "-o", output], env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            return len(runs.read_text())

        return verifications

    def test_holds_until_softmark_changes(self, tmp_path: Path, verifications: Callable[[], int]) -> None:
        """A homework is not proved twice; a line more in any file of softmark's, and it is proved again."""
        assert verifications() > 0
        assert verifications() == 0
        source = tmp_path / "checkout/src/softmark"
        for file in ("__init__.py", "sandbox/worker/__init__.py"):
            with (source / file).open("a") as changed:
                changed.write("# a line more\n")
            assert verifications() > 0, file
        (source / "verdict/added.py").write_text("")
        assert verifications() > 0
        assert verifications() == 0


def wheel_in(packed: bytes) -> bytes:
    with zipfile.ZipFile(BytesIO(packed)) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".whl"))
        return archive.read(name)


def contents(wheel: bytes) -> dict[str, bytes]:
    """All files but the list of them, which stands in another order."""
    with zipfile.ZipFile(BytesIO(wheel)) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}
