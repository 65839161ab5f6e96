"""Defines a verdict: why one check of a test failed, in a category, a code, sentences and lines of code.

The same objects are made by the checks, kept in a Result and read by every report. The texts differ in who may read
them:

* `fact`, `causes` and `frames` are safe for a student whatever the test's visibility: shapes, types, counts, the
  student's own doing, never a hidden input or an expected value.
* `where`, `picture` and `lines` hold hidden values: they are shown only where the test's visibility policy allows it.
* `staff` is for the course staff only: seed, arguments, ratios.

Decisions read `category`, `code`, `function` and `exception`, never a text: a text may be reworded at any time.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec

from softmark.records.record import Record

LONGEST_TEXT = 2000
"""Longest text of a verdict: some hold words of the student's, and every verdict is kept."""

PictureRows = tuple[tuple[float | None, ...], ...]


class Category(StrEnum):
    """The kind of a failure, the most severe first: a severe one hides the others."""

    GRADER = "grader"
    """The grader itself failed: the student did nothing wrong."""
    LOAD = "load"
    FORBIDDEN = "forbidden"
    CRASH = "crash"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    ERROR = "error"
    TYPE = "type"
    SHAPE = "shape"
    DTYPE = "dtype"
    DEVICE = "device"
    NAN = "nan"
    VALUE = "value"
    PROPERTY = "property"
    INPUT_CHANGED = "input_changed"


class Code(StrEnum):
    """The particular failure, where a decision depends on it. Every other verdict has its category for a code."""

    NOT_DEFINED = "not-defined"
    """The submission does not define the function or class."""
    NOT_WRITTEN = "not-written"
    """The function is there and raises NotImplementedError."""
    WAITS = "waits"
    """The test waits for another part that is not written."""
    FOLLOWS = "follows"
    """The failure may follow from an earlier part that is wrong. Only the public tests say this."""
    WRONG_ARGUMENTS = "wrong-arguments"
    """The function does not take the arguments that the handout names."""
    EXCEPTION = "exception"
    WRONG_DEVICE = "wrong-device"
    """The code raises an exception because of the device that a tensor is on."""
    ENDLESS_RECURSION = "endless-recursion"
    NOT_PLAIN = "not-plain"
    """The answer is no value that can leave the student's process."""
    NOT_TRIED = "not-tried"
    """The function was not called, because other tests of the part had run out of time."""
    GRADIENT = "gradient"
    """A gradient is wrong, while the values may be right."""


class Regularity(StrEnum):
    """The way in which wrong numbers are regular. A sentence says it only if all wrong answers of the part agree."""

    NONE = "none"
    ZERO = "zero"
    FACTOR = "factor"
    SIGN = "sign"
    OFFSET = "offset"
    AXES = "axes"
    REVERSED = "reversed"
    SHIFTED = "shifted"
    SUMS = "sums"
    WRONG_ONES_ZERO = "wrong-ones-zero"
    WRONG_ONES_SIGN = "wrong-ones-sign"
    ONE_ROW = "one-row"
    TRUTH = "truth"
    """True and False are exchanged."""
    OUTPUTS = "outputs"
    """One output stands in the place of another."""


class CodeLine(Record, frozen=True):
    """One line of the student's own code."""

    file: str
    line: int
    function: str
    text: str

    @property
    def place(self) -> str:
        """Return file and line as an editor understands them; a notebook's cell is no file that one could open."""
        return f"{self.file}:{self.line}" if self.file.endswith(".py") else f"{self.file}, line {self.line}"


class Listing(Record, frozen=True):
    """Lines of a function in the student's file, as they were handed in; some may be left out between them."""

    part: str
    """The part in which it failed."""
    file: str
    numbers: tuple[int, ...]
    lines: tuple[str, ...]
    marked: tuple[int, ...] = ()
    """Numbers of the lines that exceptions came from, or that a small edit would mend."""

    def rows(self) -> tuple[tuple[int, str], ...]:
        """Return the lines with their numbers; 0 stands where lines are left out."""
        rows: list[tuple[int, str]] = []
        for number, line in zip(self.numbers, self.lines, strict=True):
            if rows and number != rows[-1][0] + 1:
                rows.append((0, ""))
            rows.append((number, line))
        return tuple(rows)


class Cause(Record, frozen=True):
    """A named mistake, or two made together, that reproduces the student's answer."""

    name: str
    """Name of the registered mistake, or two names with a plus sign between them."""
    says: str
    hint: str = ""
    mistakes: tuple[str, ...] = ()
    """The names of the registered mistakes; empty in results from before it was noted."""
    worth: float = 0.0
    """Share of the marks that an instructor gives although this mistake was made."""
    direct: bool = True
    """False if it is a mistake of a function that the checked one calls."""


class Repair(Record, frozen=True):
    """The line of a student's own code where a small edit makes all tests of the part pass."""

    file: str
    line: int
    text: str
    """The line as it was handed in."""
    kind: str = ""
    """The kind of slip; empty if the homework lets students know the line only."""
    says: str = ""
    """The sentence about the kind of slip, for students; empty as the kind is."""
    edit: str = ""
    """The edit itself, for staff only."""


class Picture(Record, frozen=True):
    """A small matrix, expected and got, for drawing. A value that is not finite is None."""

    expected: PictureRows
    got: PictureRows
    caption: str = ""


class Lines(Record, frozen=True):
    """The lines of a text, or the entries of a list or dictionary, expected and got, around the first difference."""

    expected: tuple[str, ...]
    got: tuple[str, ...]
    first: int = 0
    """The number of lines that are left out before them."""


class Verdict(Record, frozen=True):
    """The reason why a case, or one subtest of it, failed."""

    category: Category
    fact: str
    where: str = ""
    staff: str = ""
    causes: tuple[Cause, ...] = ()
    frames: tuple[CodeLine, ...] = ()
    picture: Picture | None = None
    lines: Lines | None = None
    subtest: str = ""
    """The subtest of its case that failed; empty if the case has none."""
    code: str = ""
    """A `Code`, or the name of the category."""
    function: str = ""
    """The student's function that gave no answer, as the test named it; empty if an answer came."""
    exception: str = ""
    """Class name of the student's exception, if it raised one."""
    diagnosed: bool = False
    """True if the named mistakes were tried on the answer; only then do empty `causes` say that none fits."""
    regularity: str = ""
    """A `Regularity` of wrong numbers; empty if there are no numbers, or too few to tell."""
    clause: str = ""
    """The part of the fact that says the regularity; empty if there is none."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("fact", "where", "staff"):
            if len(text := getattr(self, name)) > LONGEST_TEXT:
                msgspec.structs.force_setattr(self, name, text[:LONGEST_TEXT])
        if not self.code:
            msgspec.structs.force_setattr(self, "code", str(self.category))

    def without_clause(self) -> Verdict:
        """Return this verdict without the words about a regularity."""
        fact = self.fact.replace(self.clause, "", 1) if self.clause else self.fact
        return msgspec.structs.replace(self, fact=fact, regularity="", clause="")


class Failed(AssertionError):
    """Raised by a check that does not hold. It carries the verdict; its text is the fact, which a student may read."""

    def __init__(self, verdict: Verdict) -> None:
        super().__init__(verdict.fact)
        self.verdict = verdict

    def saying(self, fact: str) -> Failed:
        """Return this failure in other words. A test raises it where it knows more than the check that failed."""
        return Failed(msgspec.structs.replace(self.verdict, fact=fact))


class FailedCall(Record, frozen=True):
    """The call behind a failure of a public test, for the student who wants to make it again."""

    function: str
    takes: tuple[str, ...]
    """The names of the arguments that were given."""
    given: tuple[str, ...]
    """The arguments in short; of a large tensor its shape and dtype."""
    id: int
    """The number of the call, which is the same whenever its test is run."""
