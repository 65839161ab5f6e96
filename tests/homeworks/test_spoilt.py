"""A file that is spoilt in its first part loses nothing elsewhere: a sample of what benchmarks/spoilt.py grades."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.spoilt import HOMEWORKS, KINDS, course, files, lost


@pytest.mark.parametrize(("number", "homework"), list(enumerate(HOMEWORKS)), ids=HOMEWORKS)
def test_the_other_parts_lose_nothing(number: int, homework: str, tmp_path: Path) -> None:
    """An exception, a wrong shape or an endless loop, one kind in each homework, in each function that is spoilt."""
    kind = list(KINDS)[number % len(KINDS)]
    way = number % len(KINDS[kind])
    sample = {name: source for name, source in files(homework, kind).items() if name.endswith(f"_{way}")}
    tmp_path.chmod(0o711)
    found = lost(homework, sample, course(tmp_path / "course"), tmp_path / "graded")
    assert len(found) == len(sample)
    assert all(own > 0 for own, _ in found.values())
    assert not any(elsewhere for _, elsewhere in found.values())
