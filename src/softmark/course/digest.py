"""Finds the versions and file digests that a grading depends on.

Does not import torch, so that a run can skip unchanged submissions quickly.
"""

from __future__ import annotations

import hashlib
import platform
import shlex
import stat
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path

import msgspec

from softmark.course.homework import Homework
from softmark.records.result import Provenance

SOFTWARE = ("softmark", "softmark_sha256", "torch", "numpy", "python", "pytest", "gradescope_utils")
"""The fields of a Provenance that say by what it was graded; the others say with which tests, and where."""


def provenance(homework: Homework, isolation: str, device: str = "cpu") -> Provenance:
    """Return the versions on this machine, and digests of the hidden tests and the reference."""
    return Provenance(
        isolation=isolation,
        device=_described(device),
        softmark=version("softmark"),
        softmark_sha256=package_digest(),
        torch=version("torch"),
        numpy=version("numpy"),
        python=platform.python_version(),
        pytest=version("pytest"),
        gradescope_utils=version("gradescope-utils"),
        tests_sha256=_hash({name: file for name, file in homework.secrets.items() if file != homework.reference}),
        reference_sha256=_hash({name: file for name, file in homework.secrets.items() if file == homework.reference}),
    )


@cache
def package_digest() -> str:
    """Return a digest of softmark's own files: its version says nothing of a change in a checkout."""
    package = Path(__file__).resolve().parents[1]
    files = {file.relative_to(package).as_posix(): file for file in package.rglob("*") if file.is_file()}
    return _hash({name: files[name] for name in sorted(files) if "__pycache__" not in name})


def software_of(graded_with: Provenance) -> dict[str, str]:
    """Return the version or digest of each piece of software that it was graded with."""
    return {name: getattr(graded_with, name) for name in SOFTWARE}


def software_digest(graded_with: Provenance) -> str:
    """Return a short text that changes whenever any of the software does."""
    return hashlib.sha256(msgspec.json.encode(software_of(graded_with))).hexdigest()[:16]


def _described(device: str) -> str:
    """Return the device with what is set on it."""
    return f"{device}, without TF32, deterministic" if device.startswith("cuda") else device


def _hash(files: Mapping[str, Path]) -> str:
    digest = hashlib.sha256()
    for name, file in files.items():
        digest.update(name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()


def exposed(homeworks: Iterable[Homework]) -> str:
    """Return a sentence with the command that closes hidden files to other users; empty if they can read none.

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
