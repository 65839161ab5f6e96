"""Reads the fixed list of tests, and the points of each, off the hidden tests before any student code runs.

Authors write gradescope-utils' seven decorators, pytest's `parametrize`, and the marker `all_or_nothing`. The first
line of a test's docstring is the title that students see. Its number says which part it belongs to.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from softmark.course.homework import Homework, Part
from softmark.records.errors import ConfigError
from softmark.records.points import exact_weight, shown

if TYPE_CHECKING:
    import pytest
import ast
import inspect
import re

VISIBILITIES = ("visible", "hidden", "after_due_date", "after_published")
SORT_ORDERS = ("asc", "desc")
ALL_OR_NOTHING = "all_or_nothing"
ONLY_CASE = ""
HIDDEN_TESTS = "test_hidden.py"


@dataclass(frozen=True)
class Column:
    """A column of the leaderboard that a test fills."""

    name: str
    order: str


@dataclass(frozen=True)
class TestSpec:
    """One hidden test function, with all its parametrised cases."""

    __test__: ClassVar[bool] = False

    name: str
    nodeid: str
    number: str
    part: str
    title: str
    weight: Fraction
    visibility: str
    tags: tuple[str, ...]
    hide_errors: str | None
    leaderboard: Column | None
    all_or_nothing: bool
    cases: tuple[str, ...]
    file: str
    line: int

    @property
    def case_weight(self) -> Fraction:
        """Return the points of one parametrised case."""
        return self.weight / len(self.cases)


def base_nodeid(item: pytest.Item) -> str:
    """Return the node id of the test function that an item belongs to, without the case's id."""
    case = case_id(item)
    return item.nodeid.removesuffix(f"[{case}]") if case else item.nodeid


def case_id(item: pytest.Item) -> str:
    """Return the id of the parametrised case, or the empty text for a test that has only one."""
    callspec = getattr(item, "callspec", None)
    return str(callspec.id) if callspec is not None else ONLY_CASE


def read_specs(items: Iterable[pytest.Item], homework: Homework) -> tuple[TestSpec, ...]:
    """Return all tests of a homework by part, then by number. Raise ConfigError for a wrong one."""
    specs = read_chosen(items, homework)
    _check_sums(specs, homework)
    return specs


def read_chosen(items: Iterable[pytest.Item], homework: Homework) -> tuple[TestSpec, ...]:
    """Return some of the tests, as `read_specs` does. Their points need not add up to those of the parts."""
    items = list(items)
    for path in {item.path for item in items}:
        refuse_shadowing(path, homework.root)
    by_function: dict[str, list[pytest.Item]] = {}
    for item in items:
        by_function.setdefault(base_nodeid(item), []).append(item)
    specs = [_read_spec(nodeid, cases, homework) for nodeid, cases in by_function.items()]
    check_unique(specs)
    place = {part.number: index for index, part in enumerate(homework.parts)}
    return tuple(sorted(specs, key=lambda spec: (place[spec.part], _in_reading_order(spec.number))))


def _read_spec(nodeid: str, items: Sequence[pytest.Item], homework: Homework) -> TestSpec:
    declared = Declaration(items[0], homework.root)
    column = _leaderboard(declared)
    part = _part(declared, homework)
    return TestSpec(
        name=nodeid.partition("::")[2] or nodeid,
        nodeid=nodeid,
        number=str(declared.value("number")),
        part=part.number,
        title=_title(declared),
        weight=_weight(declared, column),
        visibility=_visibility(declared),
        tags=_tags(declared),
        hide_errors=_hide_errors(declared),
        leaderboard=column,
        all_or_nothing=any(items[0].iter_markers(ALL_OR_NOTHING)),
        cases=tuple(case_id(item) for item in items),
        file=declared.file,
        line=declared.line,
    )


def _part(declared: Declaration, homework: Homework) -> Part:
    number = declared.value("number")
    if number is None:
        raise declared.wrong("def", 'has no number; write @number("3.1") for a test of part 3')
    part = homework.part_of(str(number))
    if part is None:
        known = ", ".join(part.number for part in homework.parts)
        raise declared.wrong("number", f"has the number {str(number)!r}, but the parts are {known}")
    return part


def _title(declared: Declaration) -> str:
    title = (declared.docstring.strip().splitlines() or [""])[0].strip()
    if not title:
        raise declared.wrong("def", "has no docstring; its first line is the title a student sees")
    return title


def _weight(declared: Declaration, column: Column | None) -> Fraction:
    weight = declared.value("weight")
    if weight is None and column is not None:
        return Fraction(0)
    if weight is None:
        raise declared.wrong("def", "has no weight; write @weight(2) or @partial_credit(2)")
    try:
        return exact_weight(weight)
    except ValueError as error:
        decorator = "partial_credit" if declared.has_decorator("partial_credit") else "weight"
        raise declared.wrong(decorator, f"has a weight that {error}") from error


def _visibility(declared: Declaration) -> str:
    visibility = declared.value("visibility")
    if visibility is None:
        return "visible"
    if visibility not in VISIBILITIES:
        known = ", ".join(VISIBILITIES)
        raise declared.wrong("visibility", f"has the visibility {visibility!r}, which is none of {known}")
    return str(visibility)


def _tags(declared: Declaration) -> tuple[str, ...]:
    tags: Any = declared.value("tags") or ()
    for tag in tags:
        if not isinstance(tag, str):
            raise declared.wrong("tags", f"has the tag {tag!r}, which is not text")
    return tuple(tags)


def _hide_errors(declared: Declaration) -> str | None:
    message = declared.value("hide_errors")
    if message is None or isinstance(message, str):
        return message
    raise declared.wrong("hide_errors", f"hides its errors behind {message!r}, which is not text")


def _leaderboard(declared: Declaration) -> Column | None:
    name = declared.value("leaderboard_column")
    order = declared.value("leaderboard_sort_order")
    if name is None:
        return None
    if not isinstance(name, str) or not name.strip():
        raise declared.wrong("leaderboard", f"has the leaderboard column {name!r}, which is not a name")
    if order not in SORT_ORDERS:
        raise declared.wrong("leaderboard", f"sorts its leaderboard column {order!r}; write 'asc' or 'desc'")
    return Column(name, str(order))


def check_unique(specs: Sequence[TestSpec]) -> None:
    """Raise ConfigError if two tests have the same name or number, or fill the same column of the leaderboard."""
    names: dict[str, TestSpec] = {}
    numbers: dict[str, TestSpec] = {}
    columns: dict[str, TestSpec] = {}
    for spec in specs:
        earlier = names.setdefault(spec.name, spec)
        if earlier is not spec:
            problem = f"there is already a test named {spec.name}, in {earlier.file}: give each test a name of its own"
            raise ConfigError(spec.file, spec.line, problem)
        earlier = numbers.setdefault(spec.number, spec)
        if earlier is not spec:
            problem = f"{spec.name} has the number {spec.number!r}, as has {earlier.name} in line {earlier.line}"
            raise ConfigError(spec.file, spec.line, problem)
        if spec.leaderboard is None:
            continue
        earlier = columns.setdefault(spec.leaderboard.name, spec)
        if earlier is not spec:
            problem = f"{spec.name} fills the leaderboard column {spec.leaderboard.name!r}, as {earlier.name} does"
            raise ConfigError(spec.file, spec.line, problem)


def _check_sums(specs: Sequence[TestSpec], homework: Homework) -> None:
    for index, part in enumerate(homework.parts):
        tests = [spec for spec in specs if spec.part == part.number]
        weights = sum((spec.weight for spec in tests), Fraction(0))
        if weights == part.points:
            continue
        worth = f"part {part.number} ({part.function}) has {shown(part.points)} points"
        if not tests:
            raise homework.wrong(("part", index, "points"), f"{worth} and no test; {_next(homework)}")
        listed = " + ".join(f"{shown(spec.weight)} ({spec.name})" for spec in tests)
        problem = f"{worth}, but its tests sum to {shown(weights)}: {listed}"
        raise ConfigError(tests[0].file, tests[0].line, problem)


def _next(homework: Homework) -> str:
    """Return the next step for a part without a test."""
    folder, files = f"graders/{homework.name}", [file.name for file in homework.folder.glob("test_*.py")]
    if not files:
        return f"there is no {folder}/{HIDDEN_TESTS}: write it as docs/homework.md shows"
    return f"write one in {folder}/{files[0]}" if len(files) == 1 else f"write one in {folder}"


def _in_reading_order(number: str) -> tuple[tuple[int, str], ...]:
    """Return a key that puts 3.2 before 3.10, and letters before numbers: 3.a before 3.1."""
    pieces = re.findall(r"\d+|[^\d.]+", number)
    return tuple((int(piece), "") if piece.isdecimal() else (-1, piece) for piece in pieces)


class Declaration:
    """The declared properties of one hidden test, and errors that point at the decorator that is wrong."""

    def __init__(self, item: pytest.Item, root: Path) -> None:
        self.function: Any = getattr(item, "function", None)
        self.path = item.path
        self.file = _shown_path(item.path, root)
        if self.function is None:
            raise ConfigError(self.file, 1, f"{item.name} is no test function")
        self.name = item.nodeid.partition("::")[2].partition("[")[0]
        self._code = inspect.unwrap(self.function).__code__
        self._source = self.path.read_text(encoding="utf-8")
        self.line = self._line_of("def")

    @property
    def docstring(self) -> str:
        """Return the whole docstring, or the empty text."""
        return inspect.getdoc(self.function) or ""

    def value(self, name: str) -> object:
        """Return the value that the decorator stored as `__name__` on the function; None if it was not used."""
        return getattr(self.function, f"__{name}__", None)

    def has_decorator(self, name: str) -> bool:
        """Return True if the decorator is written above this function."""
        return self._decorator_line(name) is not None

    def wrong(self, place: str, problem: str) -> ConfigError:
        """Return the error to raise about this test; `place` is a decorator's name, or "def"."""
        return ConfigError(self.file, self._line_of(place), f"{self.name} {problem}")

    def _line_of(self, place: str) -> int:
        if place != "def":
            return self._decorator_line(place) or self.line
        return next(
            (number for number, text in self._lines_of_header() if re.match(r"\s*(async\s+)?def\s", text)),
            self._code.co_firstlineno,
        )

    def _decorator_line(self, name: str) -> int | None:
        written = re.compile(rf"\s*@(\w+\.)*{name}\b")
        return next((number for number, text in self._lines_of_header() if written.match(text)), None)

    def _lines_of_header(self) -> list[tuple[int, str]]:
        """Return the numbered lines from the first decorator up to the function's `def`."""
        header = []
        first = self._code.co_firstlineno
        for number, text in enumerate(self._source.splitlines()[first - 1 :], start=first):
            header.append((number, text))
            if re.match(r"\s*(async\s+)?def\s", text):
                break
        return header


def refuse_shadowing(path: Path, root: Path) -> None:
    """Raise ConfigError for two test functions of one name: Python forgets the first, and its marks with it."""
    module = ast.parse(path.read_text(encoding="utf-8"))
    classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
    scopes: list[ast.Module | ast.ClassDef] = [module, *classes]
    for scope in scopes:
        seen: dict[str, int] = {}
        for node in scope.body:
            if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test"):
                continue
            first = seen.setdefault(node.name, node.lineno)
            if first != node.lineno:
                problem = f"there is already a test named {node.name} in line {first}"
                raise ConfigError(_shown_path(path, root), node.lineno, problem)


def _shown_path(path: Path, root: Path) -> str:
    try:
        return path.resolve().relative_to(root.resolve()).as_posix()
    except ValueError:
        return path.name
