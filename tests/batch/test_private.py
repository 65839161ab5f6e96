"""Results are closed to other users of the machine; hidden tests should be, too, and it is said where they are not."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from softmark.batch.journal import Journal
from softmark.cli import main
from softmark.course import exposure
from softmark.course.exposure import exposed
from softmark.course.homework import load_homework
from tests.support.classes import FILE, NAME, PATIENCE, RIGHT, grade, hand_in, write_tiny_course


def run(*words: str | Path, umask: int = 0) -> subprocess.CompletedProcess[str]:
    return subprocess.run(grade(*words), capture_output=True, text=True, check=False, timeout=PATIENCE, umask=umask)


def rights(folder: Path) -> set[str]:
    """Of everything below and the folder itself: kind and mode."""
    paths = (folder, *folder.rglob("*"))
    return {f"{'folder' if path.is_dir() else 'file'} {path.stat().st_mode & 0o777:o}" for path in paths}


CLOSED = {"folder 700", "file 600"}
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a home for somebody else")


class TestResults:
    @pytest.mark.parametrize("umask", [0, 0o022])
    def test_of_a_class_and_of_one_file(self, umask: int, course: Path, tmp_path: Path) -> None:
        """Whatever the umask is."""
        folder = hand_in(tmp_path / "class", {"ada": {FILE: RIGHT}, "ben": {"notes.txt": ""}})
        for name, path in (("class", folder), ("one", folder / "ada" / FILE)):
            assert run(path, "-o", tmp_path / "results" / name, umask=umask).returncode == 0
            assert rights(tmp_path / "results" / name) == CLOSED

    def test_that_are_open_already(self, course: Path, tmp_path: Path) -> None:
        """An older version left them so."""
        folder, results = hand_in(tmp_path / "class", {"ada": {FILE: RIGHT}}), tmp_path / "results"
        assert run(folder, "-o", results).returncode == 0
        for path in (results, *results.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        assert "1 unchanged" in run(folder, "-o", results).stdout
        assert rights(results) == CLOSED

    def test_while_a_run_writes_them(self, tmp_path: Path) -> None:
        """The files that SQLite keeps beside the journal have its rights."""
        before = os.umask(0)
        try:
            with Journal(tmp_path / "results", NAME):
                names = {path.name for path in (tmp_path / "results").iterdir()}
                assert names == {"gradebook.sqlite", "gradebook.sqlite-wal", "gradebook.sqlite-shm"}
                assert rights(tmp_path / "results") == CLOSED
        finally:
            os.umask(before)

    def test_in_a_folder_that_holds_other_things(self, tmp_path: Path) -> None:
        """The folder and what others have in it stay as they are."""
        (tmp_path / "notes.txt").touch(0o644)
        tmp_path.chmod(0o755)
        for _ in range(2):
            with Journal(tmp_path, NAME):
                assert (tmp_path / "gradebook.sqlite").stat().st_mode & 0o777 == 0o600
        assert tmp_path.stat().st_mode & 0o777 == 0o755
        assert (tmp_path / "notes.txt").stat().st_mode & 0o777 == 0o644


def people(*accounts: tuple[str, int, Path, str]) -> list[pwd.struct_passwd]:
    """Return accounts: each has a name, an id, a home and a shell."""
    return [pwd.struct_passwd((name, "x", uid, uid, name, str(home), shell)) for name, uid, home, shell in accounts]


class TestHiddenTests:
    @pytest.fixture
    def shared(self) -> Iterator[Path]:
        """A course where everybody can look."""
        with tempfile.TemporaryDirectory(dir="/tmp", prefix="softmark-shared-") as place:
            root = write_tiny_course(Path(place) / "a course")
            for path in (Path(place), root, *root.rglob("*")):
                path.chmod(0o755 if path.is_dir() else 0o644)
            yield root

    @pytest.fixture
    def home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """The home of Eve, who has an account of this machine."""
        home = tmp_path / "home"
        home.mkdir()
        os.chown(home, 1234, 1234)
        monkeypatch.setattr(pwd, "getpwall", lambda: people(("eve", 1234, home, "/bin/bash")))
        return home

    @needs_root
    def test_that_others_can_read(
        self,
        shared: Path,
        home: Path,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
        temporary: Path,
    ) -> None:
        """Grading a class and `doctor` say so once; the command that is named closes them, and all goes on."""
        monkeypatch.setenv("SOFTMARK_COURSE", str(shared))
        command = f"chmod -R o= '{shared}/graders' '{shared}/reference'"
        line = (
            "other users of this machine can read 3 files of graders/ and reference/, where hidden tests and solutions "
            f"are: {command}"
        )

        def said(words: list[str]) -> tuple[str, str]:
            monkeypatch.setattr(sys, "argv", words)
            with pytest.raises(SystemExit) as ended:
                main()
            assert not ended.value.code or words[1] == "doctor"
            return capfd.readouterr()

        doctor = [grade()[0], "doctor", "--json"]
        folder = hand_in(tmp_path / "class", {"ada": {FILE: RIGHT}, "ben": {FILE: RIGHT}})
        _, err = said(grade(folder, "-o", tmp_path / "results"))
        assert err == f"softmark: {line}\n"
        assert line in said(doctor)[0]
        assert said(grade(folder / "ada" / FILE))[1] == ""
        assert said(grade(hand_in(shared / "trial", {"ada": {FILE: RIGHT}})))[1] == ""
        subprocess.run(command, shell=True, check=True)
        assert said(grade(folder, "-o", tmp_path / "results", "--fresh"))[1] == ""
        assert "other users" not in said(doctor)[0]

    @needs_root
    def test_where_nobody_else_has_an_account(self, shared: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Services have no shell or no home, and under sudo the user's own account is no other person's."""
        homeworks = [load_homework(NAME, shared)]
        assert exposed(homeworks)
        monkeypatch.setenv("SUDO_UID", "1234")
        assert exposed(homeworks) == ""
        monkeypatch.delenv("SUDO_UID")
        services = people(
            ("web", 1234, home, "/usr/sbin/nologin"),
            ("print", 1234, home / "gone", "/bin/sh"),
            ("scan", 1235, home, "/bin/sh"),
            ("mail", 8, home, "/bin/sh"),
        )
        monkeypatch.setattr(pwd, "getpwall", lambda: services)
        assert exposed(homeworks) == ""

    def test_where_accounts_are_a_networks(self, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Nobody knows who has one."""
        services = tmp_path / "nsswitch.conf"
        monkeypatch.setattr(exposure, "_NAME_SERVICES", services)
        monkeypatch.setattr(pwd, "getpwall", list)
        homeworks = [load_homework(NAME, shared)]
        services.write_text("passwd: files systemd\ngroup: files sss\n")
        assert exposed(homeworks) == ""
        services.write_text("passwd: files sss\n")
        assert "can read 3 files" in exposed(homeworks)

    @needs_root
    @pytest.mark.parametrize("closed", ["..", ".", "graders", f"graders/{NAME}"])
    def test_behind_a_closed_folder(self, closed: str, shared: Path, home: Path) -> None:
        """A file that others cannot reach is read by none, whatever its own rights are."""
        (shared / closed).chmod(0o700)
        (shared / "reference" / FILE).chmod(0o600)
        assert exposed([load_homework(NAME, shared)]) == ""
