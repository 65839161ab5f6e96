"""A homework as its `graders/<hw>/homework.toml` describes it: file, parts, points, limits, forbidden names.

Everything is checked when it is loaded, and refused with file and line: a wrong weight that is found while
grading is found too late.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

import msgspec

from softmark.course.attempts import AttemptLimit, AttemptsTable, attempt_limit
from softmark.course.late import LatePolicy
from softmark.course.late_table import LateTable, late_policy
from softmark.course.reference_names import undefined
from softmark.course.signatures import parameters_of
from softmark.course.toml import Key, LocatedToml
from softmark.records.errors import ConfigError, UsageError
from softmark.records.points import exact_weight, shown

COURSE_VARIABLE = "SOFTMARK_COURSE"
LONGEST_CPU_SECONDS = 600.0


@dataclass(frozen=True)
class PartSpec:
    """One part of a homework: what a student writes, and what it is worth."""

    number: str
    function: str
    title: str
    points: Fraction

    @property
    def functions(self) -> tuple[str, ...]:
        """The names a student writes for this part; usually one."""
        return tuple(name.strip() for name in self.function.split(","))


@dataclass(frozen=True)
class ForbiddenRule:
    """Library shortcuts for the thing being taught, and what to write instead."""

    names: tuple[str, ...]
    ops: tuple[str, ...]
    instead: str
    functions: tuple[str, ...] = ()
    """The student's functions it holds for; none named: all of them."""


@dataclass(frozen=True)
class Homework:
    """A homework whose configuration has been checked."""

    name: str
    root: Path
    title: str
    file: str
    points: Fraction
    parts: tuple[PartSpec, ...]
    forbidden: tuple[ForbiddenRule, ...]
    limits: Mapping[str, float]
    lines: Mapping[str, int] = field(compare=False)
    """Where each part's points stand in the configuration, by the part's number."""
    late: LatePolicy | None = None
    """What handing in late costs; None: it is no matter of this homework."""
    whole_notebook: bool = False
    """Whether a notebook is run as a whole; otherwise only what defines something is."""
    takes: Mapping[str, tuple[str, ...]] = field(default_factory=dict, compare=False)
    """How the arguments of each function and method are called, as far as it is known."""
    packages: tuple[str, ...] = ()
    """What a student may import beside torch, NumPy and Python's own modules."""
    attempts: AttemptLimit | None = None
    """How often it may be handed in, on a platform that says how often it was; None: as often as one likes."""

    @property
    def wanted(self) -> tuple[str, ...]:
        """The names that a submission is asked to define, without those of a class's methods."""
        return tuple(dict.fromkeys(name.partition(".")[0] for part in self.parts for name in part.functions))

    @property
    def folder(self) -> Path:
        """Where the hidden tests are: graders/<hw>."""
        return self.root / "graders" / self.name

    @property
    def config(self) -> str:
        """The configuration's name in messages: graders/<hw>/homework.toml."""
        return f"graders/{self.name}/homework.toml"

    @property
    def secrets(self) -> Mapping[str, Path]:
        """All that grading needs and no student has, by its name in the course: the folder of tests, the reference."""
        found = [file for file in self.folder.rglob("*") if file.is_file() and not _is_cache(file, self.folder)]
        files = [*found, *([self.reference] if self.reference.is_file() else [])]  # tests may do without a reference
        return {file.relative_to(self.root).as_posix(): file for file in sorted(files)}

    @property
    def reference(self) -> Path:
        """The solution: reference/<hw>.py."""
        return self.root / "reference" / f"{self.name}.py"

    def part_of(self, number: str) -> PartSpec | None:
        """The part a test's number belongs to: "3" and "3.1" belong to part 3."""
        fitting = [part for part in self.parts if f"{number}.".startswith(f"{part.number}.")]
        return max(fitting, key=lambda part: len(part.number), default=None)


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    number: str
    function: str
    title: str
    points: float


class _Forbidden(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    instead: str
    names: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


class _Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a homework may set; a limit it leaves out has the default of the sandbox."""

    cpu_seconds: float | msgspec.UnsetType = msgspec.UNSET
    import_seconds: float | msgspec.UnsetType = msgspec.UNSET
    test_seconds: float | msgspec.UnsetType = msgspec.UNSET
    memory_mb: int | msgspec.UnsetType = msgspec.UNSET
    file_mb: int | msgspec.UnsetType = msgspec.UNSET
    processes: int | msgspec.UnsetType = msgspec.UNSET
    open_files: int | msgspec.UnsetType = msgspec.UNSET
    answer_mb: int | msgspec.UnsetType = msgspec.UNSET
    output_bytes: int | msgspec.UnsetType = msgspec.UNSET


class _Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    file: str
    points: float
    part: tuple[_Part, ...]
    limits: _Limits = _Limits()
    forbidden: tuple[_Forbidden, ...] = ()
    late: LateTable | msgspec.UnsetType = msgspec.UNSET
    whole_notebook: bool = False
    packages: tuple[str, ...] = ()
    attempts: AttemptsTable | msgspec.UnsetType = msgspec.UNSET


def course_root(start: Path | None = None) -> Path:
    """The course's folder: SOFTMARK_COURSE, else the nearest around `start`, else softmark's own checkout."""
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
    """The homeworks of this course, sorted."""
    return tuple(sorted(file.parent.name for file in (root / "graders").glob("*/homework.toml")))


def load_homework(name: str, root: Path | None = None) -> Homework:
    """The homework of that name; UsageError if there is none, ConfigError if its configuration is wrong."""
    root = course_root() if root is None else root
    names = homework_names(root)
    if name not in names:
        raise UsageError(_no_such_homework(name, names))
    toml = _located(name, root)
    config = toml.read_as(_Config)
    _check_texts(toml, config)
    homework = Homework(
        name=name,
        root=root,
        title=config.title,
        file=config.file,
        points=_points(toml, ("points",), config.points),
        parts=_parts(toml, config),
        forbidden=_forbidden(toml, config),
        limits=_limits(toml, config.limits),
        lines={part.number: toml.line(("part", i, "points")) for i, part in enumerate(config.part)},
        late=late_policy(toml, config.late),
        whole_notebook=config.whole_notebook,
        packages=config.packages,
        takes=parameters_of(root / "reference" / f"{name}.py"),
        attempts=attempt_limit(toml, config.attempts),
    )
    problems = undefined(homework.reference, (name for part in homework.parts for name in part.functions))
    for index, part in enumerate(homework.parts):
        for name in part.functions:
            if name in problems:
                raise toml.wrong(("part", index, "function"), problems[name])
    return homework


def located(homework: Homework) -> LocatedToml:
    """Return the configuration with the lines of its keys."""
    return _located(homework.name, homework.root)


def _located(name: str, root: Path) -> LocatedToml:
    shown_as = f"graders/{name}/homework.toml"
    return LocatedToml(root / shown_as, shown_as)


def _is_cache(file: Path, folder: Path) -> bool:
    """Whether a tool left it behind."""
    return any(part == "__pycache__" or part.startswith(".") for part in file.relative_to(folder).parts)


def _is_course(folder: Path) -> bool:
    return (folder / "graders").is_dir() and (folder / "reference").is_dir()


def _no_such_homework(name: str, names: tuple[str, ...]) -> str:
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    return f"no homework named {name!r}; there are: {', '.join(names) or 'none'}.{meant}"


def _check_texts(toml: LocatedToml, config: _Config) -> None:
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


def _parts(toml: LocatedToml, config: _Config) -> tuple[PartSpec, ...]:
    parts: list[PartSpec] = []
    for index, part in enumerate(config.part):
        _check_part(toml, index, part)
        if part.number in {earlier.number for earlier in parts}:
            raise toml.wrong(("part", index, "number"), f"two parts have the number {part.number!r}")
        points = _points(toml, ("part", index, "points"), part.points)
        parts.append(PartSpec(part.number, part.function, part.title, points))
    of_parts = sum((part.points for part in parts), Fraction(0))
    if of_parts != exact_weight(config.points):
        stated = shown(exact_weight(config.points))
        raise toml.wrong(("points",), f"the parts sum to {shown(of_parts)} points, but points = {stated}")
    return tuple(parts)


def _check_part(toml: LocatedToml, index: int, part: _Part) -> None:
    if not all(piece.isalnum() for piece in part.number.split(".")):
        problem = f"a part's number looks like '3' or '3.1', not {part.number!r}"
        raise toml.wrong(("part", index, "number"), problem)
    names = [name.strip() for name in part.function.split(",")]
    if not all(piece.isidentifier() for name in names for piece in name.split(".")):
        problem = f"function must name what the student writes, not {part.function!r}"
        raise toml.wrong(("part", index, "function"), problem)
    if not part.title.strip():
        raise toml.wrong(("part", index, "title"), "the title is empty")


def _forbidden(toml: LocatedToml, config: _Config) -> tuple[ForbiddenRule, ...]:
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
        ForbiddenRule(rule.names, rule.ops, rule.instead, tuple(f for part in rule.parts for f in functions[part]))
        for rule in config.forbidden
    )


def require_packages(homework: Homework) -> None:
    """Raise ConfigError if a package that students may import is not installed here, where they are graded."""
    for name in homework.packages:
        if not name.isidentifier() or find_spec(name) is None:
            problem = f"packages: {name!r} is not installed here: install it where submissions are graded"
            raise ConfigError(homework.config, 1, problem)


def _limits(toml: LocatedToml, limits: _Limits) -> Mapping[str, float]:
    chosen: dict[str, float] = msgspec.to_builtins(limits)
    for key, value in chosen.items():
        if not 0 < value < float("inf"):
            raise toml.wrong(("limits", key), f"{key} must be more than 0 and finite, not {value}")
        if key.endswith("_seconds") and value > LONGEST_CPU_SECONDS:
            raise toml.wrong(("limits", key), f"{key} must be at most {LONGEST_CPU_SECONDS:g}, not {value:g}")
    return MappingProxyType(chosen)


__all__ = [
    "ConfigError",
    "ForbiddenRule",
    "Homework",
    "PartSpec",
    "UsageError",
    "course_root",
    "homework_names",
    "load_homework",
    "located",
]
