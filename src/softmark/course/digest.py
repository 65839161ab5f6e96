"""Finds the versions and file digests that a grading depends on.

Does not import torch, so that a run can skip unchanged submissions quickly.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path

import msgspec

from softmark.course.homework import Homework
from softmark.records.result import Provenance

SOFTWARE = ("softmark", "softmark_sha256", "torch", "numpy", "python", "pytest", "gradescope_utils")
"""The fields of a Provenance that name software. The others say with which tests it was graded, and where."""


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
