"""Replaces a file in one step: whoever reads it finds the old content or the new, and never a half."""

import errno
import os
import secrets
from collections.abc import Callable
from pathlib import Path


def replace_file(path: Path, data: bytes, check: Callable[[bytes], None]) -> None:
    """Puts `data` at `path`: written beside it, made durable, read back and checked, then renamed.

    If anything goes wrong, what was at `path` before is still there, and nothing else is.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(beside, flags, 0o600)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            file.seek(0)
            check(file.read())
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
