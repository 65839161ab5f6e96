"""Keeps the beginning and the end of what a student's program prints, and counts the rest."""

from __future__ import annotations


class Capture:
    """The first and the last `keep` bytes of a stream that may never end."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def add(self, chunk: bytes) -> None:
        room = self._keep - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk
        surplus = len(self._tail) - self._keep
        if surplus > 0:
            del self._tail[:surplus]
            self._dropped += surplus

    def text(self) -> str:
        """What was kept, as text: a sequence of bytes that is not UTF-8 shows as a replacement character."""
        omitted = f"\n… {self._dropped} bytes omitted …\n" if self._dropped else ""
        head, tail = (bytes(part).decode("utf-8", "replace") for part in (self._head, self._tail))
        return head + omitted + tail
