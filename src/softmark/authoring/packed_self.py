"""Packs the softmark that is running into a wheel, and finds the scripts that go with it to Gradescope.

In a checkout hatchling builds the wheel, as pyproject.toml says. An installed softmark is packed from its own files: a
wheel is a zip of them with a list of their digests. Either way the same files give the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from importlib.metadata import distribution
from pathlib import Path

from softmark.feedback.fixed_zip import zipped
from softmark.records.errors import UsageError

_EPOCH_SECONDS = "315532800"
_SCRIPTS = {"setup.sh": "docker/setup.sh", "run_autograder": "docker/run_autograder"}
_OTHERS = {"constraints.txt": "constraints.txt"}
_OF_AN_INSTALLATION = {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"}


def scripts() -> dict[str, bytes]:
    """Return the scripts that Gradescope runs and the versions of the libraries, with Unix line ends."""
    checkout = _checkout()
    installed = Path(__file__).with_name("gradescope")
    files = {}
    for name, path in {**_SCRIPTS, **_OTHERS}.items():
        file = installed / name if checkout is None else checkout / path
        if not file.is_file():
            raise UsageError(
                f"this softmark cannot make a bundle, because it lacks {file}: install it anew from a wheel"
            )
        files[name] = file.read_bytes().replace(b"\r\n", b"\n")
    return files


def wheel() -> tuple[str, bytes]:
    """Return name and content of a wheel of this softmark."""
    checkout = _checkout()
    return _of_this_installation() if checkout is None else _built(checkout)


def archived(files: Mapping[str, bytes], executable: tuple[str, ...] = ()) -> bytes:
    """Return a compressed zip of the files, sorted by name, that is the same whenever it is made."""
    return zipped(dict(sorted(files.items())), executable, zipfile.ZIP_DEFLATED)


def _checkout() -> Path | None:
    """Return the checkout that this module lies in; None if softmark is installed."""
    checkout = Path(__file__).resolve().parents[3]
    return checkout if (checkout / "docker" / "setup.sh").is_file() else None


def _built(checkout: Path) -> tuple[str, bytes]:
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
        return wheels[0].name, wheels[0].read_bytes()


def _of_this_installation() -> tuple[str, bytes]:
    package = Path(__file__).resolve().parents[1]
    own = distribution("softmark")
    about = f"softmark-{own.version}.dist-info"
    files = {f"softmark/{file.relative_to(package).as_posix()}": file for file in package.rglob("*") if file.is_file()}
    for file in own.files or ():
        if file.parts[0] == about and file.name not in _OF_AN_INSTALLATION:
            files[file.as_posix()] = Path(str(own.locate_file(file)))
    if f"{about}/WHEEL" not in files or not files[f"{about}/WHEEL"].is_file():
        raise UsageError("this softmark cannot be packed, because it was not installed from a wheel: use pip")
    contents = {name: file.read_bytes() for name, file in files.items() if "__pycache__" not in name}
    record = [f"{name},sha256={_digest(content)},{len(content)}" for name, content in sorted(contents.items())]
    contents[f"{about}/RECORD"] = "\n".join([*record, f"{about}/RECORD,,", ""]).encode()
    return f"softmark-{own.version}-py3-none-any.whl", archived(contents)


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
