"""Plants a mistake into the reference, as source text: the submission of a student who made exactly that mistake.

An edit is made in the reference's own text, so comments and layout stay. A variant's definition replaces the
reference's function, method or class, and takes its name. Inside the variant, `ref.scores` means the solution's own
`scores`, so the prefix is removed. If a variant of `scores` itself says `ref.scores`, it means the original, which is
kept under another name.

A variant may use imports, constants and functions of its own file, and of files of the homework that this one imports.
All of these are copied along, under names that are not taken.
"""

from __future__ import annotations

import ast
import builtins
import symtable
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from softmark.edits.changes import EditError
from softmark.edits.edited import planted_source
from softmark.records.errors import ConfigError
from softmark.verdict.mistakes import Mistake, RegisteredVariant

_REFERENCE = "ref"
_CARRIED, _ORIGINAL = "carried_", "original_"
_OF_A_MODULE = {"__file__", "__name__", "__doc__", "__annotations__"}

Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class _Module:
    """The top level of a file of variants: its definitions, those it imports from the course, and other imports."""

    definitions: dict[str, ast.stmt]
    imports: dict[str, ast.stmt]


def plant(reference: str, *entries: RegisteredVariant) -> str:
    """Return the reference's source with the entries' edits in it, and with their variants in the place of the targets.

    Several entries must have different functions as targets.
    """
    edited = [entry for entry in entries if isinstance(entry, Mistake) and entry.edits]
    source = _edited(reference, edited)
    for entry in entries:
        if entry not in edited:
            source = _varied(source, entry)
    return source


def _varied(reference: str, entry: RegisteredVariant) -> str:
    module = _read(Path(entry.file))
    variant = module.definitions.get(entry.name)
    if not isinstance(variant, Definition):
        raise ConfigError(entry.file, entry.line, f"{entry.name} is no function or class at the top level of its file")
    *owner, name = entry.target_name.split(".")
    helpers, imports = _needed(variant, module)
    renamed = {helper: f"{_CARRIED}{helper}" for helper in helpers}
    rewrite = _Rewrite({**renamed, entry.name: name} if not owner else renamed, entry.target_name)
    planted = rewrite.renamed_to(name, variant)
    carried = [rewrite.renamed_to(renamed[helper], module.definitions[helper]) for helper in helpers]
    tree = ast.parse(reference)
    _replace(tree, owner, name, planted, carried, entry, keep=rewrite.needs_original)
    _insert_imports(tree, [module.imports[used] for used in imports])
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _edited(reference: str, entries: Sequence[Mistake]) -> str:
    """Return the reference's source with the entries' edits in it. Raise ConfigError if no program comes of one."""
    for entry in entries:
        for edit in entry.edits:
            try:
                edit.function  # noqa: B018
            except EditError as error:
                raise ConfigError(entry.file, entry.line, str(error)) from error
    return planted_source(reference, tuple(edit for entry in entries for edit in entry.edits))


def undefined(source: str) -> list[str]:
    """Return the names that a source text uses in its functions and defines nowhere."""
    top = symtable.symtable(source, "planted", "exec")
    defined = {symbol.get_name() for symbol in top.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    known = defined | {table.get_name() for table in top.get_children()} | set(dir(builtins)) | _OF_A_MODULE
    used = {
        symbol.get_name() for table in _tables(top) for symbol in table.get_symbols() if _is_looked_up(symbol, table)
    }
    return sorted(used - known)


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    yield table
    for inner in table.get_children():
        yield from _tables(inner)


def _is_looked_up(symbol: symtable.Symbol, table: symtable.SymbolTable) -> bool:
    """Return whether the name is looked up among those of the module."""
    return symbol.is_referenced() and (symbol.is_global() or table.get_type() == "module")


@cache
def _read(path: Path) -> _Module:
    definitions: dict[str, ast.stmt] = {}
    imports: dict[str, ast.stmt] = {}
    for node in ast.parse(path.read_text(encoding="utf-8"), str(path)).body:
        if isinstance(node, Definition):
            definitions[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            definitions[node.targets[0].id] = node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            definitions[node.target.id] = node
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
    """Return the other definitions and the imports that the variant uses, directly or through each other, in file
    order."""
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
    """Rewrites a statement of a file of variants for the planted file."""

    def __init__(self, renamed: Mapping[str, str], target: str) -> None:
        self._renamed, self._target = renamed, target
        self.needs_original = False
        """Return whether the variant, or a definition that comes along with it, uses the function that it varies."""

    def renamed_to(self, name: str, node: ast.stmt) -> ast.stmt:
        """Return the statement under a new name. The names that it uses are changed along."""
        new = self.visit(_without_decorators(node))
        if isinstance(new, Definition):
            new.name = name
        return new  # type: ignore[no-any-return]

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        named = _of_reference(node)
        if named == self._target:
            self.needs_original = True
            *owner, name = named.split(".")
            return ast.parse(".".join([*owner, f"{_ORIGINAL}{name}"]), mode="eval").body
        if isinstance(node.value, ast.Name) and node.value.id == _REFERENCE:
            return ast.Name(node.attr, node.ctx)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self._renamed.get(node.id, node.id), node.ctx)


class _Recalled(ast.NodeTransformer):
    """Makes the original, under its new name, call itself by that name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(f"{_ORIGINAL}{self._name}", node.ctx) if node.id == self._name else node


def _of_reference(node: ast.Attribute) -> str:
    """Return "scores" for `ref.scores` and "Net.forward" for `ref.Net.forward`; nothing for another expression."""
    if isinstance(node.value, ast.Name):
        return node.attr if node.value.id == _REFERENCE else ""
    owner = _of_reference(node.value) if isinstance(node.value, ast.Attribute) else ""
    return f"{owner}.{node.attr}" if owner else ""


def _replace(
    tree: ast.Module,
    owner: list[str],
    name: str,
    planted: ast.stmt,
    carried: list[ast.stmt],
    entry: RegisteredVariant,
    *,
    keep: bool,
) -> None:
    top = _index(tree.body, owner[0] if owner else name, entry)
    body, place = tree.body, top
    if owner:
        cls = tree.body[top]
        if not isinstance(cls, ast.ClassDef):
            raise ConfigError(entry.file, entry.line, f"{owner[0]} is no class of the reference")
        body, place = cls.body, _index(cls.body, name, entry)
    original = body[place]
    body[place] = planted
    if keep and isinstance(original, Definition):
        original.name = f"{_ORIGINAL}{name}"
        body.insert(place, original if owner else _Recalled(name).visit(original))
        top += not owner  # a statement that is copied along may need it at once
    tree.body[top:top] = carried


def _index(body: list[ast.stmt], name: str, entry: RegisteredVariant) -> int:
    for position, node in enumerate(body):
        if isinstance(node, Definition) and node.name == name:
            return position
    raise ConfigError(entry.file, entry.line, f"the reference has no definition of {entry.target_name}")


def _insert_imports(tree: ast.Module, imports: list[ast.stmt]) -> None:
    """Insert imports after the docstring and the `from __future__` lines."""
    place = 0
    for position, node in enumerate(tree.body):
        docstring = position == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if docstring or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            place = position + 1
    tree.body[place:place] = imports
