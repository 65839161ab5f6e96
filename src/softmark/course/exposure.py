"""Finds hidden tests and references that other people on this machine can read."""

from __future__ import annotations

import os
import pwd
import shlex
import stat
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from softmark.course.homework import Homework

_PEOPLE = range(500, 60_000)
"""The user ids that systems give to people."""
_NAME_SERVICES = Path("/etc/nsswitch.conf")
_LOCAL = {"files", "compat", "db", "systemd"}


def exposed(homeworks: Iterable[Homework]) -> str:
    """Return a sentence with the command that closes hidden files to other users; empty if they can read none.

    The rights of files and folders tell whether they can, and the accounts of this machine whether there are others.
    """
    open_to_others: dict[Path, list[Path]] = {}
    reachable = cache(_reachable_by_others)
    for homework in homeworks if _has_other_people() else ():
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


def _has_other_people() -> bool:
    """Return whether anybody but the user may log in here.

    A person has an account of this machine with a shell and with a home of their own. Under sudo the user is the one
    who called it. Accounts of a network are not listed, so such a machine is taken to have other people.
    """
    user = int(os.environ.get("SUDO_UID", os.getuid()))
    return _asks_a_network() or any(
        account.pw_uid in _PEOPLE and account.pw_uid != user and _is_home_of(account) for account in pwd.getpwall()
    )


def _is_home_of(account: pwd.struct_passwd) -> bool:
    if Path(account.pw_shell).name in ("nologin", "false"):
        return False
    try:
        return os.stat(account.pw_dir).st_uid == account.pw_uid
    except OSError:
        return False


def _asks_a_network() -> bool:
    """Return whether names of users are looked up elsewhere, too."""
    try:
        lines = [line.split() for line in _NAME_SERVICES.read_text(encoding="utf-8").splitlines()]
    except OSError:
        return False
    return any(line[:1] == ["passwd:"] and not _LOCAL.issuperset(line[1:]) for line in lines)


def _readable_by_others(file: Path, reachable: Callable[[Path], bool]) -> bool:
    try:
        return bool(file.stat().st_mode & stat.S_IROTH) and reachable(file.parent)
    except OSError:  # it is gone, or nobody may look at it
        return False


def _reachable_by_others(folder: Path) -> bool:
    return all(place.stat().st_mode & stat.S_IXOTH for place in (folder, *folder.parents))
