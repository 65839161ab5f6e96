"""A scratch directory: filled for a worker, measured, and deleted however awkward its owner made it."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from softmark.engines.ending import stop_when_told
from softmark.records.errors import UsageError
from softmark.sandbox import scratch
from softmark.sandbox.machine import temporary_directory
from softmark.sandbox.scratch import ScratchRoot
from tests.support.confined import INSTRUCTOR, IS_ROOT, Outcome, _as_instructor, _send, forked, scratch_of
from tests.support.sandboxes import KINDS, loaded, sandbox


def nest(place: Path, depth: int) -> None:
    """Directories in one another, deeper than any path may be long."""
    here = os.open(place, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("d" * 20, dir_fd=here)
        inner = os.open("d" * 20, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)


def close_up(place: Path) -> None:
    """Directories that even their owner may not look into, the scratch directory itself included."""
    (place / "a" / "b" / "c").mkdir(parents=True)
    (place / "a" / "b" / "file").write_text("x")
    for closed in (place / "a" / "b", place / "a", place):
        closed.chmod(0)


def odd_names(place: Path) -> None:
    """Names that are no text, hold line ends, begin with a dash, or are as long as names can be."""
    for name in (b"\xff\xfe", b"a\nb", b"-rf", b"x" * 255, "ü".encode(), b" "):
        os.mkdir(os.path.join(os.fsencode(place), name))
        with open(os.path.join(os.fsencode(place), name, name), "wb") as file:
            file.write(b"x")


def special_files(place: Path) -> None:
    """A pipe, a link to nowhere, a link to itself, a file with no permissions."""
    os.mkfifo(place / "pipe")
    (place / "nowhere").symlink_to("/does/not/exist")
    (place / "itself").symlink_to("itself")
    (place / "closed").write_text("x")
    (place / "closed").chmod(0)


AWKWARD = [lambda place: nest(place, 400), close_up, odd_names, special_files]
IDS = ["deep", "closed", "odd names", "special files"]


class TestRemove:
    """Deleting a tree."""

    @pytest.mark.parametrize("make", AWKWARD, ids=IDS)
    def test_leaves_nothing(self, make: Callable[[Path], None], tmp_path: Path) -> None:
        """Whatever is in it, it is gone afterwards."""
        place = tmp_path / "scratch"
        place.mkdir()
        make(place)
        scratch.remove(place)
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("make", AWKWARD, ids=IDS)
    def test_leaves_nothing_without_root(self, make: Callable[[Path], None]) -> None:
        """An ordinary user, whom closed directories do stop, leaves nothing either."""

        def work(report: int) -> None:
            place = Path(top, "scratch")
            place.mkdir()
            make(place)
            scratch.remove(place)
            _send(report, Outcome(value=os.listdir(top)))

        with scratch_of(INSTRUCTOR if IS_ROOT else os.getuid()) as top:
            outcome = forked(lambda report: _as_instructor(INSTRUCTOR, report, work))
        assert outcome == Outcome(value=[])

    def test_follows_no_link(self, tmp_path: Path) -> None:
        """What a link in it points to is untouched, be it a file or a directory."""
        place, outside = tmp_path / "scratch", tmp_path / "outside"
        place.mkdir()
        (outside / "inner").mkdir(parents=True)
        (outside / "file").write_text("keep")
        (place / "link").symlink_to(outside)
        (place / "sub").mkdir()
        (place / "sub" / "link").symlink_to(outside)
        (place / "sub" / "to file").symlink_to(outside / "file")
        scratch.remove(place)
        assert (outside / "file").read_text() == "keep"
        assert (outside / "inner").is_dir()
        assert not place.exists()

    def test_refuses_a_link_in_its_place(self, tmp_path: Path) -> None:
        """A scratch directory that was replaced by a link is not what is deleted."""
        (tmp_path / "precious").mkdir()
        (tmp_path / "scratch").symlink_to(tmp_path / "precious")
        with pytest.raises(OSError):
            scratch.remove(tmp_path / "scratch")
        assert (tmp_path / "precious").is_dir()


class TestScratchRoot:
    """Making directories for workers."""

    def test_holds_the_files_of_the_submission(self) -> None:
        """Each file is where its name says, folders included, and readable by the owner alone."""
        root = ScratchRoot()
        made = root.make({"hw.py": b"x = 1\n", "data/numbers.txt": b"1 2"}, None)
        assert (made / "hw.py").read_bytes() == b"x = 1\n"
        assert (made / "data" / "numbers.txt").read_bytes() == b"1 2"
        assert stat.S_IMODE(made.stat().st_mode) == 0o700
        assert stat.S_IMODE((made / "hw.py").stat().st_mode) == 0o600
        root.close()
        assert not root.path.exists()

    def test_can_be_passed_but_not_listed(self) -> None:
        """A worker reaches its own directory and cannot find out that there are others."""
        root = ScratchRoot()
        assert stat.S_IMODE(root.path.stat().st_mode) == 0o711
        assert root.make({}, None) != root.make({}, None)
        root.close()


class TestEnd:
    """The temporary directory, once nobody grades any more."""

    @pytest.mark.parametrize("kind", KINDS)
    def test_is_as_it_was(self, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each kind of sandbox makes its directories there, and takes all of them away when it is closed."""
        with scratch_of(os.geteuid(), 0o711) as temporary:
            monkeypatch.setattr(scratch.tempfile, "tempdir", temporary)
            with sandbox(kind) as opened, loaded(opened, "open('left.txt', 'w').write('x')\n"):
                assert [path.name for path in Path(temporary).rglob("left.txt")] == ["left.txt"]
            assert os.listdir(temporary) == []


class TestStopped:
    """A process that is told to stop while it makes, fills or deletes a root."""

    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_leaves_nothing_whichever_line_it_is_at(self, number: signal.Signals) -> None:
        """The signal is sent before each line of scratch.py in turn; the process ends as an engine does."""
        with scratch_of(os.geteuid()) as temporary:
            line = 0
            while forked(partial(_stopped_at, line, number, temporary)) == Outcome(value="stopped"):
                assert os.listdir(temporary) == [], f"before line {line} of what was run"
                line += 1
        assert line > 30


def _stopped_at(line: int, number: signal.Signals, temporary: str, report: int) -> None:
    """Use a root, and send this process a signal before so many lines have run; tell whether it stopped."""
    passed = 0

    def follow(frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
        nonlocal passed
        if frame.f_code.co_filename != scratch.__file__:
            return None
        if event == "line":
            passed += 1
            if passed == line + 1:
                os.kill(os.getpid(), number)
        return follow

    scratch.tempfile.tempdir = temporary
    signal.signal(signal.SIGINT, signal.default_int_handler)
    stop_when_told()
    told = "ran to its end"
    sys.settrace(follow)
    try:
        root = ScratchRoot()
        try:
            root.make({"hw.py": b"x = 1\n"}, None)
        finally:
            root.close()
    except KeyboardInterrupt:
        told = "stopped"
    finally:
        sys.settrace(None)
        scratch.close_open_roots()
    _send(report, Outcome(value=told))


class TestRemoveTwice:
    """A scratch directory that somebody else has cleaned away."""

    def test_is_no_fault(self, tmp_path: Path) -> None:
        """What is gone is gone: removing it again says nothing."""
        scratch.remove(tmp_path / "gone")
        assert not (tmp_path / "gone").exists()


class TestWhatAKilledRunLeft:
    """A root that no process holds any more; the next run clears it."""

    def test_is_cleared_and_nothing_else(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Not what a living run uses, nor what only looks like it."""
        monkeypatch.setattr(scratch.tempfile, "tempdir", str(tmp_path))
        living = ScratchRoot()
        living.make({"a.py": b"x"}, None)
        left = tmp_path / f"{living.path.name[:-8]}deadbeef"
        nest(left.mkdir() or left, 3)
        (tmp_path / "softmark-mine").mkdir()
        (tmp_path / f"{left.name}-link").symlink_to(tmp_path / "softmark-mine")
        with_it = sorted(path.name for path in tmp_path.iterdir() if path != left)
        second = ScratchRoot()
        assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*with_it, second.path.name])
        assert [file.name for file in living.path.rglob("*.py")] == ["a.py"]
        for root in (living, second):
            root.close()
            assert not root.path.exists()


USED = """
import sys
from pathlib import Path

made = []

def note(event, details):
    if event in ("open", "os.mkdir"):
        made.append(details[0])

sys.addaudithook(note)
from softmark.sandbox.machine import temporary_directory
from softmark.sandbox.scratch import ScratchRoot

root = ScratchRoot()
inside = {str(path) for path in made if str(path).startswith(temporary_directory())}
assert inside == {str(root.path)}, inside
print(temporary_directory())
root.close()
"""


class TestTemporaryDirectory:
    """The directory for temporary files, which a process uses without trying first whether it can."""

    def used(self, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", USED], env=environment, capture_output=True, text=True, check=False, cwd="/"
        )

    def test_holds_scratch_directories_only(self, tmp_path: Path) -> None:
        """A process that is killed while it looks for the directory leaves no file there."""
        done = self.used(TMPDIR=str(tmp_path))
        assert (done.stdout, done.stderr) == (f"{tmp_path}\n", "")

    def test_is_one_that_can_be_written_to(self, tmp_path: Path) -> None:
        """A directory that is not there is passed over."""
        done = self.used(TMPDIR=str(tmp_path / "gone"), TEMP=str(tmp_path))
        assert (done.stdout, done.stderr) == (f"{tmp_path}\n", "")

    def test_that_does_not_exist(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """One sentence says that no directory can be written to."""
        monkeypatch.setattr(tempfile, "tempdir", None)
        monkeypatch.setattr(os, "access", lambda *_: False)
        with pytest.raises(UsageError, match="no directory for temporary files can be written to"):
            temporary_directory()
