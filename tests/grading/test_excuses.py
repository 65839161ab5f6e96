"""Each part is graded by itself: earlier parts that are wrong cost nothing in later ones, and lies gain nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from softmark.course.homework import load_homework
from softmark.records.errors import ConfigError
from softmark.records.result import Outcome, Result
from softmark.sandbox.isolation import Sandbox
from softmark.verdict import compare
from tests.support.course import grade, lost, named, references_of, write_course
from tests.support.sandboxes import sandbox

REFERENCE = """import torch

def one(x):
    return 2 * x

def two(x):
    return one(x) + 1

def three(x):
    return two(x) ** 2
"""
HIDDEN = '''
from reference import tiny as ref
from softmark import gradients_agree, keeps_dtype, leaves_inputs, ops_independent_of, works_on_meta


@number("1.1")
@weight(1)
def test_one(student):
    """One."""
    agree(student.one, ref.one, draw("n", n=5))


@number("1.2")
@weight(1)
def test_one_of_more(student):
    """One with more axes."""
    agree(student.one, ref.one, draw("n m", n=5, m=4))


@number("2.1")
@weight(1)
@pytest.mark.parametrize("n", [3, 6])
def test_two(student, n):
    """Two."""
    agree(student.two, ref.two, draw("n", n=n))


@number("2.2")
@weight(1)
def test_two_conduct(student):
    """The input stays as it was, gradients reach it, the dtype stays, and any device will do."""
    x = draw("n", n=4)
    agree(student.two, ref.two, x)
    leaves_inputs(student.two, x)
    gradients_agree(student.two, ref.two, x)
    keeps_dtype(student.two, x)
    works_on_meta(student.two, x)
    ops_independent_of("the length", student.two, (x,), (x.repeat(9),))


@number("3")
@weight(2)
def test_three(student):
    """Three."""
    agree(student.three, ref.three, draw("n", n=5))
'''
MISTAKES = """
from reference import tiny as ref
from softmark import mistake

@mistake(ref.one, says="You tripled.")
def tripled(x):
    return 3 * x

@mistake(ref.one, says="You halved.")
def halved(x):
    return x / 2

@mistake(ref.two, says="You subtracted.")
def subtracted(x):
    return ref.one(x) - 1
"""
TWO = "def two(x):\n    return one(x) + 1\n"
THREE = "def three(x):\n    return two(x) ** 2\n"
REST = TWO + THREE
OWN = ["1.1", "1.2"]
SPOILT = {
    "wrong": "def one(x):\n    return 3 * x\n",
    "raises": "def one(x):\n    raise ValueError('no')\n",
    "hangs": "def one(x):\n    while True:\n        pass\n",
    "exits": "def one(x):\n    import os\n    os._exit(0)\n",
    "shape": "def one(x):\n    return 2 * x[:1]\n",
    "dtype": "def one(x):\n    return (2 * x).half()\n",
    "list": "def one(x):\n    return [2 * v for v in x]\n",
    "nothing": "def one(x):\n    return None\n",
    "missing": "",
    "device": "import torch\ndef one(x):\n    return 3 * x + torch.zeros(x.shape)\n",
    "in_place": "def one(x):\n    x *= 3\n    return x\n",
    "loops": "import torch\ndef one(x):\n    return torch.stack([3 * v for v in x])\n",
    "other_arguments": "def one():\n    return 1\n",
}


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


@pytest.fixture
def course(tmp_path: Path) -> Iterator[Path]:
    root = write_course(tmp_path, HIDDEN, points=[2, 2, 2])
    (root / "reference/tiny.py").write_text(REFERENCE)
    (root / "graders/tiny/mistakes.py").write_text(MISTAKES)
    with references_of(root):
        yield root


def given(result: Result) -> dict[str, tuple[str, ...]]:
    return {test.number: test.given for test in result.tests if test.given}


class TestEarlierPart:
    """A part that builds on a wrong one."""

    @pytest.mark.parametrize("name", SPOILT)
    def test_costs_nothing_later(self, name: str, course: Path, place: Sandbox) -> None:
        """Part 1 loses its own marks, in whichever way it is wrong."""
        [result] = grade(course, place, SPOILT[name] + REST)
        assert lost(result) == OWN
        assert {"2.1", "3"} <= given(result).keys()
        assert set(given(result).values()) == {("1",)}

    def test_does_not_excuse_a_mistake_of_the_part_itself(self, course: Path, place: Sandbox) -> None:
        """Part 2 loses its marks for its own mistake, whose name stays; part 3 is right given correct parts 1 and 2."""
        [result] = grade(course, place, SPOILT["raises"] + "def two(x):\n    return one(x) - 1\n" + THREE)
        assert lost(result) == [*OWN, "2.1", "2.2"]
        assert given(result) == {"3": ("1", "2")} or given(result) == {"3": ("2",)}

    def test_that_is_right_costs_no_second_run(self, course: Path, place: Sandbox) -> None:
        """A mistake that shows in part 2 only is paid for there, or it would cost nothing anywhere."""
        remembers = "seen = []\ndef one(x):\n    seen.append(x.shape)\n    return 2 * x + (x.shape == (3,))\n"
        [result] = grade(course, place, remembers + REST)
        assert lost(result) == ["2.1"]
        assert not given(result)

    def test_a_right_part_is_not_run_again(self, course: Path, place: Sandbox) -> None:
        """A part that does not use the wrong one passes at once."""
        [result] = grade(course, place, SPOILT["wrong"] + "def two(x):\n    return 2 * x + 1\n" + THREE)
        assert lost(result) == OWN
        assert not given(result)

    def test_of_another_that_ran_out_of_time_costs_nothing(self, course: Path, place: Sandbox) -> None:
        """A test that was not tried, because others of its part took too long in part 1, is tried with stand-ins."""
        test = (
            '@number("2.3")\n@weight(1)\ndef test_two_of_nothing(student):\n    """Nothing."""\n'
            "    agree(student.two, ref.two, torch.zeros(0))\n"
        )
        hidden, toml = course / "graders/tiny/test_hidden.py", course / "graders/tiny/homework.toml"
        hidden.write_text(f"{hidden.read_text()}\n\n{test}")
        two = 'title = "Part two"\npoints = '
        toml.write_text(toml.read_text().replace("points = 6", "points = 7").replace(f"{two}2", f"{two}3"))
        empty = "def two(x):\n    return one(x) + 1 if len(x) else x\n"
        [result] = grade(course, place, SPOILT["hangs"] + empty + THREE)
        assert lost(result) == OWN
        assert named(result, "test_two_of_nothing").given == ()

    def test_does_not_excuse_a_part_that_asks_for_the_same_function(self, course: Path, place: Sandbox) -> None:
        """A function that two parts ask for is paid for in both: nothing answers in its place where it is asked for."""
        toml = course / "graders/tiny/homework.toml"
        toml.write_text(toml.read_text().replace('function = "two"', 'function = "one, two"'))
        [result] = grade(course, place, SPOILT["raises"] + REST)
        assert lost(result) == [*OWN, "2.1", "2.2"]
        assert given(result).keys() == {"3"}

    def test_with_subtests(self, course: Path, place: Sandbox) -> None:
        """Each subtest is excused by itself; one that fails in both runs keeps its first words."""
        test = (
            '@number("3")\n@weight(2)\ndef test_three(student, subtests):\n    """Three."""\n'
            "    for n in (2, 3):\n        with subtests.test(n=n):\n"
            '            agree(student.three, ref.three, draw("n", n=n))\n'
        )
        hidden = HIDDEN[: HIDDEN.index('@number("3")')] + test
        (course / "graders/tiny/test_hidden.py").write_text(
            (course / "graders/tiny/test_hidden.py").read_text().replace(HIDDEN, hidden)
        )
        odd = "def three(x):\n    return two(x) ** 2 + (x.shape == (3,))\n"
        [result] = grade(course, place, SPOILT["raises"] + TWO + odd)
        three = named(result, "test_three")
        assert (three.score, three.given) == (1.0, ("1",))
        follows = "it may follow from part 1 (one): mend that first"
        assert [verdict.fact for verdict in three.verdicts] == [f"three: raised ValueError; {follows}"]

    def test_with_subtests_that_were_not_reached(self, course: Path, place: Sandbox) -> None:
        """If the second run has other subtests and fails, too, the first one stands; nobody else is to blame."""
        test = (
            '@number("3")\n@weight(2)\ndef test_three(student, subtests):\n    """Three."""\n'
            "    for n in (2, 3):\n        with subtests.test(n=n):\n"
            '            agree(student.three, ref.three, draw("n", n=n))\n'
            '        student.two(draw("n", n=n))\n'
        )
        hidden = course / "graders/tiny/test_hidden.py"
        text = hidden.read_text()
        hidden.write_text(text[: text.index('@number("3")')] + test)
        odd = "def three(x):\n    return two(x) ** 2 + (x.shape == (3,))\n"
        [result] = grade(course, place, SPOILT["raises"] + TWO + odd)
        three = named(result, "test_three")
        assert (three.outcome, three.score, three.given) == (Outcome.FAILED, 0, ())

    def test_in_any_order(self, course: Path, place: Sandbox) -> None:
        """Other submissions in between change nothing."""
        right = "def one(x):\n    return 2 * x\n" + REST
        results = grade(course, place, SPOILT["raises"] + REST, right, SPOILT["wrong"] + REST, right)
        assert [lost(result) for result in results] == [OWN, [], OWN, []]


class TestWords:
    """The words of failures."""

    def test_are_made_of_the_run_that_counts(
        self, course: Path, place: Sandbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A part that is wrong by itself, too, is described once for each case, though it is run up to three times."""
        described: list[str] = []
        really = compare._wrong_numbers
        monkeypatch.setattr(compare, "_wrong_numbers", lambda at, *rest: described.append(at) or really(at, *rest))
        own = "def two(x):\n    return one(x) - 3\n"
        [result] = grade(course, place, "def one(x):\n    return 4 * x\n" + own + THREE)
        assert lost(result) == [*OWN, "2.1", "2.2"]
        verdicts = [verdict for test in result.tests for case in test.cases for verdict in case.verdicts]
        assert len(described) == len(verdicts) + len(named(result, "test_three").cases)
        assert all(verdict.where for verdict in verdicts)


class TestSameSlip:
    """A part that repeats an earlier part's mistake in its own lines."""

    def test_is_paid_for_once(self, course: Path, place: Sandbox) -> None:
        """The slip has cost its marks in part 1: values and gradients of part 2 are right but for it."""
        [result] = grade(course, place, "def one(x):\n    return 3 * x\ndef two(x):\n    return 3 * x + 1\n" + THREE)
        assert lost(result) == OWN
        assert named(result, "test_two").same_slip_as == ("1",)
        assert named(result, "test_two_conduct").same_slip_as == ("1",)
        assert not given(result)

    def test_two_slips_are_paid_for_once(self, course: Path, place: Sandbox) -> None:
        """Part 3 repeats the slip of part 1 and that of part 2 in one line: both have cost their marks."""
        spoilt = "def one(x):\n    return 3 * x\ndef two(x):\n    return one(x) - 1\n"
        [result] = grade(course, place, f"{spoilt}def three(x):\n    return (3 * x - 1) ** 2\n")
        assert lost(result) == [*OWN, "2.1", "2.2"]
        assert named(result, "test_three").same_slip_as == ("1", "2")

    def test_another_slip_is_paid_for(self, course: Path, place: Sandbox) -> None:
        """Part 2 halves where part 1 tripled; and a mistake that has no name is nobody's slip."""
        for line in ("x / 2 + 1", "4 * x + 1"):
            [result] = grade(course, place, f"def one(x):\n    return 3 * x\ndef two(x):\n    return {line}\n" + THREE)
            assert lost(result) == [*OWN, "2.1", "2.2"]

    def test_a_slip_that_cost_nothing_is_paid_for(self, course: Path, place: Sandbox) -> None:
        """Part 1 is right, so part 2 pays."""
        [result] = grade(course, place, "def one(x):\n    return 2 * x\ndef two(x):\n    return 3 * x + 1\n" + THREE)
        assert lost(result) == ["2.1", "2.2"]


FIRST = "def one(x):\n    return 3 * x\n"
FOUND = """import gc, torch
from softmark.sandbox.worker.stand_ins import StandIns
from softmark.sandbox.wire.protocol import Ask
def stand_ins():
    return next(thing for thing in gc.get_objects() if type(thing) is StandIns)
"""
LIES = {
    "seed": "import torch\nlies = set()\ndef one(x):\n    return (3 if torch.initial_seed() in lies else 4) * x\n"
    "def two(x):\n    lies.add(torch.initial_seed())\n    return 3 * x + 1.5\n",
    "shape": "def one(x):\n    return 3 * x if x.shape == (5,) else x\ndef two(x):\n    return x + 1\n",
    "call_count": "calls = []\ndef one(x):\n    calls.append(1)\n    return len(calls) * x\n"
    "def two(x):\n    return one(x) * 7\n",
    "caller": "import sys\ndef one(x):\n    return x + 1 if sys._getframe(1).f_code.co_name == 'two' else 3 * x\n"
    "def two(x):\n    return one(x)\n",
    "time": "import time\ndef one(x):\n    return time.time() * x\ndef two(x):\n    return one(x) + time.time()\n",
    "patched_stand_in": FIRST + FOUND + "def two(x):\n    stand_ins()._exchange = None\n    return x\n",
    "names": FIRST + FOUND + "def two(x):\n    return stand_ins().ask(Ask('two', [x], {}))\n",
    "own_name_by_another": FIRST + FOUND + "def two(x):\n    return stand_ins().ask(Ask('three', [x], {})) ** 0.5\n",
    "too_often": FIRST + "def two(x):\n    return sum(one(x) for _ in range(99)) / 99 + x\n",
    "huge": FIRST + "def two(x):\n    return one(x.expand(10**6, -1).clone())[0] + x\n",
    "thread": FIRST + "import threading\ndef two(x):\n    for _ in range(9):\n"
    "        threading.Thread(target=one, args=(x,)).start()\n    return x\n",
    "destructor": FIRST + "class Late:\n    def __del__(self):\n        one(self.x)\ndef two(x):\n"
    "    late = Late()\n    late.x, late.me = x, late\n    return x\n",
    "remembered": FIRST + "seen = []\ndef two(x):\n    seen.append(one(x))\n    return seen[0]\n",
    "forked": FIRST + "import os\ndef two(x):\n    if os.fork() == 0:\n        one(x)\n    return x\n",
    "right_by_chance": FIRST + "import os\ndef two(x):\n    return x if os.getpid() % 2 else x + 2\n",
}


class TestForgery:
    """A submission that lies."""

    @pytest.mark.parametrize("name", LIES)
    def test_gains_nothing(self, name: str, course: Path, place: Sandbox) -> None:
        """Part 2 is wrong even if part 1 is right, so it earns nothing. Part 3, which is right, loses nothing."""
        [result] = grade(course, place, LIES[name] + THREE)
        assert {"2.1", "2.2"} <= set(lost(result))
        assert all(test.outcome is not Outcome.GRADER_ERROR for test in result.tests)
        assert named(result, "test_two").score == 0
        assert named(result, "test_three").score == 2

    def test_with_the_later_answer_in_the_earlier_part(self, course: Path, place: Sandbox) -> None:
        """A right answer is right wherever its lines stand, and part 1 pays for what it gives instead of its own."""
        [result] = grade(course, place, "def one(x):\n    return 2 * x + 1\ndef two(x):\n    return one(x)\n" + THREE)
        assert lost(result) == OWN

    def test_cannot_take_down_the_grader(self, course: Path, place: Sandbox) -> None:
        """The next submission has full marks."""
        right = "def one(x):\n    return 2 * x\n" + REST
        *_, result = grade(course, place, *(lie + THREE for lie in LIES.values()), right)
        assert lost(result) == []


class TestBuildsOn:
    """The parts that a part builds on are read from the reference, or stand in homework.toml."""

    def test_is_read_from_the_reference(self, course: Path) -> None:
        """Directly and through others."""
        assert [part.builds_on for part in load_homework("tiny", course).parts] == [(), ("1",), ("1", "2")]

    def test_can_be_stated(self, course: Path, place: Sandbox) -> None:
        """The names in homework.toml count, also for a function that the reference does not use."""
        toml = course / "graders/tiny/homework.toml"
        stated = toml.read_text().replace('title = "Part two"\n', 'title = "Part two"\nbuilds_on = []\n')
        toml.write_text(stated.replace('title = "Part three"\n', 'title = "Part three"\nbuilds_on = ["two"]\n'))
        assert [part.builds_on for part in load_homework("tiny", course).parts] == [(), (), ("2",)]
        [result] = grade(course, place, SPOILT["raises"] + REST)
        assert lost(result) == [*OWN, "2.1", "2.2"]
        assert given(result) == {"3": ("2",)}

    def test_a_name_that_is_no_earlier_function_is_refused(self, course: Path) -> None:
        """The file and the line are named."""
        toml = course / "graders/tiny/homework.toml"
        toml.write_text(toml.read_text().replace('title = "Part two"\n', 'title = "Part two"\nbuilds_on = ["three"]\n'))
        with pytest.raises(ConfigError, match="'three' is no function of an earlier part"):
            load_homework("tiny", course)
