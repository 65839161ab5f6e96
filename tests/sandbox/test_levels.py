"""The level that is promised is the level that holds: found out by attack, never lowered in silence."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from softmark.records.limits import Level
from softmark.sandbox import isolation
from softmark.sandbox.failures import GraderFault
from softmark.sandbox.isolation import ForkedSandbox, InProcess, SpawnedSandbox, examine, highest, open_sandbox
from softmark.sandbox.walls import landlock
from softmark.sandbox.worker.self_test import ATTACKS
from softmark.sandbox.zygote import Exit
from tests.support.confined import needs_landlock, needs_root, needs_signal_scope
from tests.support.sandboxes import KINDS, SHORT, STRONGEST, zygote

ROOT = Path(__file__).parents[2]
ORDINARY = 12345


def attacked(level: Level) -> dict[str, str]:
    """What softmark's own attacks achieve behind the walls of a level; empty where an attack was refused."""
    return isolation._self_test(zygote(), level)


@pytest.fixture(scope="module")
def behind_walls() -> dict[str, str]:
    return attacked(STRONGEST)


@pytest.fixture(scope="module")
def without_walls() -> dict[str, str]:
    return attacked(Level.PROCESS)


class TestLevel:
    """The order of the levels."""

    def test_is_from_nothing_to_everything(self) -> None:
        """none < process < user < full."""
        assert Level("none") < Level("process") < Level("user") < Level("full")
        assert Level.USER <= Level.USER
        assert not Level.FULL <= Level.USER


@needs_landlock
class TestAttacks:
    """Softmark's own attacks, through the real path."""

    @pytest.mark.parametrize("name", ATTACKS)
    def test_is_refused_at_the_strongest_level(self, name: str, behind_walls: dict[str, str]) -> None:
        """Nothing secret is read, nobody signalled, nothing connected to, written outside or left behind."""
        assert behind_walls[name] == ""

    @pytest.mark.parametrize("name", ["socket", "write"])
    def test_would_be_noticed(self, name: str, without_walls: dict[str, str]) -> None:
        """The same attack succeeds where there are no walls: the probe tells the difference."""
        assert without_walls[name] != ""

    @needs_root
    def test_a_uid_of_its_own_stops_some_by_itself(self, without_walls: dict[str, str]) -> None:
        """At level process, root still runs student code as another user."""
        assert (without_walls["read"], without_walls["signal"], without_walls["daemon"]) == ("", "", "")


class TestFindings:
    """What this machine reaches."""

    @needs_root
    @needs_landlock
    def test_root_reaches_full(self) -> None:
        """Here, as root, the highest level holds, and it is the first that is tried."""
        assert highest(zygote()) == [isolation.LevelCheck(Level.FULL, True)]

    @needs_root
    def test_root_is_not_an_ordinary_user(self) -> None:
        """Level user is no way for root to do without a uid for student code."""
        finding = examine(zygote(), Level.USER)
        assert not finding.holds
        assert "for ordinary users" in finding.why_not

    def test_one_attack_that_succeeds_breaks_the_level(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A level of which one wall does not stand does not hold, and the finding says which."""
        achieved = dict.fromkeys(ATTACKS, "") | {"socket": "opened a socket"}
        monkeypatch.setattr(isolation, "_self_test", lambda *_: achieved)
        monkeypatch.setattr(isolation, "_missing_for", lambda _: "")
        finding = examine(zygote(), STRONGEST)
        assert (finding.holds, finding.why_not) == (False, "socket: opened a socket")
        assert [found.level for found in highest(zygote())] == [Level.FULL, Level.USER, Level.PROCESS]

    def test_a_probe_that_fails_holds_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A level whose walls cannot even be raised does not hold, and the finding says why."""

        def fails(*_: object) -> dict[str, str]:
            raise GraderFault("identity: Operation not permitted")

        monkeypatch.setattr(isolation, "_self_test", fails)
        monkeypatch.setattr(isolation, "_missing_for", lambda _: "")
        assert examine(zygote(), STRONGEST).why_not == "identity: Operation not permitted"

    @pytest.mark.parametrize(("level", "least"), [pytest.param(Level.FULL, 1, marks=needs_root), (Level.USER, 6)])
    def test_an_old_kernel_is_named(self, level: Level, least: int, monkeypatch: pytest.MonkeyPatch) -> None:
        """A kernel without the Landlock that a level stands on is told by version."""
        monkeypatch.setattr(landlock, "abi", lambda: least - 1)
        uid = 0 if level is Level.FULL else 1000
        monkeypatch.setattr(os, "geteuid", lambda: uid)
        monkeypatch.setattr(os, "getresgid", lambda: (uid, uid, uid))
        assert f"it needs Landlock version {least}" in examine(zygote(), level).why_not


class TestOpenSandbox:
    """The sandbox of a level."""

    def test_each_level_has_its_own(self) -> None:
        """Behind walls if there is a zygote; as a program without one; in this process for none."""
        for level, start, kind in (
            (STRONGEST, zygote(), ForkedSandbox), (Level.PROCESS, zygote(), ForkedSandbox),
            (Level.PROCESS, None, SpawnedSandbox), (Level.NONE, zygote(), InProcess),
        ):  # fmt: skip
            opened = open_sandbox(start, level)
            assert type(opened) is kind
            assert opened.level is level
            opened.close()

    def test_root_that_may_not_become_another_user_spawns(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where no forked worker can be had, level process starts programs instead."""

        def fails(*_: object) -> dict[str, str]:
            raise GraderFault("identity: Operation not permitted")

        monkeypatch.setattr(isolation, "_self_test", fails)
        opened = open_sandbox(zygote(), Level.PROCESS)
        assert type(opened) is SpawnedSandbox
        opened.close()

    def test_a_dirty_machine_opens_nothing_more(self) -> None:
        """After something survived its worker, no submission is graded beside it."""
        opened = KINDS["walled"]()
        assert isinstance(opened, ForkedSandbox)
        opened._note_end(Exit(0, 0.0, 1, clean=False))
        with pytest.raises(GraderFault, match="could not be killed"):
            opened.open({}, SHORT)
        opened.close()


@pytest.fixture(scope="module")
def ordinary_home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/tmp") as home:
        os.chown(home, ORDINARY, ORDINARY)
        yield Path(home)


@needs_root
@needs_signal_scope
class TestOrdinaryUser:
    """The same program for somebody who is not root."""

    def softmark(self, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [Path(sys.executable).with_name("softmark"), *words], cwd=ROOT,
            user=ORDINARY, group=ORDINARY, extra_groups=[],
            env={"HOME": str(home), "TMPDIR": str(home), "PATH": "/usr/bin:/bin"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def grade(self, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
        return self.softmark(home, "grade", "reference/attention_scores.py", "-a", "attention_scores", *words)

    def test_grades_at_level_user(self, ordinary_home: Path) -> None:
        """The reference earns 20 of 20 behind the walls that an ordinary user can raise, and nothing is left."""
        done = self.grade(ordinary_home, "--isolation", "user", "--json")
        assert done.returncode == 0, done.stderr
        assert '"total":20.0' in done.stdout
        assert '"isolation":"user"' in done.stdout
        assert list(ordinary_home.iterdir()) == []

    def test_slows_no_process_of_its_user(self, ordinary_home: Path) -> None:
        """A submission that moves the grader's processes to one core, or lowers their priority, changes nothing."""
        handed_in = ordinary_home / "attention_scores.py"
        attack = (ROOT / "tests/redteam/cases/pin_grader/spoil.py").read_text()
        handed_in.write_text((ROOT / "reference/attention_scores.py").read_text() + attack)
        done = self.softmark(
            ordinary_home, "grade", str(handed_in), "-a", "attention_scores", "--isolation", "user", "--json"
        )
        handed_in.unlink()
        assert done.returncode == 0, done.stderr
        assert '"total":20.0' in done.stdout
        assert '"stdout":""' in done.stdout  # it would print if anything had changed

    def test_is_refused_level_full(self, ordinary_home: Path) -> None:
        """What cannot be had is not quietly lowered: one sentence, the next step, exit code 2."""
        done = self.grade(ordinary_home)
        assert (done.returncode, done.stdout) == (2, "")
        (refusal,) = done.stderr.splitlines()
        assert "isolation level full does not hold on this machine: it needs root" in refusal
        assert "say --isolation user if that is enough" in refusal
