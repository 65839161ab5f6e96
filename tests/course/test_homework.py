"""Reading a homework's configuration, and refusing a wrong one with file and line."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from softmark.course.homework import Homework, course_root, homework_names, load_homework
from softmark.records.errors import ConfigError, UsageError

GOOD = """\
title = "From dot products to attention"
file = "attention_scores.py"
points = 20

[limits]
cpu_seconds = 5
memory_mb = 1024

[[part]]
number = "1"
function = "scores"
title = "The score matrix"
points = 12.5

[[part]]
number = "2"
function = "causal_mask, padding_mask"
title = "Masks"
points = 7.5

[[forbidden]]
names = ["torch.nn.functional.scaled_dot_product_attention"]
ops = ["aten::scaled_dot_product_attention"]
instead = "write softmax(Q Kᵀ/√d_k) V with matmul and softmax"
"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    (tmp_path / "reference").mkdir()
    for name in ("attention_scores", "lstm_gates", "multi_head"):
        folder = tmp_path / "graders" / name
        folder.mkdir(parents=True)
        (folder / "homework.toml").write_text(GOOD, encoding="utf-8")
    return tmp_path


def load_with(course: Path, old: str, new: str) -> Homework:
    assert GOOD.count(old) == 1, f"{old!r} must stand once in the good configuration"
    file = course / "graders" / "attention_scores" / "homework.toml"
    file.write_text(GOOD.replace(old, new), encoding="utf-8")
    return load_homework("attention_scores", course)


class TestLoadHomework:
    def test_reads_everything(self, course: Path) -> None:
        """A good configuration gives title, parts, limits and forbidden names as they were written."""
        homework = load_homework("attention_scores", course)
        assert homework.title == "From dot products to attention"
        assert homework.file == "attention_scores.py"
        assert homework.points == 20
        assert [part.points for part in homework.parts] == [Fraction(25, 2), Fraction(15, 2)]
        assert homework.parts[1].functions == ("causal_mask", "padding_mask")
        assert dict(homework.limits) == {"cpu_seconds": 5.0, "memory_mb": 1024}
        assert homework.forbidden[0].ops == ("aten::scaled_dot_product_attention",)
        assert homework.folder == course / "graders" / "attention_scores"
        assert homework.reference == course / "reference" / "attention_scores.py"

    def test_leaves_limits_to_the_sandbox(self, course: Path) -> None:
        """Limits that are not set are not invented here."""
        homework = load_with(course, "[limits]\ncpu_seconds = 5\nmemory_mb = 1024\n", "")
        assert dict(homework.limits) == {}

    def test_is_frozen(self, course: Path) -> None:
        """Neither the homework nor its limits can be changed after loading."""
        homework = load_homework("attention_scores", course)
        with pytest.raises(AttributeError):
            homework.title = "another"  # type: ignore[misc]
        with pytest.raises(TypeError):
            homework.limits["cpu_seconds"] = 1  # type: ignore[index]

    @pytest.mark.parametrize(
        ("number", "part"),
        [("1", "1"), ("2.1", "2"), ("2.1.3", "2"), ("10", None), ("21", None), ("", None)],
    )
    def test_number_belongs_to_a_part(self, course: Path, number: str, part: str | None) -> None:
        """A test's number belongs to the part it begins with, at a dot and nowhere else."""
        found = load_homework("attention_scores", course).part_of(number)
        assert (found and found.number) == part

    @pytest.mark.parametrize(
        ("number", "part"), [("3", "3"), ("3.2", "3"), ("3.10", "3"), ("3.1", "3.1"), ("3.1.4", "3.1")]
    )
    @pytest.mark.parametrize("numbers", [("3", "3.1"), ("3.1", "3")])
    def test_a_part_of_its_own_inside_another(
        self, course: Path, numbers: tuple[str, str], number: str, part: str
    ) -> None:
        """A test of part 3.1 does not belong to part 3 as well, whichever of them stands first."""
        toml = GOOD.replace('number = "1"', f'number = "{numbers[0]}"').replace(
            'number = "2"', f'number = "{numbers[1]}"'
        )
        (course / "graders" / "attention_scores" / "homework.toml").write_text(toml, encoding="utf-8")
        found = load_homework("attention_scores", course).part_of(number)
        assert found is not None
        assert found.number == part


class TestUnknownHomework:
    def test_says_which_there_are(self, course: Path) -> None:
        """An unknown name is answered with the names there are."""
        with pytest.raises(UsageError) as error:
            load_homework("zzz", course)
        assert str(error.value) == ("no homework named 'zzz'; there are: attention_scores, lstm_gates, multi_head.")

    def test_suggests_the_near_one(self, course: Path) -> None:
        """A misspelt name is answered with the one that was probably meant."""
        with pytest.raises(UsageError, match=r"Did you mean 'attention_scores'\?"):
            load_homework("atention_score", course)

    @pytest.mark.parametrize("name", ["", ".", "..", "../graders/lstm_gates", "/etc/passwd", "lstm_gates/"])
    def test_a_name_is_never_a_path(self, course: Path, name: str) -> None:
        """A path is no name, even if it leads to a homework."""
        with pytest.raises(UsageError, match="no homework named"):
            load_homework(name, course)

    def test_names_are_sorted(self, course: Path) -> None:
        """The homeworks are listed in alphabetical order; a folder without configuration is none."""
        (course / "graders" / "empty").mkdir()
        assert homework_names(course) == ("attention_scores", "lstm_gates", "multi_head")


FORBIDDEN = """\
names = ["torch.nn.functional.scaled_dot_product_attention"]
ops = ["aten::scaled_dot_product_attention"]
"""
INSTEAD = 'instead = "write softmax(Q Kᵀ/√d_k) V with matmul and softmax"'

WRONG = [
    ("unknown key at the top", "points = 20", "points = 20\ncolour = 'red'", 4, "colour: unknown key 'colour'"),
    (
        "unknown key in a part",
        'title = "Masks"',
        'title = "Masks"\nwieght = 2',
        19,
        "part 2 wieght: unknown key 'wieght'",
    ),
    ("unknown limit", "memory_mb = 1024", "memory = 1024", 7, "limits memory: unknown key 'memory'"),
    ("unknown table", "[limits]", "[limit]", 5, "limit: unknown key 'limit'"),
    ("missing key", 'function = "scores"\n', "", 9, "part 1: the key 'function' is missing"),
    ("missing top-level key", 'file = "attention_scores.py"\n', "", 1, "the key 'file' is missing"),
    ("points as text", "points = 12.5", 'points = "12.5"', 13, "part 1 points: expected a number, got text"),
    ("points as boolean", "points = 12.5", "points = true", 13, "part 1 points: expected a number, got true or false"),
    ("NaN points", "points = 12.5", "points = nan", 13, "points must be a finite number, not nan"),
    ("infinite points", "points = 12.5", "points = inf", 13, "points must be a finite number, not inf"),
    ("negative points", "points = 12.5", "points = -12.5", 13, "points must not be negative, but is -12.5"),
    ("zero points", "points = 12.5", "points = 0", 13, "points must be more than 0"),
    (
        "points too fine",
        "points = 12.5",
        "points = 12.50001",
        13,
        "points must have at most four decimals, but is 12.50001",
    ),
    ("points do not sum", "points = 7.5", "points = 7", 3, "the parts sum to 19.5 points, but points = 20"),
    ("odd points", "points = 20", "points = 20.5", 3, "the parts sum to 20 points, but points = 20.5"),
    ("forbidden in no part", INSTEAD, f'{INSTEAD}\nparts = ["1", "9"]', 25, "there is no part '9'"),
    ("number as integer", 'number = "2"', "number = 2", 16, "part 2 number: expected text, got a whole number"),
    ("same number twice", 'number = "2"', 'number = "1"', 16, "two parts have the number '1'"),
    ("number that is none", 'number = "2"', 'number = "2 b"', 16, "a part's number looks like '3' or '3.1', not '2 b'"),
    (
        "function that is none",
        '"causal_mask, padding_mask"',
        '"causal mask"',
        17,
        "function must name what the student writes, not 'causal mask'",
    ),
    ("empty title", 'title = "Masks"', 'title = " "', 18, "the title is empty"),
    (
        "file in a folder",
        '"attention_scores.py"',
        '"../attention_scores.py"',
        2,
        "file must be a plain name such as 'scores.py', not '../attention_scores.py'",
    ),
    (
        "file that is no Python",
        '"attention_scores.py"',
        '"scores.txt"',
        2,
        "file must be a plain name such as 'scores.py', not 'scores.txt'",
    ),
    ("zero limit", "cpu_seconds = 5", "cpu_seconds = 0", 6, "cpu_seconds must be more than 0 and finite, not 0.0"),
    ("NaN limit", "cpu_seconds = 5", "cpu_seconds = nan", 6, "cpu_seconds must be more than 0 and finite, not nan"),
    (
        "limit nobody waits for",
        "cpu_seconds = 5",
        "cpu_seconds = 10000",
        6,
        "cpu_seconds must be at most 600, not 10000",
    ),
    (
        "fractional megabytes",
        "memory_mb = 1024",
        "memory_mb = 10.5",
        7,
        "limits memory_mb: expected a whole number, got a number",
    ),
    ("forbids nothing", FORBIDDEN, "", 21, "this rule forbids nothing: it has neither names nor ops"),
    (
        "op without namespace",
        "aten::scaled_dot",
        "scaled_dot",
        23,
        "an op looks like 'aten::matmul', not 'scaled_dot_product_attention'",
    ),
    ("instead says nothing", INSTEAD, 'instead = ""', 24, "instead must say what to write instead"),
    (
        "broken TOML",
        "[limits]",
        "[limits",
        5,
        "is not valid TOML: Expected ']' at the end of a table declaration (at line 5, column 8)",
    ),
]


class TestConfigError:
    @pytest.mark.parametrize(("old", "new", "line", "says"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
    def test_names_file_and_line(self, course: Path, old: str, new: str, line: int, says: str) -> None:
        """Every wrong configuration is refused with its file, the line of the fault, and what is wrong."""
        with pytest.raises(ConfigError) as error:
            load_with(course, old, new)
        assert str(error.value) == f"graders/attention_scores/homework.toml:{line}: {says}"

    def test_no_parts(self, course: Path) -> None:
        """A homework without parts is refused."""
        file = course / "graders" / "attention_scores" / "homework.toml"
        file.write_text('title = "x"\nfile = "x.py"\npoints = 20\npart = []\n', encoding="utf-8")
        with pytest.raises(ConfigError, match=r"homework\.toml:4: there are no parts"):
            load_homework("attention_scores", course)

    def test_not_utf8(self, course: Path) -> None:
        """A file that is not UTF-8 is refused, not decoded by guess."""
        file = course / "graders" / "attention_scores" / "homework.toml"
        file.write_bytes(b'title = "\xff"\n')
        with pytest.raises(ConfigError, match="is not UTF-8 text"):
            load_homework("attention_scores", course)


class TestReference:
    """What a part asks for must be in the reference, which is read and never run."""

    @pytest.mark.parametrize(
        ("function", "says"),
        [
            ("score", "defines no 'score'. Did you mean 'scores'?"),
            ("quite_another", "defines no 'quite_another': define it there, or name what the student writes"),
            ("scores, Layr", "defines no 'Layr'. Did you mean 'Layer'?"),
            ("Layer.foward", "defines no 'Layer.foward'. Did you mean 'Layer.forward'?"),
        ],
    )
    def test_lacks_it(self, course: Path, function: str, says: str) -> None:
        """A misspelt name is told with its line, and with the one that was probably meant."""
        self.reference(course, "raise SystemExit('this is run')\n" + self.SOLUTION)
        with pytest.raises(ConfigError) as error:
            load_with(course, 'function = "scores"', f'function = "{function}"')
        assert str(error.value) == f"graders/attention_scores/homework.toml:11: reference/attention_scores.py {says}"

    @pytest.mark.parametrize(
        "binds",
        [
            "from elsewhere import hidden as wanted",
            "import wanted.more",
            "wanted: object = len",
            "first, wanted = len, len",
            "try:\n    import x\nexcept ImportError:\n    def wanted(): ...",
            "from elsewhere import *",
            "globals()['wan' + 'ted'] = len",
            "def define():\n    global wanted\n    wanted = len",
        ],
    )
    def test_binds_it_in_another_way(self, course: Path, binds: str) -> None:
        """However the name comes into the module, and also where its text cannot tell, it is no mistake."""
        self.reference(course, f"{self.SOLUTION}{binds}\n")
        assert load_with(course, '"scores"', '"wanted"').parts[0].functions == ("wanted",)

    @pytest.mark.parametrize("method", ["forward", "alias", "Inherits.reset", "Decorated.made"])
    def test_methods(self, course: Path, method: str) -> None:
        """A method is the class's own, or it may come from another class or a decorator."""
        self.reference(course, self.SOLUTION)
        name = method if "." in method else f"Layer.{method}"
        assert load_with(course, '"scores"', f'"{name}"').parts[0].functions == (name,)

    def test_that_is_broken_or_missing_is_not_told_here(self, course: Path) -> None:
        """Tests may do without a reference, and one that does not parse is told when they run."""
        self.reference(course, "def scores(:\n")
        assert load_homework("attention_scores", course).reference.is_file()
        assert not load_homework("lstm_gates", course).reference.is_file()

    SOLUTION = """\
def scores(q, k): ...
def causal_mask(n): ...
def padding_mask(n): ...
class Layer(torch.nn.Module):
    def forward(self, x): ...
    alias = forward
class Inherits(Layer): ...
@decorated
class Decorated: ...
"""

    @staticmethod
    def reference(course: Path, text: str) -> None:
        (course / "reference" / "attention_scores.py").write_text(text)


class TestCourseRoot:
    def test_is_the_nearest_parent(self, course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """From anywhere inside a course, its root is found."""
        monkeypatch.delenv("SOFTMARK_COURSE", raising=False)
        inside = course / "assignments" / "lstm_gates"
        inside.mkdir(parents=True)
        assert course_root(inside) == course.resolve()

    def test_falls_back_to_the_checkout(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Outside of any course, the checkout softmark itself runs from is the course."""
        monkeypatch.delenv("SOFTMARK_COURSE", raising=False)
        root = course_root(tmp_path)
        assert (root / "src" / "softmark" / "course" / "homework.py").is_file()

    def test_obeys_the_environment(self, course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """SOFTMARK_COURSE wins over the place where the command was typed."""
        monkeypatch.setenv("SOFTMARK_COURSE", str(course))
        assert course_root(Path("/")) == course.resolve()

    def test_refuses_an_environment_that_names_none(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A wrong SOFTMARK_COURSE is said, not ignored."""
        monkeypatch.setenv("SOFTMARK_COURSE", str(tmp_path / "nowhere"))
        with pytest.raises(UsageError, match="is no course"):
            course_root(tmp_path)


LATE = """\
[late]
percent_per_day = 10
percent_at_most = 50
grace_minutes = 15
closed_after_days = 5
due = 2026-03-02T23:59:00+01:00
"""

WRONG_LATE = [
    ("unknown key", "grace_minutes = 15", "grace = 15", 29, "late grace: unknown key 'grace'"),
    ("no rate", "percent_per_day = 10\n", "", 26, "late: the key 'percent_per_day' is missing"),
    (
        "rate as text",
        "percent_per_day = 10",
        "percent_per_day = '10 %'",
        27,
        "late percent_per_day: expected a number, got text",
    ),
    (
        "negative rate",
        "percent_per_day = 10",
        "percent_per_day = -10",
        27,
        "percent_per_day must not be negative, but is -10",
    ),
    ("NaN", "percent_per_day = 10", "percent_per_day = nan", 27, "percent_per_day must be a finite number, not nan"),
    (
        "more than all",
        "percent_at_most = 50",
        "percent_at_most = 101",
        28,
        "percent_at_most must be at most 100, but is 101",
    ),
    ("negative grace", "grace_minutes = 15", "grace_minutes = -1", 29, "grace_minutes must not be negative, but is -1"),
    ("endless grace", "grace_minutes = 15", "grace_minutes = 1e300", 29, "grace_minutes is beyond all reason: 1e+300"),
    (
        "half a day",
        "closed_after_days = 5",
        "closed_after_days = 5.5",
        30,
        "late closed_after_days: expected a whole number, got a number",
    ),
    (
        "negative days",
        "closed_after_days = 5",
        "closed_after_days = -1",
        30,
        "closed_after_days must not be negative, but is -1",
    ),
    (
        "due without offset",
        "+01:00",
        "",
        31,
        "due must say its offset from UTC, as in 2026-03-02T23:59:00+01:00 or 2026-03-02T23:59:00Z",
    ),
    (
        "due as text",
        "2026-03-02T23:59:00+01:00",
        "'tomorrow'",
        31,
        "late due: a time looks like 2026-03-02T23:59:00+01:00",
    ),
    (
        "due without time",
        "2026-03-02T23:59:00+01:00",
        "2026-03-02",
        31,
        "late due: expected a date with a time, got a date",
    ),
]


class TestLate:
    def test_reads_the_policy(self, course: Path) -> None:
        """Every value of [late] is taken exactly as it is written."""
        late = load_with(course, INSTEAD, f"{INSTEAD}\n\n{LATE}").late
        assert late
        assert (late.percent_per_day, late.percent_at_most, late.closed_after_days) == (10, 50, 5)
        assert late.grace == timedelta(minutes=15)
        assert late.due == datetime(2026, 3, 2, 22, 59, tzinfo=UTC)

    def test_is_no_matter_without_the_table(self, course: Path) -> None:
        """A homework that says nothing about lateness has no policy."""
        assert load_homework("attention_scores", course).late is None

    def test_has_sensible_defaults(self, course: Path) -> None:
        """The rate alone is enough: no grace, no closing, and everything can be lost."""
        late = load_with(course, INSTEAD, f"{INSTEAD}\n\n[late]\npercent_per_day = 2.5").late
        assert late
        assert late.percent_per_day == Fraction(5, 2)
        assert (late.percent_at_most, late.grace, late.closed_after_days, late.due) == (100, timedelta(0), None, None)

    @pytest.mark.parametrize(
        ("old", "new", "line", "says"), [row[1:] for row in WRONG_LATE], ids=[row[0] for row in WRONG_LATE]
    )
    def test_names_file_and_line(self, course: Path, old: str, new: str, line: int, says: str) -> None:
        """A wrong policy is refused when it is loaded, not when somebody is late."""
        assert LATE.count(old) == 1
        with pytest.raises(ConfigError) as error:
            load_with(course, INSTEAD, f"{INSTEAD}\n\n{LATE.replace(old, new)}")
        assert str(error.value) == f"graders/attention_scores/homework.toml:{line}: {says}"
