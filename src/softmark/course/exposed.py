"""Tells whether other users of this machine can read hidden tests or solutions."""

from __future__ import annotations

import shlex
import stat
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from softmark.course.homework import Homework


def exposed(homeworks: Iterable[Homework]) -> str:
    """Return a sentence with the command that closes what others can read; empty if they can read nothing.

    Only the rights of files and folders tell: nobody knows here who else has an account. In the images that
    docker/Dockerfile makes, all of it is closed.
    """
    open_to_others: dict[Path, list[Path]] = {}
    reachable = cache(_reachable_by_others)
    for homework in homeworks:
        for file in homework.secrets.values():
            if _readable_by_others(file.resolve(), reachable):
                top = homework.root / file.relative_to(homework.root).parts[0]
                open_to_others.setdefault(top, []).append(file)
    if not open_to_others:
        return ""
    names = " and ".join(f"{folder.name}/" for folder in open_to_others)
    number = sum(map(len, open_to_others.values()))
    files = "1 file" if number == 1 else f"{number} files"
    command = f"chmod -R o= {' '.join(shlex.quote(str(folder)) for folder in open_to_others)}"
    return f"other users of this machine can read {files} of {names}, where hidden tests and solutions are: {command}"


def _readable_by_others(file: Path, reachable: Callable[[Path], bool]) -> bool:
    try:
        return bool(file.stat().st_mode & stat.S_IROTH) and reachable(file.parent)
    except OSError:  # it is gone, or nobody may look at it
        return False


def _reachable_by_others(folder: Path) -> bool:
    return all(place.stat().st_mode & stat.S_IXOTH for place in (folder, *folder.parents))
