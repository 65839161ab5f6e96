"""Softmark in containers: what an ordinary one gives, what a container that lacks something is told, and small ones."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.docker.engine import ROOT, SOFTMARK, Docker
from tests.support.small_memory import HOMEWORK, assert_costs_only, write_class

REFERENCE = "reference/attention_scores.py"
GRADE = ("grade", REFERENCE, "-a", "attention_scores")
NEEDED = ("CHOWN", "DAC_OVERRIDE", "KILL", "SETGID", "SETUID")
FEWEST = ("--cap-drop=ALL", *(f"--cap-add={name}" for name in NEEDED))
READ_ONLY = ("--read-only", "--tmpfs=/tmp", "--tmpfs=/run")
SMALL = ("--memory=768m", "--cpus=0.5", "--network=none")


def doctor(docker: Docker, *options: str) -> tuple[int, dict[str, Any]]:
    """The exit status of `softmark doctor --json`, and what it found."""
    done = docker.run(SOFTMARK, "doctor", "--json", options=options)
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return done.returncode, found


def grade(
    docker: Docker, *options: str, file: str = REFERENCE, flags: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    return docker.run(
        SOFTMARK, "grade", file, "-a", "attention_scores", "--json", "--isolation", "full", *flags, options=options
    )


class TestLevelFull:
    """Containers in which student code runs behind all walls."""

    @pytest.mark.parametrize(
        "options",
        [
            pytest.param((), id="ordinary"),
            pytest.param(("--security-opt=seccomp=unconfined",), id="without Docker's seccomp filter"),
            pytest.param(FEWEST, id="fewest capabilities"),
            pytest.param(READ_ONLY, id="read-only"),
            pytest.param(SMALL, id="small, without network"),
        ],
    )
    def test_doctor_says_full(self, docker: Docker, options: tuple[str, ...]) -> None:
        """Root in an unprivileged container reaches level full, and doctor ends with 0."""
        status, found = doctor(docker, *options)
        assert found["level"] == "full", found["why_not_higher"]
        assert status == 0

    @pytest.mark.parametrize("options", [SMALL, READ_ONLY], ids=["small", "read-only"])
    def test_reference_gets_all_points(self, docker: Docker, options: tuple[str, ...]) -> None:
        """The reference is graded 20 of 20, in 768 MB and on half a core as anywhere."""
        done = grade(docker, *options)
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        assert (result["status"], result["total"]) == ("graded", 20)

    def test_memory_bomb_costs_its_part_only(self, docker: Docker, tmp_path: Path) -> None:
        """What takes all memory is stopped by softmark's limit, before the container's own would hit the grader."""
        bomb = (ROOT / "tests/redteam/cases/memory/spoil.py").read_text()
        (tmp_path / "bomb.py").write_text((ROOT / REFERENCE).read_text() + "\n\n" + bomb)
        done = grade(docker, *SMALL, f"--volume={tmp_path}:/handed:ro", file="/handed/bomb.py")
        assert done.returncode == 0, done.stderr
        result = json.loads(done.stdout)
        assert {part["number"] for part in result["parts"] if part["earned"] < part["points"]} == {"6"}


class TestClassWithBombs:
    """A class of twenty in 900 MB, some of whom take all the memory and disk that they can get."""

    @pytest.mark.parametrize("options", [(), ("--tmpfs=/tmp",)], ids=["files on a disk", "files in memory"])
    def test_costs_nobody_else(self, docker: Docker, options: tuple[str, ...], tmp_path: Path) -> None:
        """No grader error, every honest submission at full marks, every bomb without those of its part."""
        for name in ("in", "out"):
            (tmp_path / name).mkdir()
        hostile = write_class(tmp_path / "in", 20)
        places = (f"--volume={tmp_path}/in:/handed:ro", f"--volume={tmp_path}/out:/out")
        command = (SOFTMARK, "grade", "/handed", "-a", HOMEWORK, "-o", "/out/results")
        done = docker.run(*command, options=("--memory=900m", "--network=none", *options, *places))
        assert done.returncode == 0, done.stdout + done.stderr
        assert_costs_only(hostile, tmp_path / "out/results/grades.csv")


class TestMissingCapability:
    """Containers whose root lacks a right that level full stands on."""

    @pytest.mark.parametrize("name", NEEDED)
    def test_doctor_names_it(self, docker: Docker, name: str) -> None:
        """Doctor says which capability is missing and what for, and ends with 1."""
        status, found = doctor(docker, f"--cap-drop={name}")
        assert status == 1
        assert found["level"] == "process"
        assert f"capability {name} is missing" in found["why_not_higher"]["full"]
        assert "root may not" in found["why_not_higher"]["full"]

    def test_all_are_named_at_once(self, docker: Docker) -> None:
        """Without any capability every missing one is named, so that one look is enough."""
        _, found = doctor(docker, "--cap-drop=ALL")
        assert all(f"capability {name}" in found["why_not_higher"]["full"] for name in NEEDED)

    @pytest.mark.parametrize("name", ["SETUID", "SETGID"])
    def test_grade_refuses(self, docker: Docker, name: str) -> None:
        """Nothing is graded below the level asked for: one sentence that names the capability, exit 2."""
        done = grade(docker, f"--cap-drop={name}")
        assert (done.returncode, done.stdout) == (2, "")
        (refusal,) = done.stderr.splitlines()
        assert f"capability {name} is missing" in refusal


class TestOtherLack:
    """Containers that lack something else."""

    def test_ordinary_user_reaches_user(self, docker: Docker) -> None:
        """An ordinary user of a container gets level user, and is told that full needs root."""
        status, found = doctor(docker, "--user=1000:1000")
        assert (status, found["level"]) == (1, "user")
        assert "needs root" in found["why_not_higher"]["full"]

    def test_user_in_roots_group_is_told(self, docker: Docker) -> None:
        """`--user 1000` leaves a user in root's group, where its student code would be, too: that is said."""
        _, found = doctor(docker, "--user=1000")
        assert found["level"] == "process"
        assert "root's group" in found["why_not_higher"]["user"]

    def test_no_place_for_locks_is_said(self, docker: Docker) -> None:
        """With nothing writable but /tmp, the directory that is missing is named."""
        _, found = doctor(docker, "--read-only", "--tmpfs=/tmp")
        assert "/run/softmark" in found["why_not_higher"]["full"]
        assert "Errno" not in found["why_not_higher"]["full"]

    @pytest.mark.parametrize("command", [("doctor",), GRADE], ids=["doctor", "grade"])
    def test_no_temporary_directory_is_said(self, docker: Docker, command: tuple[str, ...]) -> None:
        """Without any writable directory: one sentence with the next step, exit 2."""
        done = docker.run(SOFTMARK, *command, options=("--read-only",))
        assert done.returncode == 2
        (refusal,) = done.stderr.splitlines()
        assert "temporary" in refusal
