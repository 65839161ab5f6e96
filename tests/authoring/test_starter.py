"""The starter: what is cut out of a reference, what stays, and what is refused."""

from __future__ import annotations

import ast
import json
import re
from fractions import Fraction
from pathlib import Path

import pytest

from softmark.authoring.build import buildable
from softmark.authoring.starter import cut
from softmark.course.homework import Homework, Part, load_homework
from softmark.records.errors import ConfigError

ROOT = Path(__file__).parents[2]
HOMEWORKS = buildable(ROOT)
REFERENCE = '''"""Sums: two of them.

Letters: n numbers.
"""

import math

import torch

# Part 1


def total(x: torch.Tensor) -> torch.Tensor:
    """The sum."""
    # BEGIN SOLUTION
    secret = x.sum()
    return secret
    # END SOLUTION


class Mean(torch.nn.Module):
    """The mean."""

    def forward(self, x):
        # BEGIN SOLUTION
        return math.fsum(x) / len(x)
        # END SOLUTION
'''


@pytest.fixture
def homework() -> Homework:
    """Two parts, of which one is a class."""
    parts = (Part("1", "total", "Sum", points=Fraction(1)), Part("2.1", "Mean", "Mean", points=Fraction(1)))
    return Homework("sums", ROOT, "Sums", "sums.py", Fraction(2), parts, (), limits={})


def solution_lines(reference: str) -> list[str]:
    """What stands between the markers, without what every program has (brackets, a bare return)."""
    blocks = re.findall(r"# BEGIN SOLUTION\n(.*?)# END SOLUTION", reference, re.DOTALL)
    lines = [line.strip() for block in blocks for line in block.splitlines()]
    common = ("return", "else:", "try:", "pass")
    return [line for line in lines if re.search(r"\w", bare(line)) and bare(line) not in common]


def bare(line: str) -> str:
    """A line of code without its comment."""
    return re.split(r"\s+#\s", line)[0].strip()


class TestCut:
    """`cut`, on a small reference."""

    def test_says_which_part_is_not_done(self, homework: Homework) -> None:
        """Each solution becomes one line, at its place, with the part's number and the function's name."""
        starter = cut(REFERENCE, homework)
        assert '    """The sum."""\n    raise NotImplementedError("part 1: total")\n\n\nclass' in starter
        assert '        raise NotImplementedError("part 2.1: Mean.forward")\n' in starter
        assert "secret" not in starter
        assert "SOLUTION" not in starter

    def test_tells_a_student_what_to_do(self, homework: Homework) -> None:
        """The docstring keeps title and text, and says that this file is handed in and how to check it."""
        docstring = ast.get_docstring(ast.parse(cut(REFERENCE, homework))) or ""
        assert docstring.startswith("Sums: two of them.\n\nThis file is handed in.")
        assert "softmark check" in docstring
        assert docstring.endswith("Letters: n numbers.")

    def test_keeps_imports_and_comments(self, homework: Homework) -> None:
        """What a solution will need stays, used or not."""
        assert "\n\nimport math\n\nimport torch\n\n# Part 1\n" in cut(REFERENCE, homework)

    @pytest.mark.parametrize(
        ("before", "after", "line", "problem"),
        [
            ("    # END SOLUTION\n\n\nclass", "\n\nclass", 24, "a solution begins inside a solution"),
            ("    # BEGIN SOLUTION\n    secret", "    secret", 17, "ends that has not begun"),
            ("len(x)\n        # END SOLUTION\n", "len(x)\n", 25, "does not end"),
            ("# Part 1\n", "# BEGIN SOLUTION\n# END SOLUTION\n", 10, "outside of any function"),
            ('"""Sums: two of them.\n\nLetters: n numbers.\n"""', "", 1, "no docstring"),
        ],
    )
    def test_refuses(self, homework: Homework, before: str, after: str, line: int, problem: str) -> None:
        """Markers that do not fit, or no title, are the author's slip: file and line are named."""
        assert before in REFERENCE
        with pytest.raises(ConfigError, match=problem) as error:
            cut(REFERENCE.replace(before, after), homework)
        assert (error.value.file, error.value.line) == ("reference/sums.py", line)


@pytest.mark.parametrize("name", HOMEWORKS)
class TestHandedOut:
    """The starters that lie in the course."""

    def test_keep_nothing_of_the_solution(self, name: str) -> None:
        """No line between the markers is in the starter, or anywhere in the notebook, the examples or the tests."""
        lines = solution_lines((ROOT / f"reference/{name}.py").read_text())
        folder = ROOT / "assignments" / name
        notebook = json.loads((folder / f"{name}.ipynb").read_text())
        cells = "".join("".join(cell["source"]) + "\n" for cell in notebook["cells"])
        texts = [(folder / file).read_text() for file in (f"{name}.py", f"{name}.ipynb", "examples.json")]
        texts += [cells, (folder / "test_public.py").read_text()]
        kept = {bare(line) for text in texts for line in text.splitlines()}
        assert len(lines) > 10
        assert not [line for line in lines if bare(line) in kept]
        assert not [line for line in lines if bare(line) != line and any(line in text for text in texts)]

    def test_have_no_outputs(self, name: str) -> None:
        """Nothing that was run while the notebook was made is in it: no outputs, counts or metadata of a machine."""
        notebook = json.loads((ROOT / f"assignments/{name}/{name}.ipynb").read_text())
        cells = notebook["cells"]
        assert not [c for c in cells if c.get("outputs") or c.get("execution_count") is not None]
        assert all(cell["metadata"] in ({}, {"tags": ["softmark"]}) for cell in cells)
        assert set(notebook["metadata"]) == {"kernelspec", "language_info"}

    def test_keep_what_a_student_needs(self, name: str) -> None:
        """Every function and class has its signature and its docstring; each unwritten one names its part."""
        homework = load_homework(name, ROOT)
        reference = ast.parse(homework.reference.read_text())
        starter = ast.parse((ROOT / f"assignments/{name}/{name}.py").read_text())
        assert outlines(starter) == outlines(reference)
        waiting = [n.args[0] for n in ast.walk(starter) if isinstance(n, ast.Call) and "NotImpl" in ast.unparse(n.func)]
        named = {ast.literal_eval(argument).partition(": ")[0] for argument in waiting}
        assert named <= {f"part {part.number}" for part in homework.parts}


def outlines(tree: ast.Module) -> list[tuple[str, str, str | None]]:
    """Name, signature and docstring of every function, method and class; and the imports."""
    found: list[tuple[str, str, str | None]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            found.append((node.name, ast.unparse(node.args), ast.get_docstring(node)))
        elif isinstance(node, ast.ClassDef):
            found.append((node.name, "", ast.get_docstring(node)))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.append((ast.unparse(node), "", None))
    return sorted(found, key=str)
