"""Loads a homework from its `graders/<hw>/homework.toml`: file, parts, points, limits, forbidden names.

Everything is checked when it is loaded, and refused with file and line: a wrong weight that is found while grading is
found too late.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import msgspec

from softmark.course.deadlines import AttemptLimit, AttemptsTable, LatePolicy, LateTable, attempt_limit, late_policy
from softmark.course.excluded import ExcludedTable, excluded
from softmark.course.limits_table import LimitsTable, limits_of
from softmark.course.reference import dependents, parameters_of, undefined
from softmark.course.toml import Key, LocatedToml
from softmark.records.errors import ConfigError, UsageError
from softmark.records.points import exact_weight, shown

COURSE_VARIABLE = "SOFTMARK_COURSE"
Repairs = Literal["off", "line", "line and kind"]


class Part(msgspec.Struct, frozen=True):
    """One part of a homework: the functions that a student writes, and their points."""

    number: str
    function: str
    """One name, or several with commas between them."""
    title: str
    builds_on: tuple[str, ...] = ()
    """The earlier parts whose functions this part's may call, directly or through others."""
    points: Fraction = Fraction(0)
    in_place: bool = False
    """True if its functions may change their inputs."""

    @property
    def functions(self) -> tuple[str, ...]:
        """Return the names that a student writes for this part; usually one."""
        return tuple(name.strip() for name in self.function.split(","))

    @property
    def roots(self) -> frozenset[str]:
        """Return the functions and classes that a student writes for this part, without names of methods."""
        return frozenset(name.partition(".")[0] for name in self.functions)


class ForbiddenRule(msgspec.Struct, frozen=True):
    """Library functions and operators that would do the student's work, and what to write instead of them."""

    names: tuple[str, ...]
    ops: tuple[str, ...]
    functions: tuple[str, ...]
    """The student's functions that the rule holds for; if none is named, it holds for all."""
    instead: str


@dataclass(frozen=True)
class Homework:
    """A homework whose configuration has been checked."""

    name: str
    root: Path
    title: str
    file: str
    points: Fraction
    parts: tuple[Part, ...]
    forbidden: tuple[ForbiddenRule, ...]
    limits: Mapping[str, float]
    toml: LocatedToml | None = field(default=None, compare=False, repr=False)
    """The configuration with the line of each key; None on a student's machine, which has none."""
    late: LatePolicy | None = None
    """The price of handing in late; None if it costs nothing."""
    whole_notebook: bool = False
    """True if a notebook is run as a whole; otherwise only the cells that define something are."""
    takes: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    """The names of the arguments of each function and method, as far as they are known."""
    packages: tuple[str, ...] = ()
    """The libraries that a student may import beside torch, NumPy and Python's own modules."""
    conditions: bool = True
    """True if `verify` tries each function wrong under one condition at a time."""
    excluded: Mapping[tuple[str, str], str] = field(default_factory=dict, compare=False)
    """The reason why no test compares a function under a condition."""
    attempts: AttemptLimit | None = None
    """The number of attempts, on a platform that counts them; None if there is no limit."""
    repairs: Repairs = "line and kind"
    """The words about a mistake that has no name: none, its line, or its line and the kind of slip."""

    @property
    def wanted(self) -> tuple[str, ...]:
        """Return the functions and classes that a submission is asked to define."""
        return tuple(dict.fromkeys(name.partition(".")[0] for part in self.parts for name in part.functions))

    @property
    def notebook(self) -> str:
        """Return the name of the notebook that may be handed in instead of the file."""
        return self.file.removesuffix(".py") + ".ipynb"

    @property
    def folder(self) -> Path:
        """Return the folder of the hidden tests: graders/<hw>."""
        return self.root / "graders" / self.name

    @property
    def config(self) -> str:
        """Return the name of the configuration in messages: graders/<hw>/homework.toml."""
        return f"graders/{self.name}/homework.toml"

    @property
    def secrets(self) -> Mapping[str, Path]:
        """Return the files that grading needs and no student has, by their names in the course."""
        found = [file for file in self.folder.rglob("*") if file.is_file() and not _is_cache(file, self.folder)]
        files = [*found, *([self.reference] if self.reference.is_file() else [])]  # tests may do without a reference
        return {file.relative_to(self.root).as_posix(): file for file in sorted(files)}

    @property
    def reference(self) -> Path:
        """Return the solution: reference/<hw>.py."""
        return self.root / "reference" / f"{self.name}.py"

    def part_of(self, number: str) -> Part | None:
        """Return the part that a test's number belongs to: "3" and "3.1" belong to part 3. None if there is none."""
        fitting = [part for part in self.parts if f"{number}.".startswith(f"{part.number}.")]
        return max(fitting, key=lambda part: len(part.number), default=None)

    def wrong(self, key: Key, problem: str, text: str = "") -> ConfigError:
        """Return the error to raise about a key of the configuration, or about a text in the key's value."""
        if self.toml is None:
            return ConfigError(self.config, 1, problem)
        return ConfigError(self.config, self.toml.line_of_text(key, text) if text else self.toml.line(key), problem)


class _PartTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    number: str
    function: str
    title: str
    points: float
    builds_on: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    """The earlier functions that it may call. Without it, those that the reference calls."""
    in_place: bool = False


class _ForbiddenTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    instead: str
    names: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


class _Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    file: str
    points: float
    part: tuple[_PartTable, ...]
    limits: LimitsTable = LimitsTable()
    forbidden: tuple[_ForbiddenTable, ...] = ()
    conditions: bool = True
    excluded: tuple[ExcludedTable, ...] = ()
    late: LateTable | msgspec.UnsetType = msgspec.UNSET
    whole_notebook: bool = False
    packages: tuple[str, ...] = ()
    attempts: AttemptsTable | msgspec.UnsetType = msgspec.UNSET
    repairs: Repairs = "line and kind"


def course_root(start: Path | None = None) -> Path:
    """Return the course's folder: SOFTMARK_COURSE, else the nearest around `start`, else softmark's own checkout."""
    named = os.environ.get(COURSE_VARIABLE)
    if named:
        if not _is_course(Path(named)):
            raise UsageError(f"{COURSE_VARIABLE}={named} is no course: it lacks graders/ or reference/.")
        return Path(named).resolve()
    place = (start or Path.cwd()).resolve()
    checkout = Path(__file__).resolve().parents[3]
    for folder in (place, *place.parents, checkout):
        if _is_course(folder):
            return folder
    raise UsageError(
        f"no course at {place} or above it: go to the folder that holds graders/ and reference/, "
        f"or name it in the environment variable {COURSE_VARIABLE}."
    )


def homework_names(root: Path) -> tuple[str, ...]:
    """Return the names of the homeworks of a course, sorted."""
    return tuple(sorted(file.parent.name for file in (root / "graders").glob("*/homework.toml")))


def load_homework(name: str, root: Path | None = None) -> Homework:
    """Return the homework of that name. Raise UsageError if there is none, ConfigError for a wrong configuration."""
    root = course_root() if root is None else root
    names = homework_names(root)
    if name not in names:
        raise UsageError(_no_such_homework(name, names))
    shown_as = f"graders/{name}/homework.toml"
    toml = LocatedToml(root / shown_as, shown_as)
    config = toml.read_as(_Configuration)
    _check_texts(toml, config)
    reference = root / "reference" / f"{name}.py"
    homework = Homework(
        name=name,
        root=root,
        title=config.title,
        file=config.file,
        points=_points(toml, ("points",), config.points),
        parts=_with_what_they_build_on(_parts(toml, config), toml, config, reference),
        forbidden=_forbidden(toml, config),
        limits=limits_of(toml, config.limits),
        toml=toml,
        late=late_policy(toml, config.late),
        whole_notebook=config.whole_notebook,
        packages=config.packages,
        excluded=excluded(toml, config.excluded),
        conditions=config.conditions,
        takes=parameters_of(reference),
        attempts=attempt_limit(toml, config.attempts),
        repairs=config.repairs,
    )
    problems = undefined(homework.reference, (name for part in homework.parts for name in part.functions))
    for index, part in enumerate(homework.parts):
        for name in filter(problems.__contains__, part.functions):
            raise toml.wrong(("part", index, "function"), problems[name])
    return homework


def _is_cache(file: Path, folder: Path) -> bool:
    """Return True for a file that a tool left behind."""
    return any(part == "__pycache__" or part.startswith(".") for part in file.relative_to(folder).parts)


def _is_course(folder: Path) -> bool:
    return (folder / "graders").is_dir() and (folder / "reference").is_dir()


def _no_such_homework(name: str, names: tuple[str, ...]) -> str:
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    return f"no homework named {name!r}; there are: {', '.join(names) or 'none'}.{meant}"


def _check_texts(toml: LocatedToml, config: _Configuration) -> None:
    if not config.title.strip():
        raise toml.wrong(("title",), "the title is empty")
    if Path(config.file).name != config.file or not config.file.endswith(".py") or config.file == ".py":
        raise toml.wrong(("file",), f"file must be a plain name such as 'scores.py', not {config.file!r}")
    if not config.part:
        raise toml.wrong(("part",), "there are no parts; write one [[part]] per function a student writes")


def _points(toml: LocatedToml, key: Key, value: float) -> Fraction:
    try:
        points = exact_weight(value)
    except ValueError as error:
        raise toml.wrong(key, f"points {error}") from error
    if points == 0:
        raise toml.wrong(key, "points must be more than 0")
    return points


def _parts(toml: LocatedToml, config: _Configuration) -> tuple[Part, ...]:
    parts: list[Part] = []
    for index, part in enumerate(config.part):
        _check_part(toml, index, part)
        if part.number in {earlier.number for earlier in parts}:
            raise toml.wrong(("part", index, "number"), f"two parts have the number {part.number!r}")
        points = _points(toml, ("part", index, "points"), part.points)
        parts.append(Part(part.number, part.function, part.title, points=points, in_place=part.in_place))
    of_parts = sum((part.points for part in parts), Fraction(0))
    if of_parts != exact_weight(config.points):
        stated = shown(exact_weight(config.points))
        raise toml.wrong(("points",), f"the parts sum to {shown(of_parts)} points, but points = {stated}")
    return tuple(parts)


def _with_what_they_build_on(
    parts: tuple[Part, ...], toml: LocatedToml, config: _Configuration, reference: Path
) -> tuple[Part, ...]:
    """Return the parts with the earlier ones that each builds on, by the configuration or else by the reference."""
    users = dependents(reference, {part.number: part.functions for part in parts})
    found: dict[str, tuple[str, ...]] = {}
    for index, (part, table) in enumerate(zip(parts, config.part, strict=True)):
        earlier = {before.number: before.roots for before in parts[:index]}
        if table.builds_on is msgspec.UNSET:
            direct = {n for n, names in earlier.items() if any(part.number in users.get(name, ()) for name in names)}
        else:
            for name in table.builds_on:
                if not any(name in names for names in earlier.values()):
                    raise toml.wrong(("part", index, "builds_on"), f"{name!r} is no function of an earlier part")
            direct = {number for number, names in earlier.items() if names & set(table.builds_on)}
        reached = direct.union(*(found[number] for number in direct))
        found[part.number] = tuple(number for number in earlier if number in reached)
    return tuple(msgspec.structs.replace(part, builds_on=found[part.number]) for part in parts)


def _check_part(toml: LocatedToml, index: int, part: _PartTable) -> None:
    if not all(piece.isalnum() for piece in part.number.split(".")):
        raise toml.wrong(("part", index, "number"), f"a part's number looks like '3' or '3.1', not {part.number!r}")
    names = [name.strip() for name in part.function.split(",")]
    if not all(piece.isidentifier() for name in names for piece in name.split(".")):
        problem = f"function must name what the student writes, not {part.function!r}"
        raise toml.wrong(("part", index, "function"), problem)
    if not part.title.strip():
        raise toml.wrong(("part", index, "title"), "the title is empty")


def _forbidden(toml: LocatedToml, config: _Configuration) -> tuple[ForbiddenRule, ...]:
    functions = {part.number: [name.strip() for name in part.function.split(",")] for part in config.part}
    for index, rule in enumerate(config.forbidden):
        for part in rule.parts:
            if part not in functions:
                raise toml.wrong(("forbidden", index, "parts"), f"there is no part {part!r}")
        if not rule.names and not rule.ops:
            raise toml.wrong(("forbidden", index), "this rule forbids nothing: it has neither names nor ops")
        if not rule.instead.strip():
            raise toml.wrong(("forbidden", index, "instead"), "instead must say what to write instead")
        for op in rule.ops:
            if "::" not in op:
                raise toml.wrong(("forbidden", index, "ops"), f"an op looks like 'aten::matmul', not {op!r}")
    return tuple(
        ForbiddenRule(rule.names, rule.ops, tuple(f for part in rule.parts for f in functions[part]), rule.instead)
        for rule in config.forbidden
    )


def require_packages(homework: Homework) -> None:
    """Raise ConfigError if a package that students may import is not installed here, where they are graded."""
    for name in homework.packages:
        if not name.isidentifier() or find_spec(name) is None:
            problem = f"packages: {name!r} is not installed here: install it where submissions are graded"
            raise ConfigError(homework.config, 1, problem)
