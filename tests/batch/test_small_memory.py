"""A class where memory is short, and some students take all there is: nobody else has to pay for it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from softmark.records.limits import Limits
from softmark.sandbox import machine
from tests.support.autograder import ROOT, SOFTMARK
from tests.support.small_memory import BOMBS, HOMEWORK, assert_costs_only, control_group, write_class

JOIN = 'echo $$ > "$0/cgroup.procs" && exec "$@"'


def killed(group: Path) -> int:
    """How many processes of the group the kernel has ended for want of memory."""
    for name in ("memory.oom_control", "memory.events"):
        if (group / name).exists():
            fields = dict(line.split() for line in (group / name).read_text().splitlines())
            return int(fields["oom_kill"])
    raise AssertionError("the group does not tell")


class TestClass:
    """Through `softmark grade`, in a control group whose limit the kernel enforces; files are memory there, too."""

    @pytest.mark.parametrize(
        ("megabytes", "size", "bombs", "short"),
        [
            pytest.param(900, 20, BOMBS, False, id="room for one worker at its limit"),
            pytest.param(320, 6, ("many_children", "memory"), True, id="less than that"),
        ],
    )
    def test_bombs_cost_nobody_else(
        self, megabytes: int, size: int, bombs: tuple[str, ...], short: bool, tmp_path: Path
    ) -> None:
        """No grader error, and the honest have full marks: also where the kernel has to end somebody."""
        (tmp_path / "in").mkdir()
        hostile = write_class(tmp_path / "in", size, bombs)
        command = (SOFTMARK, "grade", tmp_path / "in", "-a", HOMEWORK, "-o", tmp_path / "out")
        with control_group(megabytes) as group:
            done = subprocess.run(
                ("sh", "-c", JOIN, group, "env", "TMPDIR=/dev/shm", *command),
                cwd=ROOT, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert killed(group) > 0 or not short
        assert done.returncode == 0, done.stdout + done.stderr
        assert_costs_only(hostile, tmp_path / "out/grades.csv")


WRITES = """
import os
_honest = attention

def attention(Q, K, V, mask=None):
    with open("kept", "wb") as file:
        file.write(bytes(1_000_000))
    with open("gone", "wb") as file:
        file.write(bytes(1_000_000))
    os.remove("gone")
    return _honest(Q, K, V, mask)
"""


class TestDisk:
    """A disk that several submissions share."""

    def test_who_hides_files_is_told_apart(self, tmp_path: Path) -> None:
        """One hides files on the disk again and again; beside it, code that makes files has full marks."""
        (tmp_path / "in").mkdir()
        hostile = write_class(tmp_path / "in", 12, ("unlinked_files", "mapped_files"))
        for place in (tmp_path / "in").iterdir():
            if place.name not in hostile:
                with open(place / f"{HOMEWORK}.py", "a") as file:
                    file.write(WRITES)
        command = (SOFTMARK, "grade", tmp_path / "in", "-a", HOMEWORK, "-o", tmp_path / "out", "--jobs", "2")
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert_costs_only(hostile, tmp_path / "out/grades.csv")


class TestRoom:
    """How memory is divided."""

    @pytest.mark.parametrize(
        ("megabytes", "wanted", "lanes", "each"),
        [(768, 4, 1, 368), (943, 2, 1, 543), (4000, 2, 2, 1725), (8000, 16, 11, 554), (64_000, 16, 16, 2048)],
    )
    def test_all_fit_in(
        self, megabytes: int, wanted: int, lanes: int, each: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """All workers at their limit and the trusted side fit in; rather fewer workers than such with very little."""
        monkeypatch.setattr(machine, "_total", lambda: megabytes * 1_000_000)
        monkeypatch.setattr(machine, "in_memory", lambda _: False)
        assert machine.side_by_side(wanted, Limits()) == lanes
        assert machine.fitting(Limits(), lanes).memory_mb == each

    def test_files_in_memory_are_memory(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where the temporary directory is memory, what a worker may write to it is not there for the worker."""
        monkeypatch.setattr(machine, "_total", lambda: 1_000_000_000)
        monkeypatch.setattr(tempfile, "tempdir", "/dev/shm")
        assert machine.fitting(Limits(file_mb=100)).memory_mb == 300

    def test_the_smallest_group_counts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A limit of any control group that this process is in, not only of the outermost, is respected."""
        before = machine.fitting(Limits()).memory_mb
        with control_group(900) as group:
            joined = subprocess.run(
                ("sh", "-c", JOIN, group, sys.executable, "-c", PRINT),
                capture_output=True, text=True, check=True,
            )  # fmt: skip
        assert int(joined.stdout) == min(before, 543)


PRINT = """
from softmark.records.limits import Limits
from softmark.sandbox import machine
print(machine.fitting(Limits()).memory_mb)
"""
