"""Cuts the starter that students get out of the reference: everything but what they write themselves.

Between `# BEGIN SOLUTION` and `# END SOLUTION` stands the solution; each such block becomes one line that says which
part is not done yet. Nothing between the markers survives, and the markers themselves do not either.
"""

from __future__ import annotations

import ast

from softmark.grading.errors import ConfigError
from softmark.grading.homework import Homework

BEGIN, END = "# BEGIN SOLUTION", "# END SOLUTION"


def cut(reference: str, homework: Homework) -> str:
    """The starter's source text."""
    lines: list[str] = []
    inside = False
    for number, line in enumerate(reference.splitlines(), start=1):
        if line.strip() == BEGIN:
            if inside:
                raise ConfigError(str(homework.reference), number, "a solution begins inside a solution")
            inside = True
            indent = line[: len(line) - len(line.lstrip())]
            lines.append(f'{indent}raise NotImplementedError("{_where(reference, number, homework)}")')
        elif line.strip() == END:
            if not inside:
                raise ConfigError(str(homework.reference), number, "a solution ends that has not begun")
            inside = False
        elif not inside:
            lines.append(line)
    if inside:
        raise ConfigError(str(homework.reference), len(lines), "the last solution does not end")
    return "\n".join(lines) + "\n"


def _where(reference: str, line: int, homework: Homework) -> str:
    """ "part 3: scores" for a line of the reference."""
    for node in ast.parse(reference).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.lineno <= line <= (node.end_lineno or line):
            number = next((part.number for part in homework.parts if node.name in part.functions), None)
            name = _method(node, line)
            return f"part {number}: {name}" if number else name
    raise ConfigError(str(homework.reference), line, "a solution stands outside of any function or class")


def _method(node: ast.FunctionDef | ast.ClassDef, line: int) -> str:
    if isinstance(node, ast.ClassDef):
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef) and inner.lineno <= line <= (inner.end_lineno or line):
                return f"{node.name}.{inner.name}"
    return node.name
