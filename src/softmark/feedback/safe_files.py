"""Replaces a file in one step: a reader finds the old content or the new, and never a half."""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from softmark.records.errors import UsageError


def replace_file(path: Path, data: bytes, check: Callable[[bytes], None]) -> None:
    """Put `data` at `path`, after it has been read back and checked."""
    with replacement(path) as file:
        file.write(data)
        file.flush()
        file.seek(0)
        check(file.read())


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """Turn an OSError inside this block into a UsageError that names the folder and the next step."""
    try:
        yield
    except OSError as error:
        why = f"results cannot be written to {folder}: {error.strerror}"
        raise UsageError(f"{why}; choose another folder with -o") from None


@contextmanager
def replacement(path: Path) -> Iterator[BinaryIO]:
    """Return a file to write to that takes the place of `path` at the end: made beside it, then renamed.

    If anything goes wrong, what was at `path` before is still there, and nothing else is. That holds for a process that
    dies at any moment. A power cut may cost what was just written; it can be made again from the journal, and waiting
    for the disk after each of a class's thousands of files would cost more than grading.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(beside, flags, 0o600)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def remove_leftovers(folder: Path) -> None:
    """Remove the unfinished files of a run that was killed. Nobody else may be writing to the folder."""
    for left in folder.glob(".*.part"):
        left.unlink()
