"""Opens student processes at the isolation level that was asked for, and finds out which level this machine reaches.

Nothing is graded below the level that was asked for: `ForkedSandbox.open` never leaves out a wall.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from softmark.records.limits import Allowed, Level, Limits
from softmark.sandbox.ended import Exit
from softmark.sandbox.failures import GraderFault, SandboxLost, StudentFailure
from softmark.sandbox.own_machine import InProcess, Sandbox, SpawnedSandbox
from softmark.sandbox.process import ForkedWorker
from softmark.sandbox.scratch import ScratchRoot
from softmark.sandbox.uids import UidLease
from softmark.sandbox.walls import Walls, landlock, rlimits
from softmark.sandbox.wire.protocol import SelfTest
from softmark.sandbox.worker import self_test
from softmark.sandbox.zygote import Zygote

_SELF_TEST_SECONDS = 10.0
_CAPABILITIES = {  # what root does for level full: the kernel's number, its name, what it is for
    0: ("CHOWN", "give a file to another user"),
    1: ("DAC_OVERRIDE", "clear up what another user keeps closed"),
    5: ("KILL", "end another user's processes"),
    6: ("SETGID", "give up its group"),
    7: ("SETUID", "become another user"),
}
_STOPPED_BY = {Level.FULL: self_test.ATTACKS, Level.USER: self_test.ATTACKS, Level.PROCESS: ("daemon",)}


@dataclass(frozen=True)
class LevelCheck:
    """Says whether one level holds here, and if not, why not."""

    level: Level
    holds: bool
    why_not: str = ""


class ForkedSandbox:
    """Forks workers from the zygote behind the walls of a level (`full`, `user`, or none: `process`)."""

    def __init__(self, zygote: Zygote, level: Level, device_files: tuple[str, ...] = ()) -> None:
        self.level = level
        self._device_files = device_files
        self.contaminated = False
        self._zygote = zygote
        self._uids = UidLease() if os.geteuid() == 0 else None
        self._root = ScratchRoot()

    def open(self, files: Mapping[str, bytes], limits: Limits) -> ForkedWorker:
        if self.contaminated:
            raise SandboxLost(
                "something a submission started could not be killed; this machine is not clean, start a new container"
            )
        uid = self._uids.next() if self._uids is not None else None
        directory = self._root.make(files, uid)
        behind = self.level in (Level.FULL, Level.USER)
        walls = Walls(
            str(directory),
            uid,
            limits,
            limits.of_a_worker(),
            use_landlock=behind,
            use_seccomp=behind,
            device_files=self._device_files,
        )
        spare = self._uids.spare if self._uids is not None else None
        return ForkedWorker(self._zygote, walls, limits, self._note_end, spare)

    def beside(self, files: Mapping[str, bytes]) -> Path:
        """Make a directory with these files that belongs to no worker."""
        return self._root.make(files, None)

    def close(self) -> None:
        self._root.close()
        if self._uids is not None:
            self._uids.close()

    def _note_end(self, ended: Exit) -> None:
        self.contaminated |= not ended.clean


def examine(zygote: Zygote, level: Level) -> LevelCheck:
    """Attack a worker of this level (worker/self_test.py), and return whether the level holds on this machine."""
    if level <= Level.PROCESS:
        return LevelCheck(level, True)  # every system can start processes
    missing = _missing_for(level)
    if missing:
        return LevelCheck(level, False, missing)
    try:
        achieved = _self_test(zygote, level)
    except OSError as error:
        return LevelCheck(level, False, f"{error.filename or 'the system'} cannot be used: {error.strerror}")
    except SandboxLost:
        raise  # this failure says nothing about the level
    except (GraderFault, StudentFailure) as error:
        return LevelCheck(level, False, str(error))
    broken = [f"{name}: {achieved[name]}" for name in _STOPPED_BY[level] if achieved[name]]
    return LevelCheck(level, not broken, "; ".join(broken))


def highest(zygote: Zygote) -> list[LevelCheck]:
    """Check the levels from `full` downwards until one holds, and return these checks."""
    findings = []
    for level in (Level.FULL, Level.USER, Level.PROCESS):
        findings.append(examine(zygote, level))
        if findings[-1].holds:
            break
    return findings


def open_sandbox(zygote: Zygote | None, level: Level, device_files: tuple[str, ...] = ()) -> Sandbox:
    """Return the sandbox of a level that holds on this machine. Workers may use these device files."""
    if level is Level.NONE:
        return InProcess()
    if zygote is None or (level is Level.PROCESS and not _forked_process_holds(zygote)):
        return SpawnedSandbox()
    return ForkedSandbox(zygote, level, device_files)


def _forked_process_holds(zygote: Zygote) -> bool:
    """Return whether forked workers reach level `process`. If root grades, it must be able to become another user."""
    try:
        return not any(_self_test(zygote, Level.PROCESS)[name] for name in _STOPPED_BY[Level.PROCESS])
    except SandboxLost:
        raise
    except (GraderFault, StudentFailure, OSError):
        return False


def _missing_for(level: Level) -> str:
    root = os.geteuid() == 0
    if level is Level.FULL and not root:
        return "it needs root, so that student code can run as a user of its own"
    if level is Level.USER and root:
        return "it is for ordinary users; root runs student code at level full, or not behind walls at all"
    if level is Level.USER and 0 in os.getresgid():
        return "this user is in root's group, and so would student code be; start the container with --user UID:GID"
    lacking = _lacking() if level is Level.FULL else ""
    if lacking:
        return lacking
    needed = {Level.FULL: 1, Level.USER: 6}.get(level, 0)
    if landlock.abi() < needed:
        return f"it needs Landlock version {needed}, this kernel offers {landlock.abi() or 'none'}"
    return ""


def _lacking() -> str:
    """Return a sentence about the capabilities that root lacks here, as in some containers; empty if it lacks none."""
    held = int(rlimits.status("self")["CapEff"], 16)
    lacking = [named for number, named in _CAPABILITIES.items() if not held >> number & 1]
    if not lacking:
        return ""
    reasons = "; ".join(f"root may not {what}: capability {name} is missing" for name, what in lacking)
    return f"{reasons}; start the container with {' '.join(f'--cap-add={name}' for name, _ in lacking)}"


def _self_test(zygote: Zygote, level: Level) -> dict[str, str]:
    """Make Softmark's own attacks from inside a worker of that level, and return the successes by name."""
    sandbox = ForkedSandbox(zygote, level)
    try:
        place = sandbox.beside({"secret": b"canary"})
        secret, outside = place / "secret", place / "outside"
        outside.mkdir()
        outside.chmod(0o777)
        place.chmod(0o711)
        worker = sandbox.open({}, Limits())
        request = SelfTest(secret=str(secret), outside=str(outside), grader=os.getpid())
        try:
            achieved = dict(worker.ask(request, Allowed.of(_SELF_TEST_SECONDS)).achieved)
        finally:
            ended = worker.close()
        achieved["daemon"] = "" if ended.leftovers and ended.clean else "a daemon was not found and killed"
        return achieved
    finally:
        sandbox.close()
