"""Reading the list of tests off the hidden tests, and hearing what they set while they run."""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from gradescope_utils.autograder_utils.decorators import leaderboard, partial_credit, weight

from softmark.course.homework import load_homework
from softmark.course.testspecs import Column, TestSpec, base_nodeid, case_id, read_specs, refuse_shadowing
from softmark.grading.setters import SetterError, captured_setters
from softmark.records.errors import ConfigError

pytest_plugins = ["pytester"]

TOML = """\
title = "Scores"
file = "scores.py"
points = 5

[[part]]
number = "1"
function = "scores"
title = "The score matrix"
points = 3

[[part]]
number = "2"
function = "mask"
title = "Masks"
points = 2
"""

GOOD = '''\
import pytest
from gradescope_utils.autograder_utils.decorators import (
    hide_errors, leaderboard, number, partial_credit, tags, visibility, weight)


@number("1")
@weight(3)
@visibility("after_published")
@tags("shapes", "numbers")
@hide_errors("Look at the scores again.")
@pytest.mark.parametrize("n", [1, 5], ids=["one", "five"])
def test_scores(n):
    """The score matrix S = Q Kᵀ / √d_k.

    More for the instructor.
    """


@number("2.10")
@partial_credit(0.5)
@pytest.mark.all_or_nothing
def test_mask_late(set_score=None):
    """Late."""
    set_score(0.25)


@number("2.9")
@weight(1.5)
@leaderboard("speed", "asc")
def test_mask_early(set_leaderboard_value=None):
    """Early."""
    set_leaderboard_value(3)
'''

Read = Callable[..., tuple[TestSpec, ...]]


@pytest.fixture
def read(pytester: pytest.Pytester) -> Read:
    root = pytester.path
    folder = root / "graders" / "scores"
    folder.mkdir(parents=True)
    (root / "reference").mkdir()
    (folder / "homework.toml").write_text(TOML, encoding="utf-8")

    def read_source(source: str = GOOD) -> tuple[TestSpec, ...]:
        (folder / "test_hidden.py").write_text(source, encoding="utf-8")
        items, _ = pytester.inline_genitems(folder, "-p", "no:softmark", "-W", "ignore")
        return read_specs(items, load_homework("scores", root))

    return read_source


class TestReadSpecs:
    def test_reads_all_seven_decorators(self, read: Read) -> None:
        """Each decorator of gradescope-utils finds its place in the test's description."""
        scores, early, late = read()
        assert scores == TestSpec(
            name="test_scores",
            nodeid=scores.nodeid,
            number="1",
            part="1",
            title="The score matrix S = Q Kᵀ / √d_k.",
            weight=Fraction(3),
            visibility="after_published",
            tags=("shapes", "numbers"),
            hide_errors="Look at the scores again.",
            leaderboard=None,
            all_or_nothing=False,
            cases=("one", "five"),
            file="graders/scores/test_hidden.py",
            line=12,
        )
        assert early.leaderboard == Column("speed", "asc")
        assert late.weight == Fraction(1, 2)
        assert late.all_or_nothing
        assert late.cases == ("",)
        assert late.visibility == "visible"

    def test_is_ordered_by_number(self, read: Read) -> None:
        """2.9 comes before 2.10, wherever they stand in the file."""
        assert [spec.number for spec in read()] == ["1", "2.9", "2.10"]

    @pytest.mark.parametrize(
        "parts",
        [
            {"3": ["3.0", "3.2"], "3.1": ["3.1", "3.1.2"], "10": ["10.1"]},
            {"3": ["3.a", "3.b", "3.1", "3.2"], "4": ["4"]},
            {"3": ["3.²", "3.9", "3.9a", "3.10"], "3.1": ["3.1", "3.1.0"]},
        ],
        ids=["a part inside another", "letters", "letters and digits of other kinds"],
    )
    def test_is_ordered_by_part_first(self, parts: dict[str, list[str]], pytester: pytest.Pytester, read: Read) -> None:
        """The tests of a part stand together, although part 3.1 comes between tests 3.0 and 3.2 of part 3."""
        tables = "".join(
            f'[[part]]\nnumber = "{part}"\nfunction = "f{n}"\ntitle = "Part"\npoints = {len(tests)}\n'
            for n, (part, tests) in enumerate(parts.items())
        )
        numbers = [number for tests in parts.values() for number in tests]
        head = f'title = "Scores"\nfile = "scores.py"\npoints = {len(numbers)}\n'
        (pytester.path / "graders/scores/homework.toml").write_text(head + tables)
        source = GOOD.partition("@number")[0] + "".join(
            f'@number("{number}")\n@weight(1)\ndef test_{n}():\n    """A test."""\n\n\n'
            for n, number in reversed(list(enumerate(numbers)))
        )
        assert [spec.number for spec in read(source)] == numbers

    def test_shares_the_weight_among_cases(self, read: Read) -> None:
        """A parametrised case is worth an equal share of its test."""
        assert read()[0].case_weight == Fraction(3, 2)

    def test_items_find_their_spec(self, pytester: pytest.Pytester) -> None:
        """An item's node id and case id are the keys of its test and case, brackets in ids included."""
        file = pytester.makepyfile(
            'import pytest\n@pytest.mark.parametrize("n", [1], ids=["a[0]"])\ndef test_x(n): pass\n'
        )
        items, _ = pytester.inline_genitems(file, "-p", "no:softmark")
        assert base_nodeid(items[0]).endswith("::test_x")
        assert case_id(items[0]) == "a[0]"

    def test_leaderboard_test_may_weigh_nothing(self, read: Read) -> None:
        """A test that only fills the leaderboard needs no weight."""
        source = GOOD.replace("@weight(1.5)\n", "").replace("partial_credit(0.5)", "partial_credit(2)")
        assert read(source)[1].weight == 0


WRONG = [
    ("no weight", "@weight(3)\n", "", 11, "test_scores has no weight; write @weight(2) or @partial_credit(2)"),
    (
        "weight NaN",
        "@weight(3)",
        '@weight(float("nan"))',
        7,
        "test_scores has a weight that must be a finite number, not nan",
    ),
    (
        "weight negative",
        "@weight(3)",
        "@weight(-3)",
        7,
        "test_scores has a weight that must not be negative, but is -3",
    ),
    ("weight as text", "@weight(3)", '@weight("3")', 7, "test_scores has a weight that must be a number, not str '3'"),
    (
        "weight too fine",
        "@weight(3)",
        "@weight(1 / 3)",
        7,
        "test_scores has a weight that must have at most four decimals, but is 0.3333333333333333",
    ),
    (
        "partial credit negative",
        "partial_credit(0.5)",
        "partial_credit(-1)",
        20,
        "test_mask_late has a weight that must not be negative, but is -1",
    ),
    (
        "no docstring",
        '"""Late."""\n',
        "",
        22,
        "test_mask_late has no docstring; its first line is the title a student sees",
    ),
    (
        "empty docstring",
        '"""Late."""',
        '"""   """',
        22,
        "test_mask_late has no docstring; its first line is the title a student sees",
    ),
    (
        "no number",
        '@number("2.9")\n',
        "",
        29,
        'test_mask_early has no number; write @number("3.1") for a test of part 3',
    ),
    (
        "number twice",
        '@number("2.9")',
        '@number("2.10")',
        30,
        "test_mask_early has the number '2.10', as has test_mask_late in line 22",
    ),
    ("unknown part", '@number("1")', '@number("3")', 6, "test_scores has the number '3', but the parts are 1, 2"),
    (
        "bad visibility",
        '"after_published"',
        '"published"',
        8,
        "test_scores has the visibility 'published', which is none of visible, hidden, after_due_date, after_published",
    ),
    ("bad tag", '"numbers"', "7", 9, "test_scores has the tag 7, which is not text"),
    (
        "bad hide_errors",
        '"Look at the scores again."',
        "7",
        10,
        "test_scores hides its errors behind 7, which is not text",
    ),
    (
        "bad order",
        '"speed", "asc"',
        '"speed", "up"',
        29,
        "test_mask_early sorts its leaderboard column 'up'; write 'asc' or 'desc'",
    ),
    (
        "bad column",
        '"speed", "asc"',
        '" ", "asc"',
        29,
        "test_mask_early has the leaderboard column ' ', which is not a name",
    ),
    (
        "weights do not sum",
        "@weight(3)",
        "@weight(2)",
        12,
        "part 1 (scores) has 3 points, but its tests sum to 2: 2 (test_scores)",
    ),
    (
        "one name twice",
        "test_mask_early",
        "test_mask_late",
        30,
        "there is already a test named test_mask_late in line 22",
    ),
]


class TestConfigError:
    @pytest.mark.parametrize(("old", "new", "line", "says"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
    def test_names_file_and_line(self, read: Read, old: str, new: str, line: int, says: str) -> None:
        """Every wrong declaration is refused with its file, the line of the fault, and what is wrong."""
        assert GOOD.count(old) == 1, f"{old!r} must stand once in the good tests"
        with pytest.raises(ConfigError) as error:
            read(GOOD.replace(old, new))
        assert str(error.value) == f"graders/scores/test_hidden.py:{line}: {says}"

    @pytest.mark.parametrize(
        ("files", "what_next"),
        [
            ((), "there is no graders/scores/test_hidden.py: write it as docs/homework.md shows"),
            (("test_hidden.py",), "write one in graders/scores/test_hidden.py"),
            (("test_own.py",), "write one in graders/scores/test_own.py"),
            (("test_hidden.py", "test_own.py"), "write one in graders/scores"),
        ],
        ids=["no file", "one", "one of another name", "two"],
    )
    def test_a_part_without_tests(
        self, files: tuple[str, ...], what_next: str, pytester: pytest.Pytester, read: Read
    ) -> None:
        """A part that nothing tests is refused at its points in the configuration, with the next step."""
        read()
        folder = pytester.path / "graders/scores"
        (folder / "test_hidden.py").unlink()
        for name in files:
            (folder / name).touch()
        with pytest.raises(ConfigError) as error:
            read_specs([], load_homework("scores", pytester.path))
        assert (
            str(error.value) == f"graders/scores/homework.toml:9: part 1 (scores) has 3 points and no test; {what_next}"
        )

    def test_another_part_without_tests(self, read: Read) -> None:
        """Each part needs a test of its own."""
        with pytest.raises(ConfigError) as error:
            read(GOOD.partition('@number("2.10")')[0])
        assert str(error.value).startswith("graders/scores/homework.toml:15: part 2 (mask) has 2 points and no test; ")

    @pytest.mark.parametrize(
        ("more", "line"),
        [
            ("class TestMore:\n    def test_a(self): pass\n    def help(self): pass\n    def test_a(self): pass\n", 4),
            ("def test_a(): pass\n\n\ndef test_a(): pass\n", 4),
            ("def help(): pass\n\n\ndef help(): pass\n", None),
            ("def test_a(): pass\nclass TestMore:\n    def test_a(self): pass\n", None),
        ],
        ids=["in a class", "in the file", "no tests", "in two places"],
    )
    def test_two_tests_of_one_name(self, more: str, line: int | None, tmp_path: Path) -> None:
        """Python forgets the first of two functions of one name, and its marks with it."""
        file = tmp_path / "test_hidden.py"
        file.write_text(more, encoding="utf-8")
        if line is None:
            refuse_shadowing(file, tmp_path)
            return
        with pytest.raises(ConfigError) as error:
            refuse_shadowing(file, tmp_path)
        first = more[: more.index("test_a")].count("\n") + 1
        assert str(error.value) == f"test_hidden.py:{line}: there is already a test named test_a in line {first}"

    def test_says_all_weights_of_the_part(self, read: Read) -> None:
        """The instructor sees which weights were added up."""
        with pytest.raises(ConfigError, match=r"sum to 3: 0\.5 \(test_mask_early\) \+ 2\.5 \(test_mask_late\)"):
            read(GOOD.replace("partial_credit(0.5)", "partial_credit(2.5)").replace("@weight(1.5)", "@weight(0.5)"))


def spec(**changes: Any) -> TestSpec:
    values: dict[str, Any] = {
        "name": "test_x",
        "nodeid": "t.py::test_x",
        "number": "1",
        "part": "1",
        "title": "x",
        "weight": Fraction(4),
        "visibility": "visible",
        "tags": (),
        "hide_errors": None,
        "leaderboard": Column("speed", "asc"),
        "all_or_nothing": False,
        "cases": ("",),
        "file": "t.py",
        "line": 3,
    }
    return TestSpec(**{**values, **changes})


def call(function: Callable[..., None], *args: Any, **kwargs: Any) -> Any:
    with captured_setters(function) as captured:
        function(*args, **kwargs)
    return captured


class TestListening:
    def test_hears_both_setters(self) -> None:
        """Both setters are heard, in whichever order the decorators stand, under any other decorator."""

        def both(set_score: Any = None, set_leaderboard_value: Any = None) -> None:
            set_score(1)
            set_leaderboard_value("★★")

        for function in (
            weight(4)(partial_credit(4)(leaderboard("speed")(both))),
            leaderboard("speed")(weight(4)(partial_credit(4)(both))),
        ):
            captured = call(function)
            assert captured.share(spec()) == Fraction(1, 4)
            assert captured.leaderboard_value(spec()) == "★★"

    def test_does_not_leak_into_the_next_call(self) -> None:
        """A case that sets nothing has set nothing, whatever the case before it did."""

        @partial_credit(4)
        def sometimes(value: float | None, set_score: Any = None) -> None:
            if value is not None:
                set_score(value)

        assert call(sometimes, 2).share(spec()) == Fraction(1, 2)
        assert call(sometimes, None).share(spec()) is None

    def test_does_not_inherit_a_call_outside(self) -> None:
        """What a call that nobody listened to left behind is not heard."""

        @partial_credit(4)
        def always(value: float | None, set_score: Any = None) -> None:
            if value is not None:
                set_score(value)

        always(4)
        assert call(always, None).share(spec()) is None

    def test_hears_what_was_said_before_a_failure(self) -> None:
        """A score that was set counts, even if the test fails afterwards, and nothing stays behind."""

        @partial_credit(4)
        def fails(set_score: Any = None) -> None:
            set_score(3)
            raise AssertionError

        with pytest.raises(AssertionError), captured_setters(fails) as captured:
            fails()
        assert captured.share(spec()) == Fraction(3, 4)
        assert "__score__" not in vars(fails)

    def test_plain_function_says_nothing(self) -> None:
        """A test without setters is judged by whether it passes."""

        def plain() -> None: ...

        assert call(plain).share(spec()) is None
        assert call(plain).leaderboard_value(spec()) is None

    @pytest.mark.parametrize("score", [float("nan"), float("inf"), -0.5, 4.5, "4", True, [4]])
    def test_refuses_an_impossible_score(self, score: object) -> None:
        """A score that is not between 0 and the weight is the test's fault, said with file and line."""

        @partial_credit(4)
        def wrong(set_score: Any = None) -> None:
            set_score(score)

        with pytest.raises(SetterError, match=r"^t\.py:3: test_x called set_score\("):
            call(wrong).share(spec())

    def test_forgives_the_rounding_of_floats(self) -> None:
        """0.1 + 0.2 of a 0.3-point test is full marks, although the float is a little above."""

        @partial_credit(0.3)
        def sums(set_score: Any = None) -> None:
            set_score(0.1 + 0.2)

        assert call(sums).share(spec(weight=Fraction(3, 10))) == 1

    @pytest.mark.parametrize("value", [float("nan"), 10**400, "x" * 1000, None, [1], True])
    def test_refuses_an_impossible_leaderboard_value(self, value: object) -> None:
        """Only finite numbers and short texts reach the leaderboard; nothing at all is simply no entry."""

        @leaderboard("speed")
        def wrong(set_leaderboard_value: Any = None) -> None:
            set_leaderboard_value(value)

        if value is None:
            assert call(wrong).leaderboard_value(spec()) is None
            return
        with pytest.raises(SetterError, match="set_leaderboard_value"):
            call(wrong).leaderboard_value(spec())

    def test_leaderboard_value_is_plain_json(self) -> None:
        """Whole numbers become numbers that JSON keeps."""

        @leaderboard("speed")
        def whole(set_leaderboard_value: Any = None) -> None:
            set_leaderboard_value(42)

        assert json.dumps(call(whole).leaderboard_value(spec())) == "42.0"


def test_the_installed_decorators_store_what_we_read() -> None:
    """If gradescope-utils stored its values elsewhere, every weight would silently be missing."""

    @partial_credit(4)
    def function(set_score: Any = None) -> None:
        set_score(1)

    function()
    assert vars(function)["__weight__"] == 4
    assert vars(function)["__score__"] == 1
    assert Path(partial_credit.__init__.__code__.co_filename).name == "decorators.py"
