"""Options, exit codes and streams that several commands share."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

FINDINGS = 1
"""The command did its work, and somebody must look at what was found. To grade a bad submission is a success (0)."""
USAGE = 2
"""The command as it was typed, or the configuration of a homework, is wrong."""
FAULT = 3
"""The grader itself failed."""
INTERRUPTED, TERMINATED = 130, 143
"""The command ended by Ctrl-C and by SIGTERM, as a shell counts signals."""


OwnPath = Annotated[
    Path | None,
    typer.Argument(help="Your file or notebook; by default the homework in this folder.", show_default=False),
]
OwnHomework = Annotated[
    str | None,
    typer.Option("--assignment", "-a", help="The homework, if the file's name does not say.", show_default=False),
]


class Isolation(StrEnum):
    """The values of --isolation."""

    full = "full"
    user = "user"
    process = "process"
    none = "none"


class DeviceChoice(StrEnum):
    """The values of --device."""

    auto = "auto"
    cpu = "cpu"
    cuda = "cuda"


@contextmanager
def stdout_kept_clean() -> Iterator[None]:
    """Send to stderr what code prints in this block: another program reads standard output."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
