"""Finds the libraries that a student's code imports and that are not installed where it is graded.

The student's own machine may have them, so nothing fails there; `softmark check` warns of them. From each function that
is asked for, it follows the student's own definitions to the imports that these need: in the text of a file, or in the
functions of a notebook.
"""

from __future__ import annotations

import ast
import dis
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from softmark.intake.model import SubmittedFiles

_NOT_WHILE_GRADING = {"__name__", "TYPE_CHECKING"}
ALWAYS_THERE = frozenset({"numpy", "softmark", "torch", "__main__", "__future__"}) | sys.stdlib_module_names


@dataclass(frozen=True)
class Foreign:
    """A library that is missing where the work is graded, where it is imported, and the function that needs it."""

    library: str
    file: str = ""
    line: int = 0
    user: str = ""
    """The function that is asked for and needs the library; empty if none does."""

    @property
    def sentence(self) -> str:
        """Return the warning to the student."""
        there = f"`{self.library}`, which is not installed where it is graded"
        place = f"{self.file}, line {self.line}: " if self.file else ""
        if self.user:
            return f"{place}`{self.user}` needs {there}: write it with torch or NumPy"
        return f"{place}imports {there}: what uses it fails there, everything else is graded"


@dataclass
class _Defined:
    """A definition of the student's own: the names that it uses, and the libraries that it imports inside, by line."""

    file: str
    line: int
    uses: set[str]
    imports: dict[str, int]


def of_files(handed: SubmittedFiles, wanted: Iterable[str], packages: Collection[str]) -> list[Foreign]:
    """Return each library that the files of a submission import and grading lacks, with a function that needs it."""
    known = ALWAYS_THERE | set(packages) | {file.partition(".")[0].partition("/")[0] for file in handed.files}
    trees = list(_parsed(handed))
    imported: dict[str, tuple[str, str, int]] = {}
    found: dict[str, Foreign] = {}
    for file, tree in trees:
        for library, name, line in _imports(tree):
            if library not in known:
                imported.setdefault(name, (library, file, line))
                found.setdefault(library, Foreign(library, file, line))
    own = _definitions(trees)
    needed: dict[str, Foreign] = {}
    for user in wanted:
        reached, inside = _reached(user, own)
        for library, file, line in (*(imported[name] for name in sorted(reached & imported.keys())), *inside):
            if library not in known:
                needed.setdefault(library, Foreign(library, file, line, user))
    return list({**found, **needed}.values())


def of_namespace(namespace: Mapping[str, Any], wanted: Iterable[str], packages: Collection[str]) -> list[Foreign]:
    """Return the libraries that functions of a notebook need and grading lacks.

    A library that only plots need is not among them.
    """
    known = ALWAYS_THERE | set(packages)
    found: dict[str, Foreign] = {}
    for user in wanted:
        for library in sorted(_needed(user, namespace)):
            if library not in known and not Path(f"{library}.py").is_file():
                found.setdefault(library, Foreign(library, user=user))
    return list(found.values())


def _needed(user: str, namespace: Mapping[str, Any]) -> set[str]:
    """Return the libraries that a function of a notebook needs, directly or through others of the notebook."""
    libraries: set[str] = set()
    seen: set[str] = set()
    unseen = [user]
    while unseen:
        name = unseen.pop()
        thing = namespace.get(name)
        if name in seen or thing is None:
            continue
        seen.add(name)
        module = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None)
        if module != "__main__":
            libraries |= {module.partition(".")[0]} if isinstance(module, str) else set()
            continue
        for code in _codes(thing):
            imported = {i.argval for i in dis.get_instructions(code) if i.opname == "IMPORT_NAME"}
            libraries |= {name.partition(".")[0] for name in imported}
            unseen += code.co_names
    return libraries


def _codes(thing: Any) -> Iterator[CodeType]:
    """Yield the code of a function, or of the methods of a class, and of the functions inside."""
    members = vars(thing).values() if isinstance(thing, type) else [thing]
    unseen = [member.__code__ for member in members if isinstance(member, FunctionType)]
    while unseen:
        code = unseen.pop()
        yield code
        unseen += [inner for inner in code.co_consts if isinstance(inner, CodeType)]


def _parsed(handed: SubmittedFiles) -> Iterator[tuple[str, ast.Module]]:
    for file in (*handed.loaded, *(file for file in handed.files if file not in handed.loaded)):
        try:
            yield file, ast.parse(handed.files[file])
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # loading the file reports the error


def _imports(tree: ast.AST) -> Iterator[tuple[str, str, int]]:
    """Yield the library, the name that it sets, and the line of every import."""
    for node in _run(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                library = alias.name.partition(".")[0]
                yield library, alias.asname or library, node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield node.module.partition(".")[0], alias.asname or alias.name, node.lineno


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """Yield every node of the code that runs while grading, in the order of the lines.

    It leaves out type hints, the blocks under `if __name__ …` and `if TYPE_CHECKING`, and the body of a `try` that has
    handlers.
    """
    unseen = [node]
    while unseen:
        place = unseen.pop()
        yield place
        left_out: list[ast.AST | None] = [getattr(place, "annotation", None), getattr(place, "returns", None)]
        if isinstance(place, ast.If) and _NOT_WHILE_GRADING & {
            n.id for n in ast.walk(place.test) if isinstance(n, ast.Name)
        }:
            left_out += place.body
        if isinstance(place, ast.Try) and place.handlers:
            left_out += place.body
        children = [child for child in ast.iter_child_nodes(place) if not any(child is out for out in left_out)]
        unseen += reversed(children)


def _definitions(trees: list[tuple[str, ast.Module]]) -> dict[str, _Defined]:
    """Return each function, class and variable outside of all functions, by name; the last of a name counts."""
    own: dict[str, _Defined] = {}
    for file, tree in reversed(trees):
        for node in tree.body:
            for name in _set_by(node):
                uses = {part.id for part in _run(node) if isinstance(part, ast.Name)}
                own[name] = _Defined(file, node.lineno, uses, {library: line for library, _, line in _imports(node)})
    return own


def _set_by(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return [part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)]
    return []


def _reached(user: str, own: Mapping[str, _Defined]) -> tuple[set[str], list[tuple[str, str, int]]]:
    """Return all names that a function needs, directly or through others, and the imports inside them."""
    reached, unseen = set(), [user]
    while unseen:
        name = unseen.pop()
        if name not in reached:
            reached.add(name)
            unseen += own[name].uses if name in own else ()
    found = [(library, own[n].file, line) for n in reached if n in own for library, line in own[n].imports.items()]
    return reached, sorted(found)
