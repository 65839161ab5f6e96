"""`softmark build`: what lies in the course is what the references give, and building is repeatable."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from softmark.authoring.build import buildable, products, stale
from softmark.course.homework import homework_names, load_homework
from softmark.records.errors import ConfigError
from tests.support.tiny_homework import course, softmark

ROOT = Path(__file__).parents[2]
README = "# Tiny\n\n## Conventions\n\nNone.\n\n## Part 1: twice (2 points)\n\n$$y = 2x$$\n"
EXAMPLES = """from reference import tiny as ref
from softmark import example, numbers

EXAMPLES = {"double": example(ref.double, numbers("x", 3))}
"""
BUILT = ["examples.json", "tiny.ipynb", "tiny.py"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A course of one homework, with a handout and an example."""
    root = course(tmp_path)
    (root / "graders/tiny/examples.py").write_text(EXAMPLES)
    (root / "assignments/tiny").mkdir(parents=True)
    (root / "assignments/tiny/README.md").write_text(README)
    return root


def contents(root: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (root / "assignments/tiny").iterdir()}


class TestBuild:
    """The command, on a course of its own."""

    def test_writes_and_then_finds_nothing_to_do(self, root: Path) -> None:
        """A build makes three files; the next one, in another process, would make the same bytes."""
        first = softmark(root, "build")
        assert (first.returncode, first.stderr) == (0, "")
        assert sorted(first.stdout.split()[1::2]) == [f"assignments/tiny/{name}" for name in BUILT]
        before = contents(root)
        again = softmark(root, "build", "--check")
        assert (again.returncode, again.stdout) == (0, "everything is up to date\n")
        assert contents(root) == before
        words = json.loads(before["examples.json"])["mistakes"]
        assert words == {"1": {"says": "You take it three times.", "hint": "Count again."}}

    def test_check_names_what_is_stale_and_writes_nothing(self, root: Path) -> None:
        """With --check, missing files and files with another content are named, exit code 1, and stay as they are."""
        for name in ("tiny.py", "examples.json"):
            (root / "assignments/tiny" / name).write_text("old\n")
        before = contents(root)
        found = softmark(root, "build", "tiny", "--check")
        assert found.returncode == 1
        assert sorted(found.stdout.splitlines()) == [f"stale assignments/tiny/{name}" for name in BUILT]
        assert contents(root) == before

    def test_refuses_a_homework_without_handout(self, root: Path) -> None:
        """Without README.md there is nothing to make a notebook of; the file is named, exit code 2."""
        (root / "assignments/tiny/README.md").unlink()
        refused = softmark(root, "build", "tiny")
        assert refused.returncode == 2
        assert "assignments/tiny/README.md:1: there is no such file" in refused.stderr

    def test_of_all_says_which_it_leaves_out(self, root: Path) -> None:
        """A homework that lacks a file is not simply passed over."""
        (root / "assignments/tiny/README.md").unlink()
        done = softmark(root, "build")
        assert done.returncode == 0
        assert done.stderr == "tiny is not built: there is no assignments/tiny/README.md\n"


class TestProducts:
    """What is built of the course's own homeworks."""

    def test_of_every_homework(self) -> None:
        """Each homework has a reference and a handout, so each is built."""
        assert buildable(ROOT) == homework_names(ROOT)

    @pytest.mark.parametrize("name", homework_names(ROOT))
    def test_are_fresh(self, name: str) -> None:
        """What lies in the course is what a build would write: type `softmark build` if it is not."""
        assert stale(products(load_homework(name, ROOT))) == []

    def test_need_a_reference(self, root: Path) -> None:
        """A homework without a reference cannot be built, and is left out when none is named."""
        (root / "reference/tiny.py").unlink()
        assert buildable(root) == ()
        with pytest.raises(ConfigError, match=r"reference/tiny\.py:1: there is no such file"):
            products(load_homework("tiny", root))
