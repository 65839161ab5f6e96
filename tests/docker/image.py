"""The image of docker/Dockerfile, built for tests as a clean clone would build it, and containers of it.

Everything comes from a wheelhouse that is kept beside the base image, so the build needs no network and the hashes of
what goes in are checked. The homework in the image is the one whose `softmark verify` is quickest.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.docker.engine import CACHE, ROOT, Docker

HOMEWORK = "positional_encoding"
NAME = "softmark-test:autograder"
_BUILD_SECONDS = 900


@dataclass(frozen=True)
class Image:
    """The built image, and what its build said."""

    docker: Docker
    log: str

    @contextmanager
    def container(self, *options: str) -> Iterator[Container]:
        """A container that runs until it is left, and does nothing of its own."""
        started = self.docker.client("run", "--detach", "--network=none", *options, NAME, "sleep", "infinity")
        assert started.returncode == 0, started.stderr
        name = started.stdout.strip()
        try:
            yield Container(self.docker, name)
        finally:
            self.docker.client("rm", "--force", "--volumes", name)


@dataclass(frozen=True)
class Container:
    docker: Docker
    name: str

    def run(self, *command: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        return self.docker.client("exec", *options, self.name, *command)

    def python(self, source: str) -> str:
        """What a program prints."""
        done = self.run("/opt/softmark/bin/python", "-c", source)
        assert done.returncode == 0, done.stderr
        return done.stdout


@contextmanager
def built(docker: Docker, **arguments: str) -> Iterator[Image]:
    """The image; taken away again from an engine that is not this test run's own."""
    with tempfile.TemporaryDirectory(prefix="softmark-context-", dir="/var/tmp") as place:
        context = Path(place)
        _clone(context)
        _copy(wheelhouse(), context / "wheelhouse")
        given = {"BASE": docker.image, "HOMEWORK": HOMEWORK, **arguments}
        done = docker.client(
            *("build", "--network=none", "--force-rm", "--label=softmark-test", f"--tag={NAME}"),
            *(f"--build-arg={name}={value}" for name, value in given.items()),
            *(f"--file={context}/docker/Dockerfile", str(context)),
            seconds=_BUILD_SECONDS,
        )
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    try:
        yield Image(docker, done.stdout)
    finally:
        if docker.host is None:
            docker.client("image", "rm", "--force", NAME)
            docker.client("image", "prune", "--force", "--filter=label=softmark-test")


def wheelhouse() -> Path:
    """A wheelhouse for this state of the dependencies; made on first use."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    asked = project["project"]["dependencies"] + project["build-system"]["requires"]
    state = "\n".join(asked) + (ROOT / "constraints.txt").read_text()
    made = CACHE / f"wheelhouse-{hashlib.sha256(state.encode()).hexdigest()[:16]}"
    if not made.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="wheelhouse-", dir=CACHE) as place:
            subprocess.run([ROOT / "docker/make-wheelhouse", f"{place}/made"], check=True, capture_output=True)
            os.replace(f"{place}/made", made)
    return made


def _clone(place: Path) -> None:
    """What git knows of, as it stands here: no build result, no file that only this machine has."""
    known = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "--null", "-T-", "-cf", f"{place}.tar"], cwd=ROOT, input=known, check=True)
    try:
        subprocess.run(["tar", "-C", place, "-xf", f"{place}.tar"], check=True)
    finally:
        Path(f"{place}.tar").unlink()


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "--recursive", "--reflink=auto", source, target], check=True)
