"""Runs cells in a kernel of Jupyter, and returns what each has shown."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel

_COLOURS = re.compile(r"\x1b\[[\d;]*m")


@dataclass
class Shown:
    """The output of one cell: printed text, tables as text and as HTML, and the name of an exception."""

    printed: str = ""
    text: str = ""
    html: str = ""
    exception: str = ""
    traceback: list[str] = field(default_factory=list)

    def hear(self, message: dict[str, Any]) -> None:
        content, data = message["content"], message["content"].get("data", {})
        if message["msg_type"] == "stream":
            self.printed += _COLOURS.sub("", content["text"])
        self.text += data.get("text/plain", "")
        self.html += data.get("text/html", "")
        self.exception += content.get("ename", "")
        self.traceback += content.get("traceback", [])


class Kernel:
    """A kernel of Jupyter in a folder. Use it as a context manager."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._manager: KernelManager
        self._client: BlockingKernelClient

    def __enter__(self) -> Kernel:
        self._manager, self._client = start_new_kernel(cwd=str(self._folder), kernel_name="python3")
        return self

    def __exit__(self, *exception: object) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)

    def run(self, code: str, interrupt_at: str = "") -> Shown:
        """Run a cell; interrupt the kernel, as the stop button does, when the cell has printed a text."""
        shown = Shown()
        waiting = bool(interrupt_at)

        def hear(message: dict[str, Any]) -> None:
            nonlocal waiting
            shown.hear(message)
            if waiting and interrupt_at in shown.printed:
                waiting = False
                self._manager.interrupt_kernel()

        self._client.execute_interactive(code, output_hook=hear, timeout=120)
        return shown

    def completions(self, code: str) -> list[str]:
        """Return what the Tab key offers at the end of a line."""
        reply = self._client.complete(code, len(code), reply=True, timeout=60)
        found: list[str] = reply["content"]["matches"]
        return found
