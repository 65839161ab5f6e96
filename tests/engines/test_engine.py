"""The grading engine: tests collected once, submissions judged one after the other, a wrong homework refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from softmark.engines.messages import Done, EngineReady
from softmark.records.limits import Limits
from softmark.records.result import Outcome, Result, Status
from softmark.records.verdict import CodeLine
from softmark.sandbox.isolation import Sandbox
from softmark.sandbox.student_process import StudentProcess
from tests.support.course import grade, named, progress, references_of, refusal, talk, timeless, write_course
from tests.support.sandboxes import sandbox

if TYPE_CHECKING:
    from tests.conftest import Bench

HIDDEN = '''
@number("1")
@weight(2)
@pytest.mark.parametrize("x", [1.0, 2.0, 3.0, 4.0])
def test_one(student, x):
    """One."""
    agree(student.one, lambda x: x + 1, x)


@number("2")
@weight(2)
def test_two(student):
    """Two."""
    agree(student.two, lambda x: x * 2, 3.0)
    agree(student.two, lambda x: x * 2, 4.0)


@number("3")
@weight(2)
def test_three(student):
    """Three."""
    assert sorted(student.three([3, 1, 2])) == [1, 2, 3]
'''
RIGHT = {
    "one": "def one(x):\n    return x + 1\n",
    "two": "def two(x):\n    return x * 2\n",
    "three": "def three(x):\n    return sorted(x)\n",
}


def submission(head: str = "", **changed: str) -> str:
    """The right submission, with some of its functions replaced and something put before it."""
    return head + "\n".join({**RIGHT, **changed}.values())


def earned(result: Result) -> list[float]:
    return [part.earned for part in result.parts]


def facts(result: Result, number: str = "") -> set[str]:
    return {v.fact for test in result.tests if test.part.startswith(number) for v in test.verdicts}


class Counted:
    """A sandbox that counts the processes it opens."""

    def __init__(self, place: Sandbox) -> None:
        self._place = place
        self.level = place.level
        self.opened = 0

    def open(self, files: Mapping[str, bytes], limits: Limits) -> StudentProcess:
        self.opened += 1
        return self._place.open(files, limits)

    def close(self) -> None:
        """The sandbox underneath closes itself."""


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


@pytest.fixture
def counted(place: Sandbox) -> Counted:
    return Counted(place)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_course(tmp_path_factory.mktemp("course"), HIDDEN, points=[2, 2, 2])


class TestSubmissions:
    """One submission after the other."""

    def test_right_is_everything_in_one_process(self, course: Path, counted: Counted) -> None:
        """A right submission earns everything, and one process is enough for all its tests."""
        (result,) = grade(course, counted, submission())
        assert (result.total, result.status, counted.opened) == (6.0, Status.GRADED, 1)

    def test_do_not_know_of_each_other(self, course: Path, place: Sandbox) -> None:
        """What one submission does or earns changes nothing for the next."""
        hostile = "import builtins, torch\ntorch.Tensor.__eq__ = builtins.sorted = lambda *a: 0\ndef one(x): return 0\n"
        results = grade(course, place, submission(), hostile, submission(), "def one(x): return x + 1", submission())
        assert [result.total for result in results] == [6.0, 0.0, 6.0, 2.0, 6.0]
        assert [result.submission.id for result in results] == [f"number {n}" for n in range(5)]

    def test_are_told_test_by_test(self, course: Path, place: Sandbox) -> None:
        """Each test makes a result, complete in its list, from the one of second zero to the last."""
        said = talk(course, place, submission())
        assert isinstance(said[0], EngineReady)
        assert isinstance(said[-1], Done)
        results = [said[0].pending, *progress(said), said[-1].result]
        assert all([test.name for test in r.tests] == ["test_one", "test_two", "test_three"] for r in results)
        assert results[0].total == 0
        assert {test.outcome for test in results[0].tests} == {Outcome.NOT_RUN}
        totals = [result.total for result in results]
        assert totals == sorted(totals)
        assert set(totals) == {0.0, 2.0, 4.0, 6.0}
        assert [result.finished for result in results].index(True) >= 3

    def test_say_what_they_printed(self, course: Path, place: Sandbox) -> None:
        """Output is kept for staff, and so are names that are forbidden only when used."""
        (result,) = grade(course, place, submission("print('hello')\nimport sys\nprint('oh', file=sys.stderr)\n"))
        assert (result.printed.stdout, result.printed.stderr) == ("hello\n", "oh\n")


class TestLevels:
    """Walls or none."""

    @pytest.mark.parametrize("kind", ["process", "spawned", "bare"])
    def test_make_no_difference_to_honest_work(self, kind: str, course: Path, place: Sandbox) -> None:
        """The same marks and the same words, in a process without walls, in a spawned one, and in this one."""
        source = submission(one="def one(x):\n    return x\n", three="def three(x):\n    raise ValueError(x)\n")
        (expected,) = grade(course, place, source)
        with sandbox(kind) as other:
            (found,) = grade(course, other, source)
        assert [(t.score, t.verdicts) for t in found.tests] == [(t.score, t.verdicts) for t in expected.tests]


class TestPurity:
    """No part can cost another its marks."""

    @pytest.mark.parametrize(
        "spoiler",
        [
            "import builtins; builtins.sorted = lambda x: x",
            "global two, three; two = three = None",
            "import torch; torch.set_default_dtype(torch.float16); torch.set_grad_enabled(False)",
            "import gc, sys; sys.setrecursionlimit(60)",
            "import os; os.close(1); os.close(2)",
            "import threading, os, time; "
            "threading.Thread(target=lambda: (time.sleep(0.005), os._exit(0)), daemon=True).start()",
        ],
        ids=["patched builtin", "deleted functions", "settings", "recursion", "closed output", "late exit"],
    )
    def test_leftovers_of_one_part(self, spoiler: str, course: Path, place: Sandbox) -> None:
        """Whatever part 1 leaves in its process, parts 2 and 3 earn what they deserve."""
        (result,) = grade(course, place, submission(one=f"def one(x):\n    {spoiler}\n    return x + 1\n"))
        assert earned(result)[1:] == [2.0, 2.0]

    @pytest.mark.parametrize("end", ["os._exit(0)", "os.abort()", "os.kill(os.getpid(), 9)", "1 / 0"])
    def test_a_crash_costs_one_part(self, end: str, course: Path, place: Sandbox) -> None:
        """A part that ends its process loses its own marks and nobody else's."""
        (result,) = grade(course, place, submission(two=f"import os\ndef two(x):\n    {end}\n"))
        assert earned(result) == [2.0, 0.0, 2.0]

    def test_a_wrong_part_costs_one_more_process(self, course: Path, counted: Counted) -> None:
        """A failure in a used process is judged again in a fresh one, which is then used on."""
        (result,) = grade(course, counted, submission(two="def two(x):\n    return x\n"))
        assert (earned(result), counted.opened) == ([2.0, 0.0, 2.0], 2)


UNLOADABLE: dict[str, tuple[str, str, int | None]] = {
    "syntax": ("x = 1\nx = = 2\n", "has a line that is not valid Python", 2),
    "indentation": ("def f():\nreturn 1\n", "is not indented as Python wants it", 2),
    "smart quotes": ("x = “1”\n", "has a typographic quotation mark (“)", 1),
    "sys.exit": ("import sys\n\nsys.exit(0)\n", "ends the program while it is loaded (exit, quit or sys.exit)", 3),
    "argparse": ("import argparse\nargparse.ArgumentParser().parse_args(['-x'])\n", "reads the command line", 2),
    "skip": ("import pytest\npytest.skip(allow_module_level=True)\n", "raised Skipped", 2),
    "undefined name": ("x = undefined\n", "uses `undefined`, which is defined nowhere", 1),
    "interrupt": ("raise KeyboardInterrupt\n", "raised KeyboardInterrupt", 1),
    "own exception": ("raise type('PASSED', (BaseException,), {})('x')\n", "an exception class of its own", 1),
    "memory": ("import torch\nx = torch.ones(10**9)\n", "needed more memory than it is allowed", 2),
}


def check_unloadable(result: Result, reason: str) -> None:
    assert (result.status, result.total) == (Status.NOT_GRADABLE, 0.0)
    assert {test.outcome for test in result.tests} == {Outcome.FAILED}
    assert result.reason.startswith("tiny.py could not be loaded: ")
    assert reason in result.reason


class TestUnloadable:
    """A file that cannot be loaded: every part 0, one clear reason at the top, with the student's line."""

    @pytest.mark.parametrize(("head", "reason", "line"), UNLOADABLE.values(), ids=UNLOADABLE)
    def test_says_why_and_where(self, head: str, reason: str, line: int | None, course: Path, counted: Counted) -> None:
        """The reason names what happened, and the line; one process was enough to find it out."""
        (result,) = grade(course, counted, submission(head))
        check_unloadable(result, reason)
        text = head.splitlines()[line - 1] if line else ""
        assert result.reason_frames[-1] == CodeLine(file="tiny.py", line=line or 0, function="", text=text)
        assert counted.opened == 1

    @pytest.mark.parametrize(
        ("source", "reason", "lines"),
        [
            ("x = 1\ndef On(x): pass\ndef tow(x): return x\n", "; is your `tow` meant to be `two`?", [3]),
            ("# nothing\n", "it defines none of the names that are asked for (`one`, `two`, `three`)", []),
            ("one = 1\n", "it defines none of the names", []),
        ],
        ids=["misspelt", "comments", "no function"],
    )
    def test_names_what_is_missing(
        self, source: str, reason: str, lines: list[int], course: Path, place: Sandbox
    ) -> None:
        """A file without any of the functions is told once, and not for every test."""
        (result,) = grade(course, place, source)
        check_unloadable(result, reason)
        assert [frame.line for frame in result.reason_frames] == lines

    def test_one_wrong_name_is_its_parts_own(self, course: Path, place: Sandbox) -> None:
        """A misspelt function costs its part, with a suggestion; the others are graded."""
        (result,) = grade(course, place, submission(three="def tree(x):\n    return sorted(x)\n"))
        assert earned(result) == [2.0, 2.0, 0.0]
        assert facts(result) == {"three: `three` is not defined in the file; is your `tree` meant to be it?"}

    @pytest.mark.parametrize(
        ("head", "reason"),
        [("import os\nos._exit(0)\n", "exit status 0"), ("import os\nos.abort()\n", "was aborted")],
    )
    def test_a_crash_is_tried_twice(self, head: str, reason: str, course: Path, counted: Counted) -> None:
        """A file that crashes while it is imported is tried once more, and not for every test."""
        (result,) = grade(course, counted, submission(head))
        check_unloadable(result, reason)
        assert counted.opened == 2

    def test_an_endless_import_is_ended(self, tmp_path: Path, counted: Counted) -> None:
        """An import that loops is ended at its limit of processor time, which the reason names."""
        limits = "cpu_seconds = 1\nimport_seconds = 0.2\n"
        root = write_course(tmp_path, HIDDEN, points=[2, 2, 2], limits=limits)
        (result,) = grade(root, counted, submission("while True:\n    pass\n"))
        check_unloadable(result, "no answer within 0.2 s of computing time")
        assert counted.opened == 1
        assert 0.2 <= result.cpu_seconds < 0.2 + 2

    @pytest.mark.parametrize("before", ["\ufeff", "# -*- coding: utf-8 -*-\n", "x = 'ünïcode ✓'\n", "\x0c\n"])
    def test_harmless_oddities_are_none(self, before: str, course: Path, place: Sandbox) -> None:
        """A byte order mark, a cookie, Unicode, a form feed: the file is graded."""
        (result,) = grade(course, place, submission(before))
        assert result.total == 6.0

    def test_line_ends_of_other_systems(self, course: Path, place: Sandbox) -> None:
        """Lines may end as on Windows, and are counted there as an editor does."""
        source = submission(three="def three(x):\n    # not yet\n    raise ValueError\n").replace("\n", "\r\n")
        (result,) = grade(course, place, source)
        assert earned(result) == [2.0, 2.0, 0.0]
        frames = [frame for verdict in named(result, "test_three").verdicts for frame in verdict.frames]
        assert [(frame.line, frame.text) for frame in frames] == [(9, "raise ValueError")]


class TestTime:
    """Limits, for a test, a part, the whole."""

    def test_after_two_timeouts_a_part_is_given_up(self, course: Path, counted: Counted) -> None:
        """Four cases that loop cost two time-outs; the other parts are graded."""
        (result,) = grade(course, counted, submission(one="def one(x):\n    while True: pass\n"))
        assert earned(result) == [0.0, 2.0, 2.0]
        cases = [case.verdicts[0].fact for case in named(result, "test_one").cases]
        slow = "one: no answer within 0.3 s of computing time"
        given_up = "one: not run: other tests of this part already ran out of time"
        assert cases == [slow, slow, given_up, given_up]
        assert counted.opened == 3

    def test_calls_of_one_test_share_its_time(self, course: Path, place: Sandbox) -> None:
        """A test that calls twice has its time once, and the limit that is named is the test's."""
        slow = (
            "import time\ndef two(x):\n    end = time.process_time() + 0.2\n    while time.process_time() < end: pass\n"
        )
        (result,) = grade(course, place, submission(two=slow + "    return x * 2\n"))
        assert earned(result) == [2.0, 0.0, 2.0]
        assert facts(result) == {"two: no answer within 0.3 s of computing time"}

    def test_calls_of_one_test_share_the_clock(self, course: Path, place: Sandbox) -> None:
        """A test that asks twice waits once: what the first call has slept is missing for the second."""
        asleep = "import time\ndef two(x):\n    time.sleep(1.5)\n    return x * 2\n"
        (result,) = grade(course, place, submission(two=asleep))
        assert earned(result) == [2.0, 0.0, 2.0]
        assert facts(result) == {"two: no answer within 2 s; the program was waiting, not computing"}

    def test_the_whole_has_a_budget(self, course: Path, place: Sandbox) -> None:
        """When the time for the submission is used up, what was earned stays, and the rest says why it is 0."""
        (result,) = grade(course, place, submission(two="import time\ndef two(x):\n    time.sleep(60)\n"), budget=2.0)
        assert (earned(result), result.status) == ([2.0, 0.0, 0.0], Status.GRADED)
        assert facts(result, "3") == {"not run: the time for the whole submission was used up"}
        assert {fact.removeprefix("two: ") for fact in facts(result, "2")} == facts(result, "3")
        assert result.finished


NOISY = {
    "one": "import random\nimport numpy\nimport torch\n\n"
    "def one(x):\n    return float(torch.rand(())), random.random(), float(numpy.random.rand())\n",
}
SHOWS = '''
@number("1.{n}")
@weight(1)
def test_{n}(student):
    """Random numbers."""
    assert False, repr((student.one(1.0), student.one(1.0), draw("n", n=2).tolist()))
'''


class TestRandomNumbers:
    """Every test has numbers of its own, for ever the same."""

    def test_two_runs_are_identical(self, tmp_path: Path, place: Sandbox) -> None:
        """The same submission, graded again, gives the same result to the last bit; two tests draw differently."""
        root = write_course(tmp_path, "".join(SHOWS.format(n=n) for n in (1, 2)), points=[2])
        first, second = grade(root, place, NOISY["one"], NOISY["one"])
        (third,) = grade(root, place, NOISY["one"])
        again = msgspec.structs.replace(second, submission=first.submission)
        assert timeless(first) == timeless(again) == timeless(third)
        numbers = re.findall(r"\d\.\d{5,}", "".join(v.fact for t in first.tests for v in t.verdicts))
        assert len(numbers) == len(set(numbers)) == 16


class TestRefusals:
    """What the engine does not start with: said with file and line."""

    def test_a_name_twice(self, place: Sandbox, tmp_path: Path) -> None:
        """Two tests of one name, of which Python would forget the first."""
        why = refusal(write_course(tmp_path, HIDDEN.replace("test_two", "test_one"), points=[2, 2, 2]), place)
        assert re.fullmatch(r"graders/tiny/test_hidden\.py:17: there is already a test named test_one in line 10", why)

    def test_a_name_in_two_files(self, place: Sandbox, tmp_path: Path) -> None:
        """Two tests of one name, of which the result could hold only one."""
        root = write_course(tmp_path, HIDDEN, points=[2, 2, 2])
        folder = root / "graders/tiny"
        head, first, others = (folder / "test_hidden.py").read_text().partition('@number("1")')
        second = head + (first + others).replace('@number("', '@number("3.').replace("test_two", "test_other")
        (folder / "test_more.py").write_text(second.replace("test_three", "test_last"))
        why = refusal(root, place)
        said = (
            "there is already a test named test_one, in graders/tiny/test_hidden.py: give each test a name of its own"
        )
        assert why.endswith(said)
        assert why.startswith("graders/tiny/test_more.py:")

    def test_no_docstring(self, place: Sandbox, tmp_path: Path) -> None:
        """A test without the title that a student sees."""
        why = refusal(write_course(tmp_path, HIDDEN.replace('"""Two."""', "pass"), points=[2, 2, 2]), place)
        assert why.startswith("graders/tiny/test_hidden.py:17: test_two has no docstring")

    def test_weights_that_do_not_sum(self, place: Sandbox, tmp_path: Path) -> None:
        """Tests that are worth more than their part."""
        why = refusal(write_course(tmp_path, HIDDEN, points=[2, 1, 2]), place)
        assert why == (
            "graders/tiny/test_hidden.py:17: part 2 (two) has 1 points, but its tests sum to 2: 2 (test_two)"
        )

    @pytest.mark.parametrize(
        ("more", "says"),
        [
            ("x = = 1\n", "SyntaxError: invalid syntax"),
            ("import nowhere\n", "ModuleNotFoundError: No module named 'nowhere'"),
            ("undefined\n", "NameError: name 'undefined' is not defined"),
        ],
        ids=["syntax", "import", "name"],
    )
    def test_tests_that_cannot_be_imported(self, more: str, says: str, place: Sandbox, tmp_path: Path) -> None:
        """Hidden tests with an error: one sentence with file and line, and no traceback."""
        why = refusal(write_course(tmp_path, HIDDEN + more, points=[2, 2, 2]), place)
        assert why == f"graders/tiny/test_hidden.py:28: the hidden tests cannot be imported: {says}"

    @pytest.mark.parametrize(
        ("reference", "line", "says"),
        [
            ("undefined\n", 4, "NameError: name 'undefined' is not defined"),
            ("\nx = = 1\n", 5, "SyntaxError: invalid syntax"),
            ("import json\nx = json.loads('?')\n", 5, "JSONDecodeError: Expecting value: line 1 column 1 (char 0)"),
        ],
        ids=["name", "syntax", "inside a library"],
    )
    def test_reference_that_cannot_be_imported(
        self, reference: str, line: int, says: str, place: Sandbox, tmp_path: Path
    ) -> None:
        """The place that is named is the innermost line of the course, and not the import that led there."""
        root = write_course(tmp_path, f"from reference import tiny as ref\n{HIDDEN}", points=[2, 2, 2])
        functions = "".join(f"def {name}(x): return x\n" for name in ("one", "two", "three"))
        (root / "reference/tiny.py").write_text(functions + reference)
        with references_of(root):
            why = refusal(root, place)
        assert why == f"reference/tiny.py:{line}: the hidden tests cannot be imported: {says}"

    def test_no_tests(self, place: Sandbox, tmp_path: Path) -> None:
        """A homework whose hidden tests are missing: which file is to be written, and what shows how."""
        root = write_course(tmp_path, "")
        no_test = "graders/tiny/homework.toml:12: part 1 (one) has 4 points and no test"
        assert refusal(root, place) == f"{no_test}; write one in graders/tiny/test_hidden.py"
        (root / "graders/tiny/test_hidden.py").unlink()
        missing = "there is no graders/tiny/test_hidden.py: write it as docs/homework.md shows"
        assert refusal(root, place) == f"{no_test}; {missing}"


class TestBench:
    """The engine as a process of its own, on a real homework."""

    def test_gives_the_reference_everything(self, bench: Bench, reference_source: str) -> None:
        """The reference earns full marks, at the level that was asked for, and leaves nothing."""
        result = bench.grade(reference_source)
        assert (result.total, result.max_score, result.status) == (20.0, 20.0, Status.GRADED)
        assert bench.processes() == []
        assert bench.files() == []
