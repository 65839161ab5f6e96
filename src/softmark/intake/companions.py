"""What is kept beside the graded file: plain modules and small data that it may import or open, nothing else.

Left out, whatever is in them: files that steer pytest or Python, hidden files, names that are not plain, and modules
that hide a module of Python or of an installed library.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.machinery import PathFinder
from pathlib import PurePath

from softmark.intake.definitions import invisible
from softmark.intake.gather import Found
from softmark.intake.location import FILE
from softmark.intake.names import is_plain, key, show
from softmark.intake.source import Refusal, refuse_too_much_code

MOST_READ, MOST_BYTES, MOST_NAMED = 60, 20_000_000, 8
_STEERING = {
    "conftest.py", "pytest.ini", "pytest.toml", "pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "noxfile.py",
    "sitecustomize.py", "usercustomize.py", "__main__.py",
}  # fmt: skip
_DATA = {".csv", ".tsv", ".txt", ".json", ".npy", ".npz", ".pt", ".pth", ".safetensors"}


@dataclass
class Beside:
    """The files that are kept, and what is said about the others."""

    files: dict[str, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    staff_notes: list[str] = field(default_factory=list)


def beside(main: Found, graded_as: str, files: Sequence[Found]) -> Beside:
    """What lies in the folder of the graded file, or in folders of that."""
    kept, folder = Beside(), main.path[:-1]
    hiding: list[str] = []
    taken, room, to_read = {key(graded_as)}, MOST_BYTES, MOST_READ
    for found in files:
        inner = found.path[len(folder) :]
        if found is main:
            continue
        if found.path[: len(folder)] != folder or not _is_welcome(inner, graded_as) or found.item.kind != FILE:
            kept.left_out.append(found.shown)
        elif found.name.endswith(".py") and (whose := _hides(inner[0])):
            hiding.append(f"your file {found.shown} hides the {whose} module of that name, so it was left out")
        elif to_read == 0 or not _is_free(inner, taken):
            kept.left_out.append(found.shown)
        else:
            to_read -= 1
            room -= _keep(kept, found, "/".join(inner), room)
            taken.add(key("/".join(inner)))
    more = len(hiding) - MOST_NAMED
    kept.notes += [*hiding[:MOST_NAMED], *([f"{more} more of your files hide modules, too"] if more > 0 else [])]
    return kept


def _keep(kept: Beside, found: Found, name: str, room: int) -> int:
    """Reads one file; what cannot be read is left out, for the graded file may well do without it."""
    try:
        content = found.read()
        if name.endswith(".py"):
            refuse_too_much_code([content])
    except Refusal as why:
        kept.left_out.append(f"{found.shown} ({why})")
        return 0
    if len(content) > room:
        kept.left_out.append(f"{found.shown} (all files together are larger than {MOST_BYTES // 1_000_000} MB)")
        return 0
    kept.files[name] = content
    if name.endswith(".py"):
        kept.staff_notes += invisible(name, content)
    return len(content)


def _is_welcome(path: tuple[str, ...], graded_as: str) -> bool:
    name = path[-1]
    if not all(map(is_plain, path)) or key(name) in _STEERING:
        return False
    if name.endswith(".py"):
        return len(path) == 1 or path[0] != PurePath(graded_as).stem  # not a package `hw/` beside `hw.py`
    return PurePath(name).suffix.casefold() in _DATA


def _is_free(path: tuple[str, ...], taken: set[str]) -> bool:
    """Whether no other file has this name, or a folder's name that is on the way to it."""
    return not any(key("/".join(path[:depth])) in taken for depth in range(1, len(path) + 1))


def _hides(name: str) -> str:
    """Whose module a file or folder of this name would stand in for: "standard", "installed", or nobody's."""
    module = name.removesuffix(".py")
    if module in sys.stdlib_module_names:
        return "standard"
    installed = [folder for folder in sys.path if folder.endswith("-packages")]
    return "installed" if module == "softmark" or PathFinder.find_spec(module, installed) else ""


def summary(left_out: Sequence[str]) -> tuple[str, ...]:
    """One note for staff on everything that was not used."""
    if not left_out:
        return ()
    more = f" and {len(left_out) - 10} more" if len(left_out) > 10 else ""
    return (f"left out: {', '.join(map(show, left_out[:10]))}{more}",)
