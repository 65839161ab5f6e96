"""Keeps results closed to other users, whatever the umask is: folders have the mode 0700, files 0600."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from pathlib import Path

_OURS = re.compile(r"gradebook\.sqlite.*|submissions|.*\.csv|\..*\.part")
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def private_folder(folder: Path) -> None:
    """Make a folder that is closed to others, if it is not there; the folders above it are made as usual."""
    folder.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
    close_to_others(folder)


def results_folder(folder: Path) -> None:
    """Make a folder for results that is closed to others; one that holds other things as well keeps its rights."""
    if not folder.is_dir() or all(_OURS.fullmatch(path.name) for path in folder.iterdir()):
        private_folder(folder)


def private_file(file: Path) -> None:
    """Make an empty file that is closed to others, if it is not there."""
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), stat.S_IRUSR | stat.S_IWUSR))
    close_to_others(file)


def close_tree(folder: Path) -> None:
    """Close a folder that an older version made, and everything in it; one that is closed was closed as a whole."""
    if folder.is_dir() and is_open_to_others(folder):
        for place, _, files in os.walk(folder):
            for path in (Path(place), *(Path(place, name) for name in files)):
                close_to_others(path)


def close_to_others(path: Path) -> None:
    """Take every right from group and others; a path of somebody else's stays as it is."""
    if is_open_to_others(path):
        with suppress(PermissionError):
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~_OTHERS)


def is_open_to_others(path: Path) -> bool:
    """Return whether group or others have any right on a path itself; a link has none of its own."""
    return not path.is_symlink() and bool(path.stat().st_mode & _OTHERS)
