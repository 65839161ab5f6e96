"""Replaces a file in one step: whoever reads it finds the old content or the new, and never a half."""

import errno
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from softmark.grading.errors import UsageError


def replace_file(path: Path, data: bytes, check: Callable[[bytes], None]) -> None:
    """Puts `data` at `path`, after it has been read back and checked."""
    with replacement(path) as file:
        file.write(data)
        file.flush()
        file.seek(0)
        check(file.read())


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """What goes wrong with the folder is told with the next step."""
    try:
        yield
    except OSError as error:
        why = f"results cannot be written to {folder}: {error.strerror}"
        raise UsageError(f"{why}; choose another folder with -o") from None


@contextmanager
def replacement(path: Path) -> Iterator[BinaryIO]:
    """A file to write to that takes the place of `path` at the end: made beside it, made durable, then renamed.

    If anything goes wrong, what was at `path` before is still there, and nothing else is.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(beside, flags, 0o600)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _make_durable(path.parent)


def _make_durable(folder: Path) -> None:
    """The rename itself must survive a power cut; some systems (Windows, network folders) know no way."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)
