"""Runs a program on a real terminal, of which a test reads the screen and presses the keys."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
from pathlib import Path
from types import TracebackType

from tests.conftest import ROOT

SOFTMARK = str(ROOT / ".venv/bin/softmark")
CTRL_C = "\x03"
PATIENCE = 120.0  # seconds on the clock, for a machine that is busy


class Terminal:
    """One run of `softmark`, in a folder, on a terminal without colours."""

    def __init__(self, folder: Path, *words: str, columns: int = 200) -> None:
        settings = {"COLUMNS": str(columns), "NO_COLOR": "1", "TERM": "xterm", "OF_TEST": str(folder)}
        self.pid, self._terminal = pty.fork()
        if self.pid == 0:
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored if the tests themselves run in the background
            os.chdir(folder)
            os.execve(SOFTMARK, ["softmark", *words], {**os.environ, **settings})
        self.shown = ""
        self._seen = 0

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._terminal >= 0:
            os.kill(self.pid, signal.SIGKILL)
            self.end()

    def until(self, text: str) -> str:
        """Wait until this text is shown, and return what was shown since the last time without bold and colours."""
        while text not in self.shown[self._seen :]:
            assert self._read(), f"{text!r} was never shown:\n{self.shown}"
        end = self.shown.index(text, self._seen) + len(text)
        since, self._seen = self.shown[self._seen : end], end
        return re.sub(r"\x1b\[[\d;]*m", "", since)

    def press(self, keys: str) -> None:
        os.write(self._terminal, keys.encode())

    def end(self) -> int:
        """Wait until the program has ended, and return its exit code."""
        while self._read():
            pass
        os.close(self._terminal)
        self._terminal = -1
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def _read(self) -> bool:
        """Read more of what is shown; return whether there was any."""
        assert select.select([self._terminal], [], [], PATIENCE)[0], self.shown
        try:
            chunk = os.read(self._terminal, 65536)
        except OSError:  # as Linux says that nobody has the other end any more
            return False
        self.shown += chunk.decode("utf-8", "replace")
        return bool(chunk)


def left_in(folder: Path) -> list[int]:
    """Return the processes that were started in a folder and still run, wherever they have gone since."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            started = (place / "environ").read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended, or belongs to another user
        if b"OF_TEST=" + os.fsencode(folder) in started:
            found.append(int(place.name))
    return found
