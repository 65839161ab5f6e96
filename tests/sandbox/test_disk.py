"""What a worker holds of the disk: counted with and without names, and nobody else's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir

import pytest

from softmark.sandbox import disk, held, procfs
from softmark.sandbox.disk import Count, Disk
from softmark.sandbox.failures import Disturbed, StudentFailure
from softmark.sandbox.scratch import ScratchRoot
from softmark.sandbox.walls import rlimits
from tests.support import processes
from tests.support.sandboxes import SHORT, loaded, sandbox, value, zygote

_SYS_PTRACE, _SYS_ADMIN = 1 << 19, 1 << 21
can_see = pytest.mark.skipif(
    ~int(rlimits.status("self")["CapEff"], 16) & (_SYS_PTRACE | _SYS_ADMIN) != 0,
    reason="only who has these capabilities may see what files another user's processes hold",
)
LIMIT = SHORT.file_mb * 1_000_000
MB = 1_000_000


def counted(place: Path, most_bytes: int = 10**9) -> Count:
    here = os.open(place, os.O_RDONLY)
    try:
        return disk.count(here, most_bytes)
    finally:
        os.close(here)


@pytest.fixture
def place() -> Iterator[Path]:
    """A scratch directory."""
    root = ScratchRoot()
    yield root.make({}, None)
    root.close()


class TestCount:
    """Counting what has a name."""

    def test_counts_bytes_and_entries(self, place: Path) -> None:
        """Files, directories and what is in them are counted; a link is an entry and no more."""
        (place / "sub").mkdir()
        (place / "sub" / "file").write_bytes(b"x" * 100_000)
        (place / "link").symlink_to("/usr")
        found = counted(place)
        assert (found.entries, found.folders) == (3, 1)
        assert 100_000 <= found.bytes < 200_000

    def test_stops_when_there_is_too_much(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Of a million files the last is not counted."""
        for number in range(50):
            (place / str(number)).write_bytes(b"x" * 5000)
        assert counted(place, 20_000).entries < 50
        monkeypatch.setattr(disk, "MOST_ENTRIES", 10)
        assert counted(place).entries == 11

    def test_counts_blocks(self, place: Path) -> None:
        """A sparse file takes no space, and a file with many names takes its space once."""
        with open(place / "sparse", "wb") as file:
            file.truncate(10**9)
        (place / "file").write_bytes(b"x" * 100_000)
        for number in range(20):
            os.link(place / "file", place / str(number))
        assert counted(place).bytes < 200_000

    def test_reaches_any_depth(self, place: Path) -> None:
        """A directory whose path is longer than a path may be is counted as any other, and so is what comes after."""
        here = os.open(place, os.O_RDONLY)
        for _ in range(300):
            for name in ("a" * 100, "d" * 100):
                os.mkdir(name, dir_fd=here)
            inner = os.open("d" * 100, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = inner
        os.close(os.open("last", os.O_CREAT, dir_fd=here))
        os.close(here)
        assert (counted(place).entries, counted(place).folders) == (601, 600)

    def test_never_leaves_the_directory(self, place: Path, tmp_path: Path) -> None:
        """However folders are swapped for links, and moved, while it counts, no more is found than there is."""
        (tmp_path / "big").write_bytes(bytes(5 * MB))
        for name in ("folder", "other"):
            (place / name / "inner" / "innermost").mkdir(parents=True)
        stop = threading.Event()

        def swap() -> None:
            while not stop.is_set():
                os.rename(place / "folder" / "inner", place / "moved")
                os.rename(place / "folder", place / "away")
                os.symlink(tmp_path, place / "folder")
                os.unlink(place / "folder")
                os.rename(place / "away", place / "folder")
                os.rename(place / "moved", place / "folder" / "inner")

        swapping = threading.Thread(target=swap)
        swapping.start()
        try:
            most = max(counted(place).bytes for _ in range(2000))
        finally:
            stop.set()
            swapping.join()
        assert most < MB


def write(place: Path) -> None:
    (place / "file").write_bytes(b"x")


def write_below(place: Path) -> None:
    (place / "data" / "more" / "file").write_bytes(b"x")


def unlink(place: Path) -> None:
    (place / "data" / "more" / "numbers").unlink()


class TestChanges:
    """Whether a worker has made or removed any file: only one that has can hide some."""

    @pytest.mark.parametrize("change", [write, write_below, unlink])
    def test_are_seen(self, change: Callable[[Path], None]) -> None:
        """Wherever it is, in the same instant as the directory was made."""
        root = ScratchRoot()
        made = root.make({"hw.py": b"", "data/more/numbers": b"1 2"}, None)
        assert not counted(made).changed
        change(made)
        assert counted(made).changed
        root.close()


HIDES = """
import mmap, os, threading, time
held = []

def map_(size, keep):
    for number in range(8):
        with open("file", "w+b") as file:
            file.write(bytes(size // 8))
            file.flush()
            held.append(mmap.mmap(file.fileno(), 4096))
        os.unlink("file")
    return 1

def pass_on(size, keep):
    hide(size, True)
    if os.fork() == 0:
        time.sleep(60)
    while held:
        os.close(held.pop())
    return 1

def in_a_thread(size, keep):
    done = threading.Event()
    def keeper():
        hide(size, True)
        done.set()
        time.sleep(60)
    threading.Thread(target=keeper, daemon=True).start()
    done.wait()
    return 1

def hide(size, keep):
    held.append(os.open("file", os.O_RDWR | os.O_CREAT))
    os.unlink("file")
    while size:
        size -= os.write(held[-1], bytes(min(size, 10_000_000)))
        if os.lseek(held[-1], 0, 1) >= 10_000_000:
            held.append(os.open("file", os.O_RDWR | os.O_CREAT))
            os.unlink("file")
    if not keep:
        while held:
            os.close(held.pop())
    return 1

def nothing():
    return 1
"""


SEEN = [pytest.param(True, marks=can_see, id="seen"), pytest.param(False, id="by free space")]


def see(seen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Say if this process may see which files a worker holds."""
    if not seen:
        monkeypatch.setattr(held, "written", lambda _: None)


@contextmanager
def disturber(place: Path) -> Iterator[None]:
    """A program that writes and deletes 400 MB on a disk until it is ended."""
    program = (
        "import os, sys\n"
        "while True:\n"
        "    with open(sys.argv[1], 'wb') as file:\n"
        "        for _ in range(40): file.write(bytes(10_000_000))\n"
        "    os.unlink(sys.argv[1])\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program, place / f"softmark-disturber-{os.getpid()}"])
    try:
        yield
    finally:
        process.kill()
        process.wait()
        (place / f"softmark-disturber-{os.getpid()}").unlink(missing_ok=True)


class TestDisk:
    """Workers that hold files without a name."""

    @pytest.mark.parametrize("seen", SEEN)
    def test_hidden_files_count(self, seen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is unlinked and held open is found at the end of the call that holds too much, and not before."""
        see(seen, monkeypatch)
        with sandbox() as place, loaded(place, HIDES) as worker:
            assert value(worker, "hide", 10 * MB, True) == 1
            with pytest.raises(StudentFailure, match="wrote more than 20 MB of files") as caught:
                value(worker, "hide", 120 * MB, True)
            assert caught.value.category == "error"
            assert not worker.alive

    def test_what_is_let_go_of_does_not_count(self) -> None:
        """Files that are gone again take no space, however many there were."""
        with sandbox() as place, loaded(place, HIDES) as worker:
            for _ in range(20):
                assert value(worker, "hide", 2 * MB, False) == 1

    @pytest.mark.parametrize("seen", SEEN)
    def test_other_programs_do_not_count(self, seen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        """A worker that has made no file is not to blame for what others take, and is not even ended."""
        see(seen, monkeypatch)
        free = iter([10**12 - number * LIMIT for number in range(100)])
        monkeypatch.setattr(Disk, "_free", lambda _: next(free))
        with sandbox() as place, loaded(place, HIDES) as worker:
            assert [value(worker, "nothing") for _ in range(5)] == [1] * 5

    @pytest.mark.parametrize("seen", SEEN)
    def test_other_programs_do_not_count_beside_files_of_its_own(
        self, seen: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nor is one that has made files, as long as it has written less than what is gone."""
        see(seen, monkeypatch)
        with sandbox() as place, loaded(place, HIDES) as worker:
            assert value(worker, "hide", 1 * MB, False) == 1
            monkeypatch.setattr(Disk, "_free", lambda _: 0)
            assert [value(worker, "nothing") for _ in range(5)] == [1] * 5

    @can_see
    @pytest.mark.parametrize("how", ["hide", "map_", "pass_on", "in_a_thread"])
    def test_is_found_whatever_others_do(self, how: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Files held open, mapped, by a child or by a thread are found, though others free more than they take."""
        free = iter(range(10**12, 10**15, 10**9))
        monkeypatch.setattr(Disk, "_free", lambda _: next(free))
        with sandbox() as place, loaded(place, HIDES) as worker:
            assert value(worker, how, 10 * MB, True) == 1
            with pytest.raises(StudentFailure, match="wrote more than 20 MB of files"):
                value(worker, how, 70 * MB, True)

    @can_see
    def test_what_is_gone_is_no_reason_to_look_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A worker that has written a lot and let go of it is looked at once, and goes on."""
        looks = []
        look = held.unnamed_bytes
        monkeypatch.setattr(held, "unnamed_bytes", lambda *of: looks.append(look(*of)) or looks[-1])
        with sandbox() as place, loaded(place, HIDES) as worker:
            assert [value(worker, "hide", 15 * MB, False) for _ in range(5)] == [1] * 5
            assert [value(worker, "nothing") for _ in range(20)] == [1] * 20
        assert 1 <= len(looks) <= 3  # once or twice more if a look fell into a call

    @can_see
    def test_a_disturber_beside_it(self, tmp_path: Path) -> None:
        """While another program writes and deletes 400 MB again and again, an honest worker passes, a hostile fails."""
        with disturber(Path(gettempdir())), sandbox() as place:
            for _ in range(4):
                with loaded(place, HIDES) as worker:
                    assert [value(worker, "hide", 19 * MB, False, cpu_seconds=5) for _ in range(8)] == [1] * 8
                with loaded(place, HIDES) as worker, pytest.raises(StudentFailure, match="wrote more than 20 MB"):
                    value(worker, "hide", 120 * MB, True, cpu_seconds=5)

    def test_what_was_written_is_known(self) -> None:
        """The kernel tells what a living worker has written, and the worker lives on."""
        with sandbox() as place, loaded(place, HIDES) as worker:
            before = zygote().written()
            assert value(worker, "hide", 30 * MB, False) == 1
            assert 30 * MB <= zygote().written() - before < 32 * MB
            assert value(worker, "nothing") == 1

    def test_the_end_of_a_worker_is_told_though_it_was_asked(self) -> None:
        """A worker that has ended by the time it is asked what it has written ends with its own status."""
        with sandbox() as place, loaded(place, HIDES) as worker:
            os.kill(worker.pid, signal.SIGTERM)  # type: ignore[attr-defined]
            assert processes.await_ends([os.pidfd_open(worker.pid)]) is None  # type: ignore[attr-defined]
            zygote().written()
            ended = worker.close()
            assert ended is not None
            assert (ended.status, ended.clean) == (signal.SIGTERM, True)

    def test_what_cannot_be_told_apart_is_asked_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A worker that has written a lot is ended; what does not come back then was another program's."""
        see(False, monkeypatch)
        monkeypatch.setattr(disk, "_COMING_BACK", 0.0)
        monkeypatch.setattr(Disk, "_free", lambda _: 1000 * MB)  # whatever other programs write meanwhile
        with sandbox() as place, loaded(place, HIDES) as worker:
            for _ in range(8):
                assert value(worker, "hide", 10 * MB, False) == 1
            monkeypatch.setattr(Disk, "_free", lambda _: 0)
            with pytest.raises(Disturbed, match="another program filled the disk"):
                value(worker, "nothing")
            assert not worker.alive


WAKES = """
import os, signal, time
for _ in range(2):
    if os.fork() == 0:
        while True:
            os.killpg(0, signal.SIGCONT)
time.sleep(60)
"""


class TestStopped:
    """Processes that must not move files while they are searched."""

    def test_processes_that_wake_each_other(self) -> None:
        """They stand still for the time of the look, or it is told that they do not; they go on afterwards."""
        parent = subprocess.Popen([sys.executable, "-c", WAKES], process_group=0)
        try:
            while len(pids := procfs.descendants(parent.pid)) < 2:
                pass
            for _ in range(20):
                with held._stopped(parent.pid) as stopped:
                    if stopped is None:
                        continue
                    assert stopped >= set(pids)
                    before = [procfs.process_cpu(pid) for pid in pids]
                    time.sleep(0.01)
                    assert [procfs.process_cpu(pid) for pid in pids] == before
            before = [procfs.process_cpu(pid) for pid in pids]
            time.sleep(0.5)
            assert all(procfs.process_cpu(pid) > used for pid, used in zip(pids, before, strict=True))
        finally:
            os.killpg(parent.pid, signal.SIGKILL)
            parent.wait()
