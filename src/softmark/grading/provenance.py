"""With what a submission is graded: known without importing torch, so that a run can tell what it need not repeat."""

from __future__ import annotations

import hashlib
import platform
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
        tests_sha256=_hash(sorted(homework.folder.glob("*.[pt]*"))),
        reference_sha256=_hash([homework.reference]),
    )


def _hash(files: list[Path]) -> str:
    digest = hashlib.sha256()
    for file in files:
        if file.is_file():  # tests may do without a reference, and a tool may have left a folder of its own
            digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()
