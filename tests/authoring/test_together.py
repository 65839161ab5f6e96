"""Entries of several functions in one submission: `verify` grades fewer submissions, and finds just as much."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from softmark.authoring.together import mistakes_elsewhere, right_solutions
from softmark.course.homework import load_homework
from softmark.grading.author_files import load_mistakes
from tests.authoring.test_gaps import HIDDEN_OF_BOTH, TRIPLE, TWO_PARTS, equivalents, gaps, mistakes
from tests.support.course import references_of
from tests.support.tiny_homework import EQUIVALENTS, MISTAKES, REFERENCE, course, softmark

PART = '\n[[part]]\nnumber = "{number}"\nfunction = "{name}"\ntitle = "Of {name}"\npoints = 2\n'
THREE_PARTS = TWO_PARTS.replace("points = 4", "points = 6", 1) + PART.format(number=3, name="half")
HALF = "\n\ndef half(x: torch.Tensor) -> torch.Tensor:\n    # BEGIN SOLUTION\n    return x / 2\n    # END SOLUTION\n"
HIDDEN_OF_HALF = (
    '\n\n@number("3.1")\n@weight(2)\ndef test_half(student):\n    """Half the input."""\n'
    '    agree(student.half, ref.half, draw("n", n=5))\n'
)


def of_three(root: Path, *, more: str = "", also: str = "") -> Path:
    """A homework of three functions that do not use each other, each with a mistake and an equivalent."""
    return course(
        root,
        toml=THREE_PARTS,
        reference=REFERENCE + TRIPLE.format(body="3 * x") + HALF,
        hidden=HIDDEN_OF_BOTH.format(more=more) + HIDDEN_OF_HALF,
        mistakes=MISTAKES + mistakes("triple", four_times="4 * x") + mistakes("half", third="x / 3"),
        equivalents=EQUIVALENTS
        + equivalents("triple", summed="x + x + x")
        + equivalents("half", times="0.5 * x")
        + also,
    )


class TestPlanted:
    """The submissions that are graded."""

    @pytest.mark.parametrize(
        ("also", "expected"),
        [
            ("", [["added", "summed", "times"]]),
            (equivalents("half", by_two="x / 2.0"), [["added", "summed", "times"], ["by_two"]]),
        ],
        ids=["one of each", "two of one function"],
    )
    def test_equivalents(self, also: str, expected: list[list[str]], tmp_path: Path) -> None:
        """Each is in one submission, with those of other functions."""
        homework = load_homework("tiny", of_three(tmp_path, also=also))
        with references_of(tmp_path):
            found = right_solutions(homework, load_mistakes(homework))
        assert [[one.name for one in variant.members or (variant,)] for variant in found] == expected

    def test_mistakes(self, tmp_path: Path) -> None:
        """Each part meets the mistakes of all functions that it does not use."""
        homework = load_homework("tiny", of_three(tmp_path))
        with references_of(tmp_path):
            found = mistakes_elsewhere(homework, load_mistakes(homework))
        assert {variant.kept: {one.name for one in variant.members} for variant in found} == {
            ("1",): {"four_times", "third"},
            ("2",): {"three_times", "third"},
            ("3",): {"three_times", "four_times"},
        }


class TestFound:
    """`softmark verify` says of such submissions what it says of each entry."""

    def test_nothing(self, tmp_path: Path) -> None:
        """Each right solution counts, though they were graded together."""
        done = softmark(of_three(tmp_path), "verify", "tiny", "--jobs", "1", "--json")
        told = json.loads(done.stdout)["homeworks"]["tiny"]
        assert (told["holes"], told["equivalents"], told["equivalents_full"]) == ([], 3, 3)

    def test_one_that_is_wrong(self, tmp_path: Path) -> None:
        """Of right solutions that are graded together, the one that loses marks is named alone."""
        root = of_three(tmp_path, also=equivalents("half", wrong="x / 2 + 1") + equivalents("double", right="x * 2"))
        ((subject, what),) = gaps(root)
        assert subject == "wrong"
        assert "test 3.1 (graders/tiny/test_hidden.py:" in what
        assert "a right solution loses marks" in what

    def test_marks_lost_elsewhere(self, tmp_path: Path) -> None:
        """Of mistakes that are graded together, the one that costs marks in a part without its function is named."""
        root = of_three(tmp_path, more="agree(student.double, ref.double, x)")
        assert gaps(root) == [("three_times", "costs marks in part 2, which does not depend on double")]
