"""Makes the zip that an instructor uploads to Gradescope: one homework, and everything that grades it.

It holds a wheel of softmark, the homework's hidden tests and its reference (and no other homework's), the versions of
the libraries, and the two scripts that the platform runs. The same softmark and the same homework give the same bytes.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from softmark.authoring.packed_self import archived, scripts, wheel
from softmark.authoring.verification import Verification, verify_homeworks
from softmark.course.digest import provenance
from softmark.course.homework import Homework
from softmark.records.errors import UsageError

SCRIPTS = ("setup.sh", "run_autograder")
_TIMEOUT = "\nTIMEOUT={} "
_SPARED_SECONDS = 60
"""A run ends itself so many seconds before the platform does."""
DEFAULT_MINUTES, MOST_MINUTES = 10, 40
"""The platform's timeout, and the longest it can be set to."""
WITHOUT_INDEX = (
    "without --torch-index, Gradescope gets torch from pip's own index: that is the build for CUDA, gigabytes larger, "
    "and setup.sh refuses it. Add --torch-index and the address that PyTorch's installation page shows for the CPU"
)


def bundle(homework: Homework, minutes: int, torch_index: str | None) -> bytes:
    """Return the zip for a timeout of so many minutes. Raise UsageError if it cannot be made."""
    if torch_index is not None and (torch_index.split() != [torch_index] or "://" not in torch_index):
        raise UsageError(
            f"--torch-index {torch_index!r} is no address of a package index, such as https://index.example/cpu"
        )
    return archived(_files(homework, minutes, torch_index), executable=SCRIPTS)


def verified(homework: Homework, jobs: int) -> Verification | None:
    """Return the verification of a homework; None if the same files were verified before without a gap."""
    known = _cache() / _fingerprint(homework)
    if known.exists():
        return None
    (verification,) = verify_homeworks([homework], jobs)
    if verification.ok:
        known.parent.mkdir(parents=True, exist_ok=True)
        known.touch()
    return verification


def form(homework: Homework, minutes: int) -> Iterator[tuple[str, str]]:
    """Yield the fields of the platform's forms, each with what to type into it."""
    yield "Autograder points", f"{float(homework.points):g}"
    yield "Base image", "Ubuntu 22.04, variant Base"
    yield "Container specifications", "0.5 CPU, 0.75GB RAM"
    yield "Autograder timeout", f"{minutes} minutes"


def _files(homework: Homework, minutes: int, torch_index: str | None) -> Mapping[str, bytes]:
    files = scripts()
    default, chosen = (_TIMEOUT.format(60 * m - _SPARED_SECONDS).encode() for m in (DEFAULT_MINUTES, minutes))
    files["run_autograder"] = files["run_autograder"].replace(default, chosen)
    if torch_index is not None:
        files["torch-index"] = f"{torch_index}\n".encode()
    files.update({name: file.read_bytes() for name, file in homework.secrets.items()})
    return dict([*files.items(), wheel()])


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "softmark" / "verified"


def _fingerprint(homework: Homework) -> str:
    """Return a digest of all that a verification depends on: the homework, softmark's files, versions of libraries."""
    return hashlib.sha256(msgspec.json.encode(provenance(homework, ""))).hexdigest()
