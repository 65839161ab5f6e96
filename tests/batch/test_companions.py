"""Files that lie beside the graded one, in folders of any depth: imported and opened behind the walls."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from softmark.course.homework import COURSE_VARIABLE
from tests.support.classes import PATIENCE, grade, hand_in, marks, write_tiny_course
from tests.support.confined import needs_root, needs_signal_scope
from tests.support.course import FILE

ORDINARY = 12345
MAIN = """
from pathlib import Path

from pkg.helper import one
from pkg.deep.er.helper import two

assert Path("data/more/numbers.txt").read_text() == "1 2 3"
"""
FILES = {
    FILE: MAIN,
    "pkg/helper.py": "def one(x):\n    return x + 1\n",
    "pkg/deep/__init__.py": "",
    "pkg/deep/er/helper.py": "from pkg.helper import one\n\n\ndef two(x):\n    return one(x) + x - 1\n",
    "data/more/numbers.txt": "1 2 3",
}


class TestSubFolders:
    """A submission whose functions stand in modules of its own, in folders below its main file."""

    @pytest.mark.parametrize(
        ("level", "user"),
        [
            pytest.param("full", None, marks=needs_root),
            pytest.param("user", ORDINARY if os.geteuid() == 0 else None, marks=needs_signal_scope),
        ],
        ids=["full", "user"],
    )
    def test_are_the_students_to_read(self, level: str, user: int | None, temporary: Path) -> None:
        """It is graded in full at each level, and nothing of it is left."""
        course, results, scratch = write_tiny_course(temporary / "course"), temporary / "results", temporary / "tmp"
        temporary.chmod(0o755)  # pytest lists the folders above a course
        for folder in (results, scratch):
            folder.mkdir()
        for path in (results, scratch, course, *course.rglob("*")):
            os.chown(path, -1 if user is None else user, -1)
        for path in course.iterdir():
            path.chmod(0o700)  # grade says so where others can read hidden tests
        command = grade(hand_in(temporary / "class", {"student": FILES}), "-o", results, "--isolation", level)
        done = subprocess.run(
            command, user=user, group=user, extra_groups=None if user is None else [], cwd="/",
            env={COURSE_VARIABLE: str(course), "TMPDIR": str(scratch), "HOME": str(scratch), "PATH": "/usr/bin:/bin"},
            capture_output=True, text=True, check=False, timeout=PATIENCE,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        assert marks(results) == {"student": 4.0}
        assert list(scratch.iterdir()) == []
