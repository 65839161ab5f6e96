"""With what a submission is graded: known without importing torch, so that a run can tell what it need not repeat."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from softmark.grading.device import CPU, described
from softmark.grading.homework import Homework
from softmark.grading.result import Provenance


def provenance(homework: Homework, isolation: str, device: str = CPU) -> Provenance:
    """The versions on this machine, and the state of the hidden tests and the reference."""
    return Provenance(
        isolation=isolation,
        device=described(device),
        softmark=version("softmark"),
        torch=version("torch"),
        python=platform.python_version(),
        tests_sha256=_hash({name: file for name, file in homework.secrets.items() if file != homework.reference}),
        reference_sha256=_hash({name: file for name, file in homework.secrets.items() if file == homework.reference}),
    )


def _hash(files: Mapping[str, Path]) -> str:
    digest = hashlib.sha256()
    for name, file in files.items():
        digest.update(name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()
