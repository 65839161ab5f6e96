"""What `from softmark import …` offers: the author's API."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import softmark
from tests.conftest import ROOT

AUTHOR_FILE = ROOT / "tests/docs/author_file.py"
AUTHORS_FILES = sorted(file for room in ("graders", "reference") for file in (ROOT / room).rglob("*.py"))


def imported_names(source: str) -> dict[str, str]:
    """Return the names that `from softmark… import …` imports in a source, each with its module."""
    found = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom))
    return {
        alias.name: node.module for node in found if node.module and node.module.startswith("softmark")
        for alias in node.names
    }  # fmt: skip


class TestExports:
    """Each public name is found at run time, seen by type checkers, and documented."""

    @pytest.mark.parametrize("name", softmark.__all__)
    def test_name_is_found(self, name: str) -> None:
        """Every promised name is there, and written in English: its docstring says what it does."""
        assert getattr(softmark, name).__doc__

    def test_are_seen_by_type_checkers(self) -> None:
        """The imports for type checkers are those of run time, name by name."""
        declared = imported_names((ROOT / "src/softmark/__init__.py").read_text())
        assert sorted(declared) == softmark.__all__
        assert declared == softmark._ROOM_OF

    def test_are_documented(self) -> None:
        """docs/api.md describes each public name once, and no other."""
        text = (ROOT / "docs/api.md").read_text()
        found = re.findall(
            r"^\.\. auto(?:function|exception|decorator|class):: (\w+)(?:\(\))?$", text, re.MULTILINE
        )  # fmt: skip
        assert sorted(found) == softmark.__all__

    def test_are_lazy(self) -> None:
        """A process that never compares numbers does not pay for torch."""
        code = "import sys, softmark; from softmark import records; sys.exit('torch' in sys.modules)"
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

    def test_unknown_names(self) -> None:
        """An unknown name is an ordinary attribute error."""
        assert not hasattr(softmark, "agre")


class TestTypes:
    """An author's file is checked by mypy as one expects."""

    def test_author_file_uses_every_name(self) -> None:
        """The file that is checked leaves no public name out."""
        assert sorted(imported_names(AUTHOR_FILE.read_text())) == softmark.__all__

    def test_author_file_is_accepted(self, tmp_path: Path) -> None:
        """mypy --strict accepts it outside of this repository, and refuses a slip: it sees real types."""
        right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
        right.write_text(AUTHOR_FILE.read_text())
        wrong.write_text('from softmark import causal_mask, draw, number\n\ndraw(3)\ncausal_mask("5")\nnumber(3.1)\n')
        command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", right.name, wrong.name]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        refused = re.findall(r"^(\w+)\.py:(\d+): error:", done.stdout, re.MULTILINE)
        assert refused == [("wrong", "3"), ("wrong", "4"), ("wrong", "5")], done.stdout + done.stderr


class TestGraders:
    """The homeworks of this course are written with the public names only."""

    @pytest.mark.parametrize("file", AUTHORS_FILES, ids=lambda file: str(file.relative_to(ROOT)))
    def test_imports_public_names(self, file: Path) -> None:
        """An author's file imports from `softmark`, and from none of its rooms."""
        assert set(imported_names(file.read_text()).values()) <= {"softmark"}

    def test_share_their_helpers(self) -> None:
        """No two homeworks have a function with the same body: what several need is a public name."""
        bodies: dict[str, set[str]] = {}
        for file in (ROOT / "graders").rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.FunctionDef) and not node.decorator_list and not node.name.startswith("__"):
                    statements = node.body[1:] if ast.get_docstring(node) else node.body
                    body = ast.dump(ast.Module(body=statements, type_ignores=[]))
                    bodies.setdefault(body, set()).add(f"{file.relative_to(ROOT / 'graders').parts[0]}: {node.name}")
        assert [sorted(places) for places in bodies.values() if len(places) > 1] == []
