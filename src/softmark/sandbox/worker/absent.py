"""Runs a student's file so that a failed import costs only the code that uses it. Runs in the worker.

A library that is not installed here (mostly one for plots) must not cost the parts that do not use it. So each name
that a failed import would have set gets an absent thing as its value. In a call, the absent thing raises the error of
the import. If a statement outside of all functions fails because of it, the statement is left out, and the names that
it would have set are absent, too. An import within `try` raises as usual, because the student handles it.
"""

from __future__ import annotations
import __future__

import ast
import dis
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, NoReturn

_FUTURE = sum(getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
_OF_NOTEBOOKS = ("get_ipython", "display")
"""Names that Jupyter sets: a file that was made of a notebook may use them."""


class Absent:
    """Stands for something that a failed import would have brought. Every use of it raises the error of the import.

    While a file is loaded, its attributes and items are absent things, too, because type hints are made of them.
    """

    loading = True

    _absence: tuple[type[ImportError | NameError], str, str | None]

    def __init__(self, error: Exception) -> None:
        kinds = (ModuleNotFoundError, ImportError, NameError)
        kind = next(kind for kind in kinds if isinstance(error, kind))
        object.__setattr__(self, "_absence", (kind, str(error), getattr(error, "name", None)))

    def __getattr__(self, name: str) -> Absent:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self if Absent.loading else _fail(self)

    def __getitem__(self, _key: object) -> Absent:
        return self if Absent.loading else _fail(self)

    def __or__(self, _other: object) -> Absent:
        return self if Absent.loading else _fail(self)

    __ror__ = __or__


def _fail(thing: Absent, *_args: object, **_kwargs: object) -> NoReturn:
    raise absence_of(thing)


for _name in (
    *"call iter enter bool len contains instancecheck subclasscheck mro_entries setattr setitem delitem lt gt".split(),
    *"add radd sub rsub mul rmul matmul rmatmul truediv rtruediv pow rpow neg index int float array".split(),
):
    setattr(Absent, f"__{_name}__", _fail)


def absence_of(thing: Absent) -> Exception:
    """Return what the import raised, without the frames it came through."""
    kind, message, name = thing._absence
    return kind(message, name=name)


def is_absence(error: BaseException) -> bool:
    """Return whether the error says that this machine lacks a library, or a name that only Jupyter sets."""
    return isinstance(error, ImportError) or (isinstance(error, NameError) and error.name in _OF_NOTEBOOKS)


def stand_in(names: Iterable[str], error: Exception, namespace: dict[str, Any]) -> None:
    """Set each of the names that is not set yet to an absent thing."""
    for name in names:
        namespace.setdefault(name, Absent(error))


def one_by_one(node: ast.stmt) -> list[ast.stmt]:
    """Return an import of several things as several imports: one that is absent must not hide the others."""
    if isinstance(node, ast.Import):
        return [ast.copy_location(ast.Import([alias]), alias) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [ast.copy_location(ast.ImportFrom(node.module, [alias], node.level), alias) for alias in node.names]
    return [node]


def run(
    code: CodeType,
    source: bytes | list[ast.stmt],
    execute: Callable[[CodeType], object],
    namespace: dict[str, Any],
) -> list[Exception]:
    """Execute the code of this source, or of these statements; return what its imports raised, each error once.

    Raise what fails for another reason.
    """
    failures: dict[str, Exception] = {}
    rest: list[ast.stmt] | None = None
    while True:
        try:
            execute(code)
            return list(failures.values())
        except Exception as error:
            if rest is None and not is_absence(error):
                raise
            if rest is None:
                rest = ast.parse(source).body if isinstance(source, bytes) else source
            index = _failed_statement(error, code, rest)
            if index is None:
                raise
            failed, rest = rest[index], rest[index + 1 :]
            parts = one_by_one(failed)
            if len(parts) > 1:
                rest = [*parts, *rest]
            else:
                cause = _absence_behind(error, _compiled([failed], code), namespace)
                if cause is None:
                    raise
                failures.setdefault(str(cause), cause)
                stand_in(_names(_compiled([failed], code), "STORE_") | _set_on_the_way(error, code), cause, namespace)
            code = _compiled(rest, code)


def _absence_behind(error: Exception, statement: CodeType, namespace: dict[str, Any]) -> Exception | None:
    """Return the error of a failed import: this one, or that of an absent thing which the statement uses.

    A library that gets an absent thing may raise another error about it.
    """
    if is_absence(error):
        return error
    used = (namespace.get(name) for name in _names(statement, "LOAD_"))
    return next((absence_of(thing) for thing in used if type(thing) is Absent), None)


def _compiled(body: list[ast.stmt], like: CodeType) -> CodeType:
    """Return the statements as code of the same file, under the same `from __future__ import …`."""
    flags = like.co_flags & (_FUTURE | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    code: CodeType = compile(ast.Module(body, []), like.co_filename, "exec", flags, dont_inherit=True)
    return code


def _failed_statement(error: Exception, code: CodeType, body: list[ast.stmt]) -> int | None:
    """Return the index of the statement that the error came from, directly or through functions."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code is not code:
        trace = trace.tb_next
    if trace is None:
        return None
    line, _, column, _ = list(code.co_positions())[trace.tb_lasti // 2]
    place = (line or trace.tb_lineno, column or 0)
    before = [index for index, node in enumerate(body) if _start(node) <= place]
    return before[-1] if before else None


def _start(node: ast.stmt) -> tuple[int, int]:
    first = min([node, *getattr(node, "decorator_list", [])], key=lambda part: part.lineno)
    return first.lineno, node.col_offset if first is node else 0


def _set_on_the_way(error: Exception, code: CodeType) -> set[str]:
    """Return the names that functions of the file would have set in the module without the error."""
    codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    own = [inner for inner in codes if inner.co_filename == code.co_filename and inner is not code]
    return {i.argval for inner in own for i in dis.get_instructions(inner) if i.opname == "STORE_GLOBAL"}


def _names(code: CodeType, operations: str) -> set[str]:
    """Return the names in the module that a statement loads, or those that it stores."""
    instructions = dis.get_instructions(code)
    return {i.argval for i in instructions if i.opname in (f"{operations}NAME", f"{operations}GLOBAL")}


class _OwnFile(SourceFileLoader):
    """Loads another file of the submission, which may also lack imports."""

    def exec_module(self, module: ModuleType) -> None:
        code = self.get_code(module.__name__)
        if code is not None:
            execute_file(code, self.get_data(self.path), vars(module))


@dataclass(frozen=True)
class _OwnFiles:
    """Finds the files that were handed in, in their directory and below it: an entry of sys.path_hooks."""

    directory: str

    def __call__(self, path: str) -> FileFinder:
        if path != self.directory and not path.startswith(self.directory + os.sep):
            raise ImportError("no directory of the submission")
        return FileFinder(path, (_OwnFile, SOURCE_SUFFIXES))


def forget(directory: str) -> None:
    """Take back `tolerated`: files in this directory are found in Python's own way again."""
    sys.path_hooks[:] = [hook for hook in sys.path_hooks if hook != _OwnFiles(directory)]
    for path in [path for path in sys.path_importer_cache if path.startswith(directory)]:
        del sys.path_importer_cache[path]


_failures: list[Exception] = []
"""The exceptions of imports in the files that were run since the last `tolerated`."""


def execute_file(code: CodeType, source: bytes, namespace: dict[str, Any]) -> None:
    """Run a file of the student's. Keep the errors of its imports; raise any other."""
    _failures.extend(run(code, source, lambda part: exec(part, namespace), namespace))


@contextmanager
def tolerated(directory: str) -> Iterator[list[Exception]]:
    """Load a submission inside this block: its files may lack imports. Yield what those imports raised."""
    _failures.clear()
    Absent.loading = True
    sys.path_hooks.insert(0, _OwnFiles(directory))
    try:
        yield _failures
    finally:
        Absent.loading = False
