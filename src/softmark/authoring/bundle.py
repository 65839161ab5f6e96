"""The zip that an instructor uploads to Gradescope: one homework, and everything that grades it.

It is made from a checkout: the wheel of softmark, the homework's hidden tests and its reference (and no other's), the
versions of the libraries, and the two scripts that the platform runs. The same checkout gives the same bytes.
"""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path

import msgspec

from softmark.authoring.proof import Proof, prove
from softmark.grading.errors import UsageError
from softmark.grading.homework import Homework
from softmark.grading.provenance import provenance

SCRIPTS = ("setup.sh", "run_autograder")
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file, in the wheel and in the bundle: the first that a zip knows."""
_EPOCH_SECONDS = "315532800"
_TIMEOUT = "\nTIMEOUT={} "
_SPARED_SECONDS = 60
"""How much earlier than the platform a run ends itself."""
DEFAULT_MINUTES, MOST_MINUTES = 10, 40
"""The platform's timeout, and the longest it can be set to."""


def bundle(homework: Homework, minutes: int, torch_index: str | None) -> bytes:
    """The zip, for a timeout of the platform of so many minutes; UsageError where it cannot be made."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sorted(_files(homework, minutes, torch_index).items()):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = 3  # Unix: the rights below are read as such, wherever this runs
            entry.external_attr = (stat.S_IFREG | (0o755 if name in SCRIPTS else 0o644)) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return packed.getvalue()


def proved(homework: Homework, jobs: int) -> Proof | None:
    """The proof that its graders grade; None if it was found before, for just these files, that they do."""
    known = _cache() / _fingerprint(homework)
    if known.exists():
        return None
    (proof,) = prove([homework], jobs)
    if proof.ok:
        known.parent.mkdir(parents=True, exist_ok=True)
        known.touch()
    return proof


def form(homework: Homework, minutes: int) -> Iterator[tuple[str, str]]:
    """What to type into the platform's forms, field by field."""
    yield "Autograder points", f"{float(homework.points):g}"
    yield "Base image", "Ubuntu 22.04, variant Base"
    yield "Container specifications", "0.5 CPU, 0.75GB RAM"
    yield "Autograder timeout", f"{minutes} minutes"


def _files(homework: Homework, minutes: int, torch_index: str | None) -> Mapping[str, bytes]:
    checkout = _checkout()
    scripts = {name: _unix((checkout / "docker" / name).read_bytes()) for name in SCRIPTS}
    default, chosen = (_TIMEOUT.format(60 * m - _SPARED_SECONDS).encode() for m in (DEFAULT_MINUTES, minutes))
    files = {**scripts, "run_autograder": scripts["run_autograder"].replace(default, chosen)}
    if torch_index is not None:
        files["torch-index"] = f"{torch_index}\n".encode()
    files["constraints.txt"] = _unix((checkout / "constraints.txt").read_bytes())
    files.update({name: file.read_bytes() for name, file in homework.secrets.items()})
    return {**files, **_wheel(checkout)}


def _wheel(checkout: Path) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", place],
            cwd=checkout, env={**os.environ, "SOURCE_DATE_EPOCH": _EPOCH_SECONDS},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        wheels = list(Path(place).glob("*.whl"))
        if done.returncode != 0 or len(wheels) != 1:
            why = (done.stderr.strip().splitlines() or ["nothing was built"])[-1]
            raise UsageError(f"the wheel of softmark cannot be built ({why}): install hatchling, as `make setup` does")
        return {wheels[0].name: wheels[0].read_bytes()}


def _checkout() -> Path:
    checkout = Path(__file__).resolve().parents[3]
    if not (checkout / "docker" / SCRIPTS[0]).is_file():
        raise UsageError(
            "a bundle is made from a checkout of softmark: run its .venv/bin/softmark, as `make setup` makes"
        )
    return checkout


def _unix(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n")


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "softmark" / "verified"


def _fingerprint(homework: Homework) -> str:
    """Return a digest of all that a proof depends on: the homework, softmark's own files, the libraries' versions."""
    return hashlib.sha256(msgspec.json.encode(provenance(homework, ""))).hexdigest()
