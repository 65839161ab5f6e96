"""What has been judged once is not judged again, and nobody can tell but by the time it takes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path

import msgspec
import pytest

from softmark.authoring.plant import plant
from softmark.course.homework import load_homework
from softmark.engines import judging
from softmark.engines.messages import Job
from softmark.grading import desk, precedents
from softmark.grading.author_files import load_mistakes
from softmark.records.result import Outcome, Result, Submission
from softmark.sandbox.isolation import Sandbox
from tests.support.course import FILE, grade, named, timeless, write_course
from tests.support.sandboxes import sandbox

ROOT = Path(__file__).parents[2]

HIDDEN = '''
RUNS = {runs!r}


def ran(test):
    with open(RUNS, "a") as file:
        file.write(test + "\\n")


@number("1")
@weight(2)
def test_one(student):
    """One: each question is about the last answer."""
    ran("one")
    x = 1.0
    for _ in range(3):
        y = student.one(x)
        agree(y, x + 1 / 3)
        x = y


@number("2")
@weight(2)
def test_two(student):
    """Two."""
    ran("two")
    agree(student.two, lambda x: x * 2, torch.ones(3, dtype=torch.float64))
'''
OBJECTS = '''

@number("2.1")
@weight(0)
def test_layer(student):
    """Two objects at a time."""
    ran("layer")
    layer, other = student.Layer(2), student.Layer(3)
    assert float(layer(5.0)) == 10.0
    assert float(other(5.0)) == 15.0
'''
CAUGHT = '''

@number("2.1")
@weight(0)
@leaderboard("words")
def test_words(student, set_leaderboard_value=None):
    """What is said of a name that is not there."""
    try:
        student.towels(1.0)
    except Failed as failure:
        set_leaderboard_value(str(failure))
'''
BY_TURNS = '''
import itertools

TURNS = itertools.count()


@number("2.1")
@weight(0)
@leaderboard("turn")
def test_turns(student, set_leaderboard_value=None):
    """Asks for more every other time."""
    turn = next(TURNS)
    set_leaderboard_value(turn)
    student.two(0.0)
    if turn % 2 == 0:
        student.two(1.0)
'''
LAYER = """

class Layer:
    def __init__(self, n):
        self.n = n

    def __call__(self, x):
        return self.n * x
"""
RIGHT = "def one(x):\n    print('asked')\n    return x + 1 / 3\n\n\ndef two(x):\n    return x * 2\n"
ROUNDED = RIGHT.replace("x + 1 / 3", "(3 * x + 1) / 3 * (1 + 1e-15)")
WRONG = RIGHT.replace("x * 2", "x * 3")
WRONG_TOO = RIGHT.replace("x * 2", "x + x + x")
RAISES = RIGHT.replace("return x * 2", "return x / None")
RAISES_LATER = "# a line more\n" + RAISES
DIES = RIGHT.replace("return x + 1 / 3", "import os\n    return x + 1 / 3 if x < 1.5 else os._exit(0)")
SPOILS = RIGHT.replace("print('asked')", "global two; two = lambda x: x * 3")
CLASS = [RIGHT, ROUNDED, WRONG, WRONG_TOO, RAISES, RAISES_LATER, DIES, SPOILS]


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


def with_line(line: str, module: str) -> str:
    """The hidden tests with a line more in the second, for which a module is imported."""
    return f"import {module}\n" + HIDDEN.replace("    agree(student.two", f"    {line}\n    agree(student.two")


class Course:
    """A course whose hidden tests tell when they run."""

    def __init__(self, folder: Path, place: Sandbox, hidden: str = HIDDEN) -> None:
        self._runs, self._place = folder / "runs", place
        self._root = write_course(folder, hidden.format(runs=str(self._runs)), points=[2, 2])

    def grade(self, *sources: str | Job) -> list[Result]:
        """In one engine, one after the other."""
        self._runs.write_text("")
        return grade(self._root, self._place, *sources)

    @property
    def ran(self) -> list[str]:
        """The tests that ran, in order."""
        return self._runs.read_text().split()


@pytest.fixture
def course(tmp_path: Path, place: Sandbox) -> Course:
    return Course(tmp_path, place)


def earned(results: Sequence[Result]) -> list[float]:
    return [result.total for result in results]


def said(result: Result) -> bytes:
    """A result without whose it is and what a clock says."""
    return timeless(msgspec.structs.replace(result, submission=Submission()))


class TestKnownAnswers:
    """Submissions whose answers have been seen before."""

    def test_a_test_that_was_passed_does_not_run_again(self, course: Course) -> None:
        """Another text with the same answers has the same result."""
        first, second = course.grade(RIGHT, f"# by another\n{RIGHT}")
        assert course.ran == ["one", "two"]
        assert said(first) == said(second)

    def test_a_test_that_was_failed_does_not_run_again(self, course: Course) -> None:
        """The same wrong numbers have the same verdict, from whatever formula they come."""
        first, second = course.grade(WRONG, WRONG_TOO)
        assert earned([first, second]) == [2, 2]
        assert course.ran == ["one", "two"]  # not even for the worker of its own that a failure is judged in
        assert said(first) == said(second)

    def test_the_questions_are_asked(self, course: Course) -> None:
        """Every submission is called for every answer, and no more often."""
        assert [result.printed.stdout for result in course.grade(RIGHT, RIGHT, ROUNDED)] == ["asked\n" * 3] * 3

    def test_without_names(self, course: Course) -> None:
        """Where no name is looked for, tests run; nobody else's have to for that."""
        unnamed = Job(Submission(), FILE, {FILE: RIGHT.encode()}, naming=False)
        assert earned(course.grade(unnamed, RIGHT, RIGHT, unnamed)) == [4, 4, 4, 4]
        assert course.ran == ["one", "two"] * 3

    def test_long_answers(self, course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
        """So much that it would fill the memory is never asked for before the test wants it."""
        monkeypatch.setattr(precedents, "_MOST_ANSWERED", 100)
        assert earned(course.grade(RIGHT, RIGHT)) == [4, 4]
        assert course.ran == ["one", "two", "one"]  # it has three answers of some hundred bytes

    def test_a_class_in_which_all_answers_are_new(self, course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is kept of it has an end, and nobody's result changes there."""
        monkeypatch.setattr(precedents, "_MOST_BYTES", 20_000)  # of three points and three truths, not of twice as many
        others = [RIGHT.replace("1 / 3", f"(1 + {number}e-14) / 3") for number in range(1, 4)]
        assert earned(course.grade(*others, *others)) == [4] * 6
        assert course.ran.count("one") > 3

    def test_objects(self, tmp_path: Path, place: Sandbox) -> None:
        """An object of one student's process is never taken for that of another's."""
        course = Course(tmp_path, place, HIDDEN + OBJECTS)
        results = course.grade(RIGHT + LAYER, RIGHT + LAYER, RIGHT + LAYER.replace("self.n *", "2 *"))
        assert [named(result, "test_layer").outcome for result in results] == [Outcome.PASSED] * 2 + [Outcome.FAILED]
        assert course.ran.count("layer") == 3


class TestNewAnswers:
    """Submissions that answer otherwise, at once or on the way."""

    def test_another_last_bit_is_judged(self, course: Course) -> None:
        """An answer is known only if every bit of it is."""
        assert earned(course.grade(RIGHT, ROUNDED)) == [4, 4]
        assert course.ran == ["one", "two", "one"]

    def test_the_end_of_the_process_on_the_way(self, course: Course) -> None:
        """What was answered before it counts as answered, and then the process is gone."""
        _, dead = course.grade(RIGHT, DIES)
        assert dead.total == 2
        assert "exit status 0" in named(dead, "test_one").verdicts[0].fact

    def test_everyone_reads_of_their_own_lines(self, course: Course) -> None:
        """Two who raise the same exception are shown where each of them does."""
        results = course.grade(RAISES, RAISES_LATER)
        assert [named(result, "test_two").verdicts[0].frames[0].line for result in results] == [7, 8]

    def test_a_known_failure_is_no_proof_in_a_worker_of_another_part(self, course: Course) -> None:
        """Code of part 1 that spoils part 2 costs part 2 nothing, though its answer is known to be wrong."""
        assert earned(course.grade(WRONG, SPOILS)) == [2, 4]

    def test_a_test_that_asks_at_random(self, tmp_path: Path, place: Sandbox) -> None:
        """It has no precedents, and everybody has what they deserve."""
        course = Course(tmp_path, place, with_line("agree(student.two, lambda x: x * 2, random.random())", "random"))
        assert earned(course.grade(RIGHT, RIGHT, WRONG, RIGHT)) == [4, 4, 2, 4]

    def test_a_test_that_asks_by_turns(self, tmp_path: Path, place: Sandbox) -> None:
        """Once it did not ask what it was to ask, everybody has a run of the test to themselves."""
        course = Course(tmp_path, place, HIDDEN + BY_TURNS)
        results = course.grade(RIGHT, WRONG, WRONG, WRONG, WRONG)
        turns = [entry.value for result in results for entry in result.leaderboard]
        assert len(set(turns)) == len(results)

    def test_nobody_is_asked_in_vain(self, tmp_path: Path, place: Sandbox) -> None:
        """Code that remembers its calls has the result that it has alone, whatever others were asked."""
        course = Course(tmp_path, place, with_line("agree(student.two, lambda x: x * 2, random.random())", "random"))
        counting = RIGHT.replace("def two(x):", "calls = []\n\n\ndef two(x):\n    calls.append(x)")
        counting = counting.replace("x * 2", "x * (2 + 1e-15) if len(calls) < 3 else x")
        assert earned(course.grade(RIGHT, counting, counting)) == [4, 4, 4]

    def test_a_test_that_asks_less(self, tmp_path: Path, place: Sandbox) -> None:
        """What a test was to ask, and did not, is as if it had not been asked."""
        line = "len(COUNT) or agree(student.two, lambda x: x * 2, 1.0); COUNT.add(1)"
        course = Course(tmp_path, place, "COUNT = set()\n" + with_line(line, "math"))
        once = RIGHT.replace("def two(x):", "calls = []\n\n\ndef two(x):\n    calls.append(x)")
        once = once.replace("x * 2", "x * 2 if len(calls) < 2 else x")
        assert earned(course.grade(RIGHT, once, once)) == [4, 4, 4]

    @pytest.mark.parametrize(
        ("kept", "keep", "read"),
        [
            ("KEPT = {'one': None}", "KEPT['one'] = student.one(1.0)", "KEPT['one']"),
            ("KEPT = []", "KEPT.append(student.one(1.0))", "KEPT[-1]"),
            ("KEPT = None", "global KEPT; KEPT = student.one(1.0)", "KEPT"),
        ],
        ids=["dict", "list", "name"],
    )
    def test_a_test_that_keeps_an_answer(self, tmp_path: Path, place: Sandbox, kept: str, keep: str, read: str) -> None:
        """Another test that looks at it sees the answer of the submission in hand."""
        hidden = HIDDEN.replace('    ran("one")\n', f'    ran("one")\n    {keep}\n')
        hidden = hidden.replace(
            "    agree(student.two", f"    assert {read} == student.one(1.0)\n    agree(student.two"
        )
        course = Course(tmp_path, place, f"{kept}\n{hidden}".replace("{'one': None}", "{{'one': None}}"))
        assert earned(course.grade(RIGHT, ROUNDED, RIGHT.replace("x * 2", "x * 2 * (1 + 1e-15)"))) == [4, 4, 4]

    def test_a_file_beside_the_tests_that_keeps_an_answer(
        self, tmp_path: Path, place: Sandbox, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """What files of tests share, even at second hand, is as much a test's own as what stands in its file."""
        hidden = HIDDEN.replace('    ran("one")\n', '    ran("one")\n    keep(student.one(1.0))\n')
        hidden = hidden.replace("    agree(student.two", "    assert kept() == student.one(1.0)\n    agree(student.two")
        course = Course(tmp_path, place, f"from graders.tiny.keeping import keep, kept\n{hidden}")
        keeping = "from graders.tiny import deeper\n\n\ndef keep(x):\n    deeper.KEPT = x\n\n\n"
        (tmp_path / "graders/tiny/keeping.py").write_text(f"{keeping}def kept():\n    return deeper.KEPT\n")
        (tmp_path / "graders/tiny/deeper.py").write_text("KEPT = None\n")
        monkeypatch.syspath_prepend(tmp_path)
        assert earned(course.grade(RIGHT, ROUNDED, RIGHT.replace("x * 2", "x * 2 * (1 + 1e-15)"))) == [4, 4, 4]

    def test_words_of_a_failure_that_was_caught(self, tmp_path: Path, place: Sandbox) -> None:
        """A test that passes may still repeat what it was told of one submission; it is told anew of the next."""
        course = Course(tmp_path, place, HIDDEN + CAUGHT)
        results = course.grade(f"{RIGHT}\n\ntowel = 1\n", RIGHT)
        assert ["`towel`" in str(named(result, "test_words").leaderboard) for result in results] == [True, False]

    def test_a_test_that_looks_at_a_clock(self, tmp_path: Path, place: Sandbox) -> None:
        """What takes its time answers the same and yet fails."""
        line = "start = time.monotonic(); student.two(1.0); assert time.monotonic() < start + 0.1"
        course = Course(tmp_path, place, with_line(line, "time"))
        slow = RIGHT.replace("return x * 2", "import select\n    select.select([], [], [], 0.15)\n    return x * 2")
        assert earned(course.grade(RIGHT, slow, RIGHT)) == [4, 2, 4]


def test_the_order_of_a_class_does_not_matter(course: Course) -> None:
    """Whoever was judged before: a submission has the result that it has alone."""
    alone = {source: said(course.grade(source)[0]) for source in CLASS}
    for order in list(permutations(CLASS))[:: 8 * 7 * 6 * 5 * 4]:
        for source, result in zip(order, course.grade(*order), strict=True):
            assert said(result) == alone[source]


HOMEWORK = "positional_encoding"


def planted(every: int) -> list[Job]:
    """Some of a real homework's mistakes and equivalents, each as a submission, once with names looked for."""
    homework = load_homework(HOMEWORK, ROOT)
    registry = load_mistakes(homework)
    reference = homework.reference.read_text(encoding="utf-8")
    texts = [plant(reference, entry) for entry in (*registry.equivalents, *registry.mistakes)[::every]]
    return [
        Job(Submission(), homework.file, {homework.file: text.encode()}, naming=naming)
        for text in texts
        for naming in (True, False)
    ]


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names are looked for as long as it takes."""
    monkeypatch.setattr(desk, "_NAMING_OF_A_CASE", 60.0)
    monkeypatch.setattr(judging, "_NAMING_OF_A_PART", 600.0)


@pytest.mark.usefixtures("unhurried")
def test_a_real_homework(place: Sandbox) -> None:
    """Each submission has the result that it has alone, to the last word."""
    jobs = planted(every=30)
    alone = [said(grade(ROOT, place, job, name=HOMEWORK)[0]) for job in jobs]
    for order in (jobs, jobs[::-1]):
        together = grade(ROOT, place, *order, name=HOMEWORK)
        assert [said(result) for result in (together if order is jobs else together[::-1])] == alone
