"""Makes a worker's private directory, fills it with the submission's files, and deletes it without trust.

The student's code owns its contents, and may have filled it with links, a million files, a thousand nested directories
or names that are not text. So deleting uses directory descriptors and byte names, follows no link and does not recurse.
disk.py counts the files in it while the worker lives.

A signal that stops this process may come at any line, also before the caller holds the root that was just made. So
every process keeps a list of its own roots, and at its end it deletes those that nobody has closed.

A run holds a lock on its root, which the kernel releases however the run ends. So the next run recognises the root of a
killed run, and deletes it.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import os
import secrets
import shutil
import signal
import stat
import tempfile
import time
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from softmark.sandbox.machine import temporary_directory

_CAN_LOCK = find_spec("fcntl") is not None and os.open in os.supports_dir_fd and os.listdir in os.supports_fd
"""Without it, as on Windows, a directory cannot be opened: it cannot be locked, and is deleted by its name."""
_DIRECTORY = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_DIRECTORY", "O_NOFOLLOW", "O_CLOEXEC"))
_PREFIX = "softmark-scratch-"
_STOPS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGALRM") if hasattr(signal, name)]
_LONGEST_RUN = 7 * 86400  # seconds
_open_roots: list[ScratchRoot] = []
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_NEW_FILE |= sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_CLOEXEC", "O_BINARY"))


class ScratchRoot:
    """The directory that holds the scratch directories of one run; only its owner can list it."""

    def __init__(self) -> None:
        _clear_what_was_left()
        with _undisturbed():
            self.path, self._lock = _made_and_locked()
            self._owner = os.getpid()
            _open_roots.append(self)
        self.path.chmod(0o711)  # each worker passes through to its own directory, and cannot list the others

    def make(self, files: Mapping[str, bytes], uid: int | None) -> Path:
        """Make a directory with `files` in it, owned by `uid` (None: by this process's own user)."""
        directory = self.path / secrets.token_hex(8)
        directory.mkdir(mode=0o700)
        folders = [directory]
        for name, content in files.items():
            target = directory / name
            folders += _make_parents(directory, target.parent)
            descriptor = os.open(target, _NEW_FILE, 0o600)
            with open(descriptor, "wb") as file:
                file.write(content)
                if uid is not None:
                    os.fchown(descriptor, uid, uid)
        for folder in reversed(folders):
            mark(folder)
            if uid is not None:
                os.chown(folder, uid, uid)  # the outermost last: until then the user cannot reach the inside
        return directory

    def close(self) -> None:
        """Delete it. If a process still writes there, this raises OSError, and the end of this process tries again."""
        with _undisturbed():
            if self in _open_roots:
                remove(self.path)
                if self._lock is not None:
                    os.close(self._lock)
                _open_roots.remove(self)

    @property
    def is_own(self) -> bool:
        """Return True if this process has made it; a fork of that process has the same list."""
        return self._owner == os.getpid()


@atexit.register
def close_open_roots() -> None:
    """Delete the roots of this process that are still open. A process that ends by os._exit calls this before."""
    with _undisturbed():
        for root in [root for root in _open_roots if root.is_own]:
            with contextlib.suppress(OSError):  # a process that writes there is just ending; the next run deletes it
                root.close()


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Delay signals that ask this process to stop until the end of this block, where the system can delay them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def mark(directory: Path) -> None:
    """Date a directory to 1970, so that every later change in it shows (disk.py). A worker cannot set times."""
    os.utime(directory, ns=(0, 0))


def _made_and_locked() -> tuple[Path, int | None]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=temporary_directory()))
        if not _CAN_LOCK:
            return path, None
        lock = _lock(path)
        if lock is not None and path.exists():
            return path, lock
        if lock is not None:
            os.close(lock)  # another run has deleted it as a leftover before it was locked


def _clear_what_was_left() -> None:
    for path in Path(temporary_directory()).glob(f"{_PREFIX}*"):
        if not _CAN_LOCK:
            _remove_if_old(path)
            continue
        lock = _lock(path)
        if lock is None:
            continue
        try:
            remove(path)
        except OSError:
            continue  # a process that writes there is just ending; the next run deletes it
        finally:
            os.close(lock)


def _remove_if_old(path: Path) -> None:
    """Delete a directory that is older than any run, because nothing else tells that nobody uses it."""
    with contextlib.suppress(OSError):
        if path.stat().st_mtime < time.time() - _LONGEST_RUN:
            _remove_by_name(path)


def _lock(path: Path) -> int | None:
    """Lock a directory of this user's. Return None if a living run holds it, it is gone, or it is another user's."""
    fcntl = importlib.import_module("fcntl")  # not every system has it
    try:
        descriptor = os.open(path, _DIRECTORY)
    except OSError:
        return None
    try:
        if os.fstat(descriptor).st_uid == os.geteuid():
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
    except BlockingIOError:
        pass
    os.close(descriptor)
    return None


def _make_parents(top: Path, directory: Path) -> list[Path]:
    """Make a directory and its parents below `top`; return the new ones, the outermost first."""
    if directory == top or directory.is_dir():
        return []
    above = _make_parents(top, directory.parent)
    directory.mkdir(mode=0o700)
    return [*above, directory]


def remove(directory: Path) -> None:
    """Delete a tree, even if its owner has made that as hard as possible.

    A nested directory is moved to the top before it is emptied, so a tree of any depth needs two open descriptors and
    no recursion.
    """
    if not _CAN_LOCK:
        _remove_by_name(directory)
        return
    try:
        _open_up(None, os.fsencode(directory))
        top = os.open(directory, _DIRECTORY)
    except FileNotFoundError:
        return  # another program has cleaned the temporary directory
    try:
        pending = True
        while pending:
            pending = False
            for name in os.listdir(top):
                pending |= _remove_entry(top, os.fsencode(name))
    finally:
        os.close(top)
    os.rmdir(directory)


def _remove_by_name(directory: Path) -> None:
    """Delete a tree where directories cannot be opened. A file that is closed to its owner is opened up first."""

    def open_up(function: Any, path: str, _error: object) -> None:
        os.chmod(path, 0o700)
        function(path)

    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(directory, onerror=open_up)


def _remove_entry(top: int, name: bytes) -> bool:
    """Delete one entry of `top`; return whether directories were moved up, so that another pass is needed."""
    if not stat.S_ISDIR(os.stat(name, dir_fd=top, follow_symlinks=False).st_mode):
        os.unlink(name, dir_fd=top)
        return False
    inner = _open_directory(top, name)
    moved = False
    try:
        for child in os.listdir(inner):
            child_name = os.fsencode(child)
            if stat.S_ISDIR(os.stat(child_name, dir_fd=inner, follow_symlinks=False).st_mode):
                _open_up(inner, child_name)
                os.rename(child_name, secrets.token_hex(16).encode(), src_dir_fd=inner, dst_dir_fd=top)
                moved = True
            else:
                os.unlink(child_name, dir_fd=inner)
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=top)
    return moved


def _open_directory(parent: int, name: bytes) -> int:
    _open_up(parent, name)
    return os.open(name, _DIRECTORY, dir_fd=parent)


def _open_up(parent: int | None, name: bytes) -> None:
    """Give this user access to a directory whose owner took it away. Root has access anyway."""
    if os.geteuid() != 0:
        os.chmod(name, 0o700, dir_fd=parent)
