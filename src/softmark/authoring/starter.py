"""Cuts the starter that students get out of the reference: everything but what they write themselves.

The solution stands between `# BEGIN SOLUTION` and `# END SOLUTION`. Each such block, markers included, becomes one line
that says which part is not done yet. The module's docstring keeps its title and its text, and tells a student what to
do with the file.
"""

from __future__ import annotations

import ast

from softmark.course.homework import Homework
from softmark.records.errors import ConfigError

BEGIN, END = "# BEGIN SOLUTION", "# END SOLUTION"

_WHAT_TO_DO = """\
This file is handed in. Replace every `raise NotImplementedError(...)` by your own code and keep the names and the
arguments as they are; README.md says what each part asks for. To check your work, type in this folder:

    softmark check"""


def cut(reference: str, homework: Homework) -> str:
    """Return the starter's source text."""
    return _for_students(without_solutions(reference, homework), homework)


def without_solutions(reference: str, homework: Homework) -> str:
    """Return the reference with each solution replaced; its docstring stays as it is."""
    lines: list[str] = []
    began = 0
    for number, line in enumerate(reference.splitlines(), start=1):
        if line.strip() == BEGIN:
            if began:
                raise _wrong(homework, number, "a solution begins inside a solution")
            began = number
            indent = line[: len(line) - len(line.lstrip())]
            lines.append(f'{indent}raise NotImplementedError("{_where(reference, number, homework)}")')
        elif line.strip() == END:
            if not began:
                raise _wrong(homework, number, "a solution ends that has not begun")
            began = 0
        elif not began:
            lines.append(line)
    if began:
        raise _wrong(homework, began, "this solution does not end")
    return "\n".join(lines) + "\n"


def title_and_text(source: str, homework: Homework) -> tuple[str, str, str]:
    """Return the first line of a module's docstring, the rest of it, and all that comes after it."""
    body = ast.parse(source).body
    docstring = ast.get_docstring(ast.Module(body[:1], [])) if body else None
    if not docstring:
        raise _wrong(homework, 1, "there is no docstring to take the title from")
    title, _, text = docstring.partition("\n")
    after = source.splitlines()[body[0].end_lineno :]
    return title.strip(), text.strip("\n"), "\n".join(after).strip("\n") + "\n"


def _for_students(source: str, homework: Homework) -> str:
    title, text, after = title_and_text(source, homework)
    docstring = "\n\n".join(piece for piece in (title, _WHAT_TO_DO, text) if piece)
    return f'"""{docstring}\n"""\n\n{after}'


def _where(reference: str, line: int, homework: Homework) -> str:
    """Return "part 3: scores" for a line of the reference."""
    for node in ast.parse(reference).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.lineno <= line <= (node.end_lineno or line):
            names = {part.number: {name.partition(".")[0] for name in part.functions} for part in homework.parts}
            number = next((number for number, owners in names.items() if node.name in owners), None)
            name = _method(node, line)
            return f"part {number}: {name}" if number else name
    raise _wrong(homework, line, "a solution stands outside of any function or class")


def _method(node: ast.FunctionDef | ast.ClassDef, line: int) -> str:
    if isinstance(node, ast.ClassDef):
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef) and inner.lineno <= line <= (inner.end_lineno or line):
                return f"{node.name}.{inner.name}"
    return node.name


def _wrong(homework: Homework, line: int, problem: str) -> ConfigError:
    return ConfigError(f"reference/{homework.name}.py", line, problem)
