"""A Docker engine for tests, and an image in which softmark runs.

The engine is the one that answers already, or else one started here that keeps everything to itself: its socket, its
images, no bridge and no firewall rules, so that two test runs on one machine never meet.

The image is the bare system of this machine's release with its Python, made once by debootstrap and kept as an archive.
Softmark is not copied in: this repository and its .venv are mounted read-only at their own place, where the link
.venv/bin/python finds the image's interpreter, which is of the same release as this machine's.
"""

from __future__ import annotations

import os
import platform
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CACHE = Path("/var/cache/softmark-test")
SOFTMARK = str(Path(sys.executable).with_name("softmark"))
_START_SECONDS = 60
_RUN_SECONDS = 240
_NOT_NEEDED = ("--exclude=./var/cache/apt/archives/*.deb", "--exclude=./var/lib/apt/lists/*")


class Unavailable(Exception):
    """There is no engine here, and none can be started; the text says why."""


@dataclass(frozen=True)
class Docker:
    """An engine that answers; `host` is where, None for the client's own choice."""

    host: str | None = None
    image: str = f"softmark-test:{platform.freedesktop_os_release()['VERSION_CODENAME']}"

    def answers(self) -> bool:
        return shutil.which("docker") is not None and self.client("version").returncode == 0

    def run(self, *command: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        """One command in a fresh, unprivileged container, as root if no option says otherwise."""
        mounts = (f"--volume={place}:{place}:ro" for place in _mounted())
        limited = ("timeout", str(_RUN_SECONDS), *command)
        return self.client("run", "--rm", *mounts, f"--workdir={ROOT}", *options, self.image, *limited)

    def prepare(self) -> None:
        """Make sure that the image is there."""
        if self.client("image", "inspect", self.image).returncode == 0:
            return
        done = self.client("import", str(_archive()), self.image)
        if done.returncode != 0:
            raise RuntimeError(f"the base image cannot be imported: {done.stderr}")

    def client(
        self, *arguments: str, seconds: float = _RUN_SECONDS + _START_SECONDS
    ) -> subprocess.CompletedProcess[str]:
        """One command of Docker's own client."""
        where = () if self.host is None else ("--host", self.host)
        return subprocess.run(
            ("docker", *where, *arguments), capture_output=True, text=True, check=False, timeout=seconds
        )


@contextmanager
def engine() -> Iterator[Docker]:
    """An engine with the image in it; Unavailable if there is none to be had."""
    docker = Docker()
    if docker.answers():
        docker.prepare()
        yield docker
        return
    if os.geteuid() != 0:
        raise Unavailable("no Docker engine answers this user, and only root can start one")
    missing = [name for name in ("docker", "dockerd") if shutil.which(name) is None]
    if missing:
        raise Unavailable(f"no Docker engine answers, and none can be started: {' and '.join(missing)} not installed")
    with _started() as docker:
        docker.prepare()
        yield docker


@contextmanager
def _started() -> Iterator[Docker]:
    with (
        tempfile.TemporaryDirectory(prefix="softmark-engine-", dir="/var/tmp") as place,  # a disk: /tmp may be memory
        open(f"{place}/log", "w") as log,
        _notification(f"{place}/ready") as ready,
    ):
        process = subprocess.Popen(
            [
                *("setpriv", "--pdeathsig=TERM"),  # or it would outlive a test run that is killed
                *("dockerd", f"--host=unix://{place}/socket", f"--pidfile={place}/pid", f"--data-root={place}/data"),
                *(f"--exec-root={place}/exec", "--bridge=none", "--iptables=false"),
            ],
            env={**os.environ, "NOTIFY_SOCKET": f"{place}/ready"}, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            _await_ready(process, ready, Path(place, "log"))
            yield Docker(f"unix://{place}/socket")
        finally:
            process.terminate()
            process.wait(_START_SECONDS)


@contextmanager
def _notification(path: str) -> Iterator[socket.socket]:
    """Where a daemon says that it is ready, in the way of systemd."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        end.bind(path)
        yield end


def _await_ready(process: subprocess.Popen[bytes], ready: socket.socket, log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    ended = os.pidfd_open(process.pid)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(ready, selectors.EVENT_READ)
            selector.register(ended, selectors.EVENT_READ)
            while events := selector.select(max(0.0, deadline - time.monotonic())):
                if any(key.fd == ended for key, _ in events):
                    break
                if b"READY=1" in ready.recv(4096):
                    return
    finally:
        os.close(ended)
    raise RuntimeError("dockerd did not start: " + "\n".join(log.read_text().splitlines()[-5:]))


def _mounted() -> list[Path]:
    """This repository, the environment softmark is installed in, and an interpreter that is not the system's."""
    places = [ROOT]
    for prefix in (Path(sys.prefix), Path(sys.base_prefix)):
        if prefix != Path("/usr") and not any(prefix.is_relative_to(place) for place in places):
            places.append(prefix)
    return places


def _archive() -> Path:
    """The root file system of the base image; made on first use."""
    release = Docker.image.rpartition(":")[2]
    archive = CACHE / f"{release}.tar"
    if archive.exists():
        return archive
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        raise Unavailable("the base image has to be made first: by root, with debootstrap")
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="base-", dir=CACHE) as place:
        tree, packed = f"{place}/tree", f"{place}/packed.tar"
        _succeed("debootstrap", "--variant=minbase", "--include=python3", release, tree)
        _succeed("tar", "-C", tree, *_NOT_NEEDED, "-cf", packed, ".")
        os.replace(packed, archive)
    return archive


def _succeed(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]} failed: {(done.stdout + done.stderr)[-1000:]}")
