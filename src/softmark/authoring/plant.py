"""Plants a variant into the reference, as source text: the submission of a student who made exactly that mistake.

The variant's definition takes the place of the reference's (a function, a method, a class) under its name. Inside it,
`ref.scores` means the solution's own `scores`, so the prefix goes; and what the variant uses of the file it stands in,
and of the homework's files that this one imports (imports, constants, other functions, transitively), comes along
under names that clash with nothing.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from softmark.grading.errors import ConfigError
from softmark.verdict.mistakes import Entry

_REFERENCE = "ref"
_CARRIED = "carried_"

Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class _Module:
    """What stands at the top level of a file of variants, or is imported there from another file of the course's."""

    definitions: dict[str, ast.stmt]
    imports: dict[str, ast.stmt]


def plant(reference: str, entry: Entry) -> str:
    """The reference's source with the entry's variant in the place of its target."""
    module = _read(Path(entry.file))
    variant = module.definitions.get(entry.name)
    if not isinstance(variant, Definition):
        raise ConfigError(entry.file, entry.line, f"{entry.name} is no function or class at the top level of its file")
    *owner, name = entry.target_name.split(".")
    helpers, imports = _needed(variant, module)
    renamed = {helper: f"{_CARRIED}{helper}" for helper in helpers}
    planted = _rewritten(variant, renamed, name)
    carried = [_rewritten(module.definitions[helper], renamed, renamed[helper]) for helper in helpers]
    tree = ast.parse(reference)
    _replace(tree, owner, name, planted, carried, entry)
    _insert_imports(tree, [module.imports[used] for used in imports])
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


@cache
def _read(path: Path) -> _Module:
    definitions: dict[str, ast.stmt] = {}
    imports: dict[str, ast.stmt] = {}
    for node in ast.parse(path.read_text(encoding="utf-8"), str(path)).body:
        if isinstance(node, Definition):
            definitions[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            definitions[node.targets[0].id] = node
        elif isinstance(node, ast.ImportFrom) and _is_of_the_graders(node):
            shared = _read(Path(str(sys.modules[str(node.module)].__file__)))
            definitions |= shared.definitions
            imports |= shared.imports
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                imports[alias.asname or alias.name.partition(".")[0]] = _single_import(node, alias)
    return _Module(definitions, imports)


def _is_of_the_graders(node: ast.ImportFrom) -> bool:
    return (node.module or "").partition(".")[0] == "graders"


def _single_import(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> ast.stmt:
    if isinstance(node, ast.Import):
        return ast.Import([alias])
    return ast.ImportFrom(node.module, [alias], node.level)


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _needed(variant: Definition, module: _Module) -> tuple[list[str], list[str]]:
    """The other definitions and the imports that the variant uses, directly or through each other, in file order."""
    body = ast.Module([_without_decorators(variant)], [])
    helpers: set[str] = set()
    unseen = _names(body) - {variant.name}
    used: set[str] = set(unseen)
    while unseen:
        name = unseen.pop()
        if name in module.definitions and name not in helpers:
            helpers.add(name)
            inner = _names(_without_decorators(module.definitions[name]))
            unseen |= inner - used
            used |= inner
    in_order = [name for name in module.definitions if name in helpers]
    return in_order, [name for name in module.imports if name in used and name != _REFERENCE]


def _without_decorators(node: ast.stmt) -> ast.stmt:
    copy = ast.parse(ast.unparse(node)).body[0]
    if isinstance(copy, Definition):
        copy.decorator_list = []
    return copy


class _Rewrite(ast.NodeTransformer):
    def __init__(self, renamed: dict[str, str]) -> None:
        self._renamed = renamed

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id == _REFERENCE:
            return ast.Name(node.attr, node.ctx)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self._renamed.get(node.id, node.id), node.ctx)


def _rewritten(node: ast.stmt, renamed: dict[str, str], name: str) -> ast.stmt:
    """The statement under a new name, with what it refers to renamed along."""
    new = _Rewrite(renamed).visit(_without_decorators(node))
    if isinstance(new, Definition):
        new.name = name
    return new  # type: ignore[no-any-return]


def _replace(
    tree: ast.Module, owner: list[str], name: str, planted: ast.stmt, carried: list[ast.stmt], entry: Entry
) -> None:
    body = tree.body
    top = _index(tree.body, owner[0] if owner else name, entry)
    if owner:
        cls = tree.body[top]
        if not isinstance(cls, ast.ClassDef):
            raise ConfigError(entry.file, entry.line, f"{owner[0]} is no class of the reference")
        body = cls.body
        body[_index(body, name, entry)] = planted
    else:
        body[top] = planted
    tree.body[top:top] = carried


def _index(body: list[ast.stmt], name: str, entry: Entry) -> int:
    for position, node in enumerate(body):
        if isinstance(node, Definition) and node.name == name:
            return position
    raise ConfigError(entry.file, entry.line, f"the reference has no definition of {entry.target_name}")


def _insert_imports(tree: ast.Module, imports: list[ast.stmt]) -> None:
    """After the docstring and `from __future__` lines."""
    place = 0
    for position, node in enumerate(tree.body):
        docstring = position == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if docstring or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            place = position + 1
    tree.body[place:place] = imports
