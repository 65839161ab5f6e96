"""One judge grades a class, and each submission has the result that it has alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import msgspec
import pytest

from softmark.authoring.plant import plant
from softmark.course.homework import load_homework
from softmark.grading.author_files import load_mistakes
from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Outcome, Result, Submission
from softmark.sandbox.isolation import Sandbox
from tests.support.course import grade, named, timeless, write_course
from tests.support.sandboxes import sandbox

ROOT = Path(__file__).parents[2]

HIDDEN = '''
@number("1")
@weight(2)
def test_one(student):
    """One: each question is about the last answer."""
    x = 1.0
    for _ in range(3):
        y = student.one(x)
        agree(y, x + 1 / 3)
        x = y


@number("2")
@weight(2)
def test_two(student):
    """Two."""
    agree(student.two, lambda x: x * 2, torch.ones(3, dtype=torch.float64))
'''
OBJECTS = '''

@number("2.1")
@weight(0)
def test_layer(student):
    """Two objects at a time."""
    layer, other = student.Layer(2), student.Layer(3)
    assert float(layer(5.0)) == 10.0
    assert float(other(5.0)) == 15.0
'''
CAUGHT = '''

@number("2.1")
@weight(0)
@leaderboard("words")
def test_words(student, set_leaderboard_value=None):
    """The sentence about a name that is not there."""
    try:
        student.towels(1.0)
    except Failed as failure:
        set_leaderboard_value(str(failure))
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


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return write_course(tmp_path, HIDDEN, points=[2, 2])


def said(result: Result) -> bytes:
    """Return a result as bytes, without its submission and without times."""
    return timeless(msgspec.structs.replace(result, submission=Submission()))


class TestOneAfterAnother:
    """Submissions that one judge grades one after the other."""

    def test_objects(self, tmp_path: Path, place: Sandbox) -> None:
        """An object of one student's process is never taken for that of another's."""
        course = write_course(tmp_path, HIDDEN + OBJECTS, points=[2, 2])
        results = grade(course, place, RIGHT + LAYER, RIGHT + LAYER, RIGHT + LAYER.replace("self.n *", "2 *"))
        assert [named(result, "test_layer").outcome for result in results] == [Outcome.PASSED] * 2 + [Outcome.FAILED]

    def test_the_end_of_the_process_on_the_way(self, course: Path, place: Sandbox) -> None:
        """Earlier answers count, and then the process is gone."""
        _, dead = grade(course, place, RIGHT, DIES)
        assert dead.total == 2
        assert "exit status 0" in named(dead, "test_one").verdicts[0].fact

    def test_everyone_reads_of_their_own_lines(self, course: Path, place: Sandbox) -> None:
        """Two who raise the same exception are shown where each of them does."""
        results = grade(course, place, RAISES, RAISES_LATER)
        assert [named(result, "test_two").verdicts[0].frames[0].line for result in results] == [7, 8]

    def test_words_of_a_failure_that_was_caught(self, tmp_path: Path, place: Sandbox) -> None:
        """A test that passes may still repeat what it was told of one submission; it is told anew of the next."""
        course = write_course(tmp_path, HIDDEN + CAUGHT, points=[2, 2])
        results = grade(course, place, f"{RIGHT}\n\ntowel = 1\n", RIGHT)
        assert ["`towel`" in str(named(result, "test_words").leaderboard) for result in results] == [True, False]


def test_the_order_of_a_class_does_not_matter(course: Path, place: Sandbox) -> None:
    """A submission has the result that it has alone, whichever was judged before it."""
    alone = {source: said(grade(course, place, source)[0]) for source in CLASS}
    for order in list(permutations(CLASS))[:: 8 * 7 * 6 * 5 * 4]:
        for source, result in zip(order, grade(course, place, *order), strict=True):
            assert said(result) == alone[source]


def test_the_order_of_cases(place: Sandbox, tmp_path: Path) -> None:
    """Cases that run in reverse order, as `verify` runs them, give the same result: the last of the list counts."""
    hidden = '''
@number("1")
@weight(2)
@leaderboard("words")
@pytest.mark.parametrize("x", [1.0, 2.0, 3.0])
def test_value(student, x, set_leaderboard_value=None):
    """Each case sets the value."""
    set_leaderboard_value(x)
    agree(student.one, lambda x: x + 1, x)
'''
    root = write_course(tmp_path, hidden, points=[2])
    source = "def one(x):\n    return x + 1 if x < 2 else x\n"
    (forwards,) = grade(root, place, source)
    (backwards,) = grade(root, place, source, backwards=True)
    assert forwards.leaderboard[0].value == 3.0
    assert timeless(forwards) == timeless(backwards)


HOMEWORK = "positional_encoding"


def planted(every: int) -> list[Job]:
    """Some of a real homework's mistakes and equivalents, each as a submission, once with names looked for."""
    homework = load_homework(HOMEWORK, ROOT)
    registry = load_mistakes(homework)
    reference = homework.reference.read_text(encoding="utf-8")
    texts = [plant(reference, entry) for entry in (*registry.equivalents, *registry.mistakes)[::every]]
    return [
        Job(Submission(), SubmittedFiles(homework.file, {homework.file: text.encode()}), naming=naming)
        for text in texts
        for naming in (True, False)
    ]


def test_a_real_homework(place: Sandbox) -> None:
    """Each submission has the result that it has alone, to the last word."""
    jobs = planted(every=30)
    alone = [said(grade(ROOT, place, job, name=HOMEWORK)[0]) for job in jobs]
    for order in (jobs, jobs[::-1]):
        together = grade(ROOT, place, *order, name=HOMEWORK)
        assert [said(result) for result in (together if order is jobs else together[::-1])] == alone
