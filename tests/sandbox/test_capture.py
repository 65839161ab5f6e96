"""What is kept of a stream that may never end."""

from __future__ import annotations

import pytest

from softmark.sandbox.student_process import Capture


def captured(keep: int, *chunks: bytes) -> str:
    capture = Capture(keep)
    for chunk in chunks:
        capture.add(chunk)
    return capture.text()


class TestCapture:
    """The first and the last bytes of what was printed."""

    @pytest.mark.parametrize("chunks", [[b"abcdef"], [b"abc", b"def"], [b"a", b"b", b"c", b"d", b"e", b"f"]])
    def test_short_text_is_kept_whole(self, chunks: list[bytes]) -> None:
        """Up to twice the allowance nothing is left out, however it arrives."""
        assert captured(3, *chunks) == "abcdef"

    @pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
    def test_long_text_keeps_head_and_tail(self, size: int) -> None:
        """Of a long stream the beginning and the end are kept, and the rest is counted."""
        stream = b"HEAD" + b"x" * 100 + b"TAIL"
        chunks = [stream[start : start + size] for start in range(0, len(stream), size)]
        assert captured(4, *chunks) == "HEAD\n… 100 bytes omitted …\nTAIL"

    def test_never_holds_more_than_its_allowance(self) -> None:
        """A flood leaves twice the allowance in memory, not more."""
        capture = Capture(10)
        for _ in range(1000):
            capture.add(b"z" * 1000)
        assert capture.text().count("z") == 20

    def test_bytes_that_are_no_text_are_shown_as_such(self) -> None:
        """A character cut in half, or binary output, does not spoil the rest."""
        assert captured(10, b"ok \xff\xc3") == "ok ��"
