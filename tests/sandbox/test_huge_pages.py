"""Large pages: memory is gathered in them, and keeps what was in it."""

from __future__ import annotations

import mmap
import os
import re
from pathlib import Path

import pytest

from softmark.sandbox import warm_up as pages

SIZE = 32 << 20
KERNEL = tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])

pytestmark = pytest.mark.skipif(
    KERNEL < (6, 1) or not Path("/sys/kernel/mm/transparent_hugepage").exists(), reason="this kernel gathers no pages"
)


def _in_large_pages() -> int:
    told = Path("/proc/self/smaps_rollup").read_text()
    return int(told.partition("AnonHugePages:")[2].split()[0]) * 1024


class TestGather:
    def test_in_large_pages_with_the_same_content(self) -> None:
        content = os.urandom(4096) * (SIZE // 4096)
        with mmap.mmap(-1, SIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as memory:
            memory.madvise(mmap.MADV_NOHUGEPAGE)
            memory[:] = content
            memory.madvise(mmap.MADV_HUGEPAGE)
            before = _in_large_pages()
            pages.gather()
            assert _in_large_pages() > before
            assert memory[:] == content
