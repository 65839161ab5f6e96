"""Finds the statements of a notebook that define something, and the names that each sets and needs. Runs in the worker.

A notebook has experiments, plots, prints and training runs between its definitions. Grading needs its imports, its
functions and classes, and the assignments that these need. A constant that a function uses must be there, and a
training run must not be repeated. So an assignment is run if its name is needed, directly or through another
assignment, and if its value is quick to compute. The value may not call a function of the notebook that loops, nor a
method of an object that was made with the notebook's own functions or classes. It may make such an object.
"""

from __future__ import annotations

import ast
import dis
import inspect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import CodeType

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DEFINITIONS = (*_FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom, getattr(ast, "TypeAlias", ast.ClassDef))
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_LOOKUPS = ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS")
_RUN_AT_ONCE = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


@dataclass(frozen=True)
class Statement:
    """A statement of a notebook that may be run, compiled."""

    cell: int
    code: CodeType
    sets: frozenset[str]
    needs: frozenset[str]
    """Names that must be defined when the statement is run."""
    uses: frozenset[str]
    """Names that must be defined when a function that the statement defines is called."""
    defines: bool
    """True if the statement is run even if no other one needs it."""
    decorated: bool


class NotebookNames:
    """The names of the notebook's own functions, classes and objects, and which of them may take hours when called."""

    def __init__(self, statements: Iterable[ast.stmt]) -> None:
        inner = [part for statement in statements for part in _nested(statement)]
        functions = [node for node in inner if isinstance(node, _FUNCTIONS)]
        classes = [node for node in inner if isinstance(node, ast.ClassDef)]
        self.classes = {node.name for node in classes}
        self._own = self.classes | {node.name for node in functions}
        looping = _looping([*functions, *classes])
        self._busy = looping & {node.name for node in functions}
        """Names that must not be called: functions that loop, and objects made with the notebook's own functions."""
        for node in inner:
            if isinstance(node, _ASSIGNMENTS) and node.value is not None:
                self._note_made(_stored(node), node.value)

    def may_run(self, expression: ast.expr | None) -> bool:
        """Return whether the expression is quick to compute, as far as the code shows."""
        return expression is None or all(self._is_harmless(node) for node in _evaluated(expression))

    def _note_made(self, names: set[str], value: ast.expr) -> None:
        used = _named(value)
        if isinstance(value, ast.Lambda):
            self._own |= names
            self._busy |= names if used & self._busy else set()
        elif used & self._own:
            self._own |= names
            self._busy |= names

    def _is_harmless(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Call):
            root = root_of(node.func)
            return root not in self._busy and (root not in self.classes or isinstance(node.func, ast.Name))
        return not isinstance(node, ast.Await | ast.Yield | ast.YieldFrom)


def trimmed(node: ast.stmt, own: NotebookNames) -> ast.stmt | None:
    """Return the statement without the parts that define nothing; None if nothing is left of it."""
    if isinstance(node, _DEFINITIONS):
        return node
    if isinstance(node, _ASSIGNMENTS):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return node if all(own.may_run(part) for part in (node.value, *targets)) else None
    if isinstance(node, ast.If) and own.may_run(node.test):
        body, orelse = _all_trimmed(node.body, own), _all_trimmed(node.orelse, own)
        return ast.copy_location(ast.If(node.test, body or [_nothing(node)], orelse), node) if body or orelse else None
    if isinstance(node, ast.Try) and (body := _all_trimmed(node.body, own)):
        handlers = [
            ast.copy_location(ast.ExceptHandler(h.type, h.name, _all_trimmed(h.body, own) or [_nothing(h)]), h)
            for h in node.handlers
        ]
        orelse, final = _all_trimmed(node.orelse, own), _all_trimmed(node.finalbody, own)
        final = final if handlers or final else [_nothing(node)]
        return ast.copy_location(ast.Try(body, handlers, orelse if handlers else [], final), node)
    return None


def compiled(cell: int, node: ast.stmt, file: str, flags: int, own: NotebookNames) -> Statement:
    """Compile a statement; raise SyntaxError for errors that the parser misses (a `return` outside a function)."""
    code = compile(ast.Module([node], []), file, "exec", flags, dont_inherit=True)
    needs, uses = _names(code)
    inner = list(_nested(node))
    changed = {root for part in inner for root in _changed(part)}
    return Statement(
        cell=cell,
        code=code,
        sets=frozenset(changed | {i.argval for i in dis.get_instructions(code) if i.opname == "STORE_NAME"}),
        needs=needs,
        uses=uses,
        defines=any(_is_definition(part) for part in inner) or bool(changed & own.classes),
        decorated=any(isinstance(part, _FUNCTIONS) and part.decorator_list for part in inner),
    )


def what_is_needed(statements: list[Statement], wanted: frozenset[str]) -> tuple[list[Statement], set[str]]:
    """Return the statements to run, in their order, and all names that they and `wanted` need."""
    needed = set(wanted)
    run = [statement.defines for statement in statements]
    grows = True
    while grows:
        before = len(needed), sum(run)
        for index, statement in enumerate(statements):
            reached = bool(statement.sets & needed)
            run[index] = run[index] or reached
            if run[index]:
                needed |= statement.needs
            if reached or (run[index] and statement.decorated):
                needed |= statement.uses
        grows = before != (len(needed), sum(run))
    return [statement for statement, runs in zip(statements, run, strict=True) if runs], needed


def left_out(node: ast.stmt) -> tuple[set[str], set[str]]:
    """Return the names that a statement would have set, and the names of objects that it would have changed."""
    return _stored(node), {root for part in _nested(node) for root in _changed(part)}


def root_of(expression: ast.expr) -> str:
    """Return the name at the beginning of `name.attribute(…)[…]`, empty if there is none."""
    while isinstance(expression, ast.Attribute | ast.Subscript | ast.Call | ast.Starred):
        expression = expression.func if isinstance(expression, ast.Call) else expression.value
    return expression.id if isinstance(expression, ast.Name) else ""


def _nested(node: ast.stmt) -> Iterator[ast.stmt]:
    """Yield the statement and those inside it that belong to the module itself, not to a function or a class."""
    waiting: list[ast.AST] = [node]  # no recursion: a chain of `elif` is as deep as it is long
    while waiting:
        place = waiting.pop()
        if isinstance(place, ast.stmt):
            yield place
        if isinstance(place, ast.stmt | ast.ExceptHandler) and not isinstance(place, (*_FUNCTIONS, ast.ClassDef)):
            waiting.extend(reversed(list(ast.iter_child_nodes(place))))


def _looping(definitions: Sequence[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]) -> set[str]:
    """Return the functions and classes that loop or call themselves, or use one that does."""
    used = [(node.name, _named(node)) for node in definitions]
    found = {node.name for node in definitions if any(isinstance(part, _LOOPS) for part in ast.walk(node))}
    found |= {name for name, names in used if name in names}
    while more := {name for name, names in used if names & found} - found:
        found |= more
    return found


def _named(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def _evaluated(expression: ast.expr) -> Iterator[ast.AST]:
    """Yield every node that is evaluated with the expression: the body of a lambda is not."""
    waiting: list[ast.AST] = [expression]
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def _names(code: CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that are looked up in the module when the code runs, and when a function in it is called."""
    now = {i.argval for i in dis.get_instructions(code) if i.opname in _LOOKUPS}
    later: set[str] = set()
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            first, then = _names(inner)
            at_once = not inner.co_flags & inspect.CO_OPTIMIZED or inner.co_name in _RUN_AT_ONCE
            now |= first if at_once else set()
            later |= then if at_once else first | then
    return frozenset(now), frozenset(later)


def _is_definition(node: ast.stmt) -> bool:
    return isinstance(node, _DEFINITIONS) or (isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda))


def _stored(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _changed(node: ast.stmt) -> set[str]:
    """Return the names in `name.attribute = …` and `name[key] = …`: the statement changes their objects."""
    if not isinstance(node, _ASSIGNMENTS):
        return set()
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    places = [
        part for target in targets for part in ast.walk(target) if isinstance(part, ast.Attribute | ast.Subscript)
    ]
    return {root_of(place) for place in places if isinstance(place.ctx, ast.Store)} - {""}


def _all_trimmed(body: Iterable[ast.stmt], own: NotebookNames) -> list[ast.stmt]:
    return [left for node in body if (left := trimmed(node, own)) is not None]


def _nothing(place: ast.AST) -> ast.stmt:
    return ast.copy_location(ast.Pass(), place)
