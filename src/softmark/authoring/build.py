"""Makes the files of `assignments/<hw>/` from a reference: starter, notebook and worked examples.

Everything is made in memory first, and only files that differ are written. So a second build changes nothing, and
`--check` does the same work without writing.
"""

from __future__ import annotations

import sys
from pathlib import Path

from softmark.authoring.examples import encode, handout_of
from softmark.authoring.notebook import notebook
from softmark.authoring.starter import cut, without_solutions
from softmark.check.public_tests import EXAMPLES
from softmark.course.homework import Homework, homework_names
from softmark.grading.resolved_names import check_names
from softmark.records.errors import ConfigError


def buildable(root: Path) -> tuple[str, ...]:
    """Return the homeworks of a course that have a reference and a handout."""
    return tuple(name for name in homework_names(root) if name not in lacking(root))


def lacking(root: Path) -> dict[str, str]:
    """Return the homeworks that cannot be built, each with the first file that it lacks."""
    needed = {name: (root / "reference" / f"{name}.py", _readme(root, name)) for name in homework_names(root)}
    missing = {name: [file for file in files if not file.is_file()] for name, files in needed.items()}
    return {name: files[0].relative_to(root).as_posix() for name, files in missing.items() if files}


def products(homework: Homework) -> dict[Path, bytes]:
    """Return the files that are built, with their content."""
    readme = _readme(homework.root, homework.name)
    for needed in (homework.reference, readme):
        if not needed.is_file():
            name = needed.relative_to(homework.root).as_posix()
            raise ConfigError(name, 1, f"there is no such file, and {homework.name} is built from it")
    check_names(homework)
    reference = homework.reference.read_text(encoding="utf-8")
    if str(homework.root) not in sys.path:
        sys.path.insert(0, str(homework.root))  # for `from reference import …` in examples and mistakes
    folder = readme.parent
    handed_out = readme.read_text(encoding="utf-8")
    return {
        folder / homework.file: cut(reference, homework).encode(),
        folder / f"{homework.name}.ipynb": notebook(without_solutions(reference, homework), handed_out, homework),
        folder / EXAMPLES: encode(handout_of(homework)),
    }


def stale(made: dict[Path, bytes]) -> list[Path]:
    """Return the files that are missing or have another content."""
    return [file for file, content in made.items() if not file.is_file() or file.read_bytes() != content]


def _readme(root: Path, name: str) -> Path:
    return root / "assignments" / name / "README.md"
