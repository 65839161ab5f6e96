"""A homework whose answers are words, lists and dictionaries is graded like one of tensors.

Mistakes are named, an early part's failure costs later ones nothing, a line is pointed at, and `verify` proves it all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from softmark.grading.job import Job
from softmark.intake.model import SubmittedFiles
from softmark.records.result import Result, Status, Submission
from softmark.sandbox.isolation import Sandbox
from tests.support.course import FILE, grade, lost, references_of
from tests.support.repairs import repairs_of
from tests.support.sandboxes import sandbox
from tests.support.tiny_homework import softmark

REFERENCE = '''"""Tiny."""

import re
from collections import Counter


def one(text: str) -> list[str]:
    """Return the words of a text."""
    # BEGIN SOLUTION
    return re.findall(r"[^\\W_]+", text.lower())
    # END SOLUTION


def two(texts: list[str], size: int) -> dict[str, int]:
    """Return the ids of the most frequent words, the first seen first among equals."""
    # BEGIN SOLUTION
    counts = Counter(word for text in texts for word in one(text))
    kept = counts.most_common(size)
    return {word: 4 + i for i, (word, count) in enumerate(kept)}
    # END SOLUTION


def three(text: str, vocabulary: dict[str, int], length: int) -> list[int]:
    """Return the ids of a text, filled up with 0."""
    # BEGIN SOLUTION
    ids = [vocabulary.get(word, 2) for word in one(text)]
    ids = ids[:length]
    return ids + [0] * (length - len(ids))
    # END SOLUTION
'''
TOML = f"""title = "Texts"
file = "{FILE}"
points = 9
conditions = false

[[part]]
number = "1"
function = "one"
title = "Words"
points = 3

[[part]]
number = "2"
function = "two"
title = "Vocabulary"
points = 3

[[part]]
number = "3"
function = "three"
title = "Ids"
points = 3
"""
HIDDEN = '''"""Hidden tests."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, weight

from reference import tiny as ref
from softmark import agree, draw_documents, draw_text


@number("1")
@weight(3)
@pytest.mark.parametrize("words", [0, 1, 23])
def test_one(student, words):
    """Words."""
    agree(student.one, ref.one, draw_text(words))


@number("2")
@weight(3)
@pytest.mark.parametrize("size", [1, 5, 99])
def test_two(student, size):
    """Vocabulary."""
    agree(student.two, ref.two, draw_documents(5), size)


@number("3")
@weight(3)
@pytest.mark.parametrize("length", [1, 6, 40])
def test_three(student, length):
    """Ids."""
    texts = draw_documents(5)
    agree(student.three, ref.three, texts[0] + draw_text(9), ref.two(texts, 6), length)
'''
MISTAKES = """
[[one]]
edit = "text.lower() → text"
says = "You keep capital letters."
hint = "Write every word in lower case."

[[two]]
edit = "4 + i → i"
says = "You forgot the reserved ids."
hint = "The first id is 4."

[[two]]
edit = "size → size - 1"
says = "Your vocabulary has a word too few."

[[three]]
edit = "vocabulary.get(word, 2) for word in one(text) → vocabulary[word] for word in one(text) if word in vocabulary"
says = "You leave unknown words out."
hint = "They have an id of their own."

[[three]]
edit = "ids = ids[:length] → "
says = "You do not cut long texts."
"""
EQUIVALENTS = """from reference import tiny as ref
from softmark import equivalent


@equivalent(ref.three)
def filled_first(text, vocabulary, length):
    ids = [vocabulary[word] if word in vocabulary else 2 for word in ref.one(text)]
    return (ids + [0] * length)[:length]
"""
RIGHT = REFERENCE.replace("    # BEGIN SOLUTION\n", "").replace("    # END SOLUTION\n", "")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("course")
    for name, content in {
        "graders/tiny/homework.toml": TOML,
        "graders/tiny/test_hidden.py": HIDDEN,
        "graders/tiny/mistakes.toml": MISTAKES,
        "graders/tiny/equivalents.py": EQUIVALENTS,
        "reference/tiny.py": REFERENCE,
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return root


@pytest.fixture(scope="module")
def place() -> Iterator[Sandbox]:
    with sandbox() as opened:
        yield opened


def graded(course: Path, place: Sandbox, *changes: tuple[str, str]) -> Result:
    """Return the result of the right program with these changes."""
    source = RIGHT
    for old, new in changes:
        assert source.count(old) == 1
        source = source.replace(old, new)
    job = Job(Submission(id="one"), SubmittedFiles(FILE, {FILE: source.encode()}), repairs=True)
    with references_of(course):
        (result,) = grade(course, place, job)
    assert result.status is not Status.GRADER_ERROR, result.staff_notes
    return result


def said(result: Result) -> set[str]:
    """Return the words about all failures: of named mistakes, else the facts."""
    verdicts = [verdict for test in result.tests for verdict in test.verdicts]
    return {cause.says for verdict in verdicts for cause in verdict.causes} or {verdict.fact for verdict in verdicts}


def test_right(course: Path, place: Sandbox) -> None:
    """The right program has full marks."""
    assert graded(course, place).total == 9


@pytest.mark.parametrize(
    ("old", "new", "part", "words"),
    [
        ("text.lower()", "text", "1", "You keep capital letters."),
        ("4 + i", "i", "2", "You forgot the reserved ids."),
        ("most_common(size)", "most_common()[: size - 1]", "2", "Your vocabulary has a word too few."),
        ("vocabulary.get(word, 2) for word in one(text)", "vocabulary[w] for w in one(text) if w in vocabulary", "3",
         "You leave unknown words out."),
    ],
)  # fmt: skip
def test_names(course: Path, place: Sandbox, old: str, new: str, part: str, words: str) -> None:
    """A mistake is named, however it is written, and costs its own part only."""
    result = graded(course, place, (old, new))
    assert {test.part for test in result.tests if test.number in lost(result)} == {part}
    assert said(result) == {words}


def test_two_mistakes_in_one_function(course: Path, place: Sandbox) -> None:
    """Two are named together."""
    result = graded(course, place, ("4 + i", "i"), ("most_common(size)", "most_common()[: size - 1]"))
    assert said(result) == {"You forgot the reserved ids. Your vocabulary has a word too few."}


@pytest.mark.parametrize(
    "body", ["return 1 / 0", "return {}", "return [[w] for w in text]", "return text.split()[::-1]"]
)
def test_a_broken_first_part_costs_the_others_nothing(course: Path, place: Sandbox, body: str) -> None:
    """Later parts are judged with the reference's words in the place of the student's."""
    result = graded(course, place, ('return re.findall(r"[^\\W_]+", text.lower())', body))
    assert [part.earned > 2.9 for part in result.parts] == [False, True, True]


def test_the_line_without_a_name(course: Path, place: Sandbox) -> None:
    """A slip that has no name gets its line."""
    result = graded(course, place, ("[0] * (length - len(ids))", "[1] * (length - len(ids))"))
    assert [repair.text for repair in repairs_of(result)] == ["return ids + [1] * (length - len(ids))"]


def test_facts_without_a_name(course: Path, place: Sandbox) -> None:
    """What is on no list is told by what its wrong entries have in common."""
    result = graded(course, place, ("4 + i", "5 + i"))
    assert any(fact.endswith("each is 1 too large") for fact in said(result))


def test_verify(course: Path) -> None:
    """Starter, mistakes and other solutions are proved as for tensors."""
    done = softmark(course, "verify", "tiny", "--jobs", "1", "--json")
    told = json.loads(done.stdout)["homeworks"]["tiny"]
    assert told["holes"] == []
    assert (told["mistakes"], told["caught"], told["named"]) == (5, 5, 5)


def test_mutate(course: Path) -> None:
    """Mutants of a reference without tensors are made, and lose marks."""
    done = softmark(course, "mutate", "tiny", "--jobs", "1", "--json")
    told = json.loads(done.stdout)["homeworks"]["tiny"]
    assert told["mutants"] >= 15
    assert told["caught"] >= 0.8 * told["mutants"], done.stdout
