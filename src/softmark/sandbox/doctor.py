"""Finds out which isolation level, devices and limits this machine offers, for `softmark doctor`.

`python -I -m softmark.sandbox.doctor` prints them as JSON. It is started with an environment of constants, like a
grading engine. To find the isolation level, Softmark attacks the machine from a real worker; it does not read a list of
features.
"""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

import msgspec

from softmark.records.limits import Level, Limits
from softmark.sandbox.isolation import LevelCheck, highest
from softmark.sandbox.machine import Machine, fitting
from softmark.sandbox.own_machine import forking_works
from softmark.sandbox.walls import landlock
from softmark.sandbox.zygote import Zygote


def examine() -> Machine:
    """Return the facts about this machine. Starts and ends a zygote."""
    if forking_works():
        zygote = Zygote.fork()
        findings = highest(zygote)
        zygote.close()
    else:
        findings = [LevelCheck(level, False, "it needs Linux") for level in (Level.FULL, Level.USER)]
        findings.append(LevelCheck(Level.PROCESS, True))
    return Machine(
        level=str(findings[-1].level),
        why_not_higher={str(finding.level): finding.why_not for finding in findings if not finding.holds},
        devices=_devices(),
        versions=_versions(),
        landlock=landlock.abi() if sys.platform == "linux" else 0,
        limits=msgspec.to_builtins(fitting(Limits())),
        remarks=tuple(_remarks()),
    )


def _devices() -> tuple[str, ...]:
    import torch

    cpu = f"cpu ({len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count()} cores)"
    cuda = [f"cuda:{n} ({torch.cuda.get_device_name(n)})" for n in range(torch.cuda.device_count())]
    return (cpu, *cuda)


def _versions() -> dict[str, str]:
    packages = ("softmark", "torch", "numpy", "pytest", "gradescope-utils")
    return {
        **{name: version(name) for name in packages},
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()}",
    }


def _remarks() -> list[str]:
    remarks = []
    library = Path(os.__file__).resolve().parent
    closed = [str(place) for place in (library, *library.parents) if not place.stat().st_mode & 0o001]
    if closed and os.geteuid() == 0:
        remarks.append(
            f"student code cannot reach the interpreter's library, because {closed[-1]} is closed to other users: "
            "what is not loaded yet cannot be imported there. Use an interpreter elsewhere, such as /usr/bin/python3."
        )
    return remarks


if __name__ == "__main__":
    sys.stdout.write(msgspec.json.encode(examine()).decode())
