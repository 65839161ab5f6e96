"""What `softmark verify` must not overlook: marks lost elsewhere, narrow margins, mistakes under another one's name."""

from __future__ import annotations

import json
import re
from pathlib import Path

from softmark.authoring.gaps import Verification
from tests.support.tiny_homework import EQUIVALENTS, HIDDEN, MISTAKES, REFERENCE, TOML, course, softmark

TRIPLE = '''

def triple(x: torch.Tensor) -> torch.Tensor:
    """Three times x."""
    # BEGIN SOLUTION
    return {body}
    # END SOLUTION
'''
TWO_PARTS = (
    TOML.replace("points = 2", "points = 4", 1)
    + '\n[[part]]\nnumber = "2"\nfunction = "triple"\ntitle = "Three times"\npoints = 2\n'
)
HIDDEN_OF_BOTH = f'''{HIDDEN}

@number("2.1")
@weight(2)
def test_triple(student):
    """Three times the input."""
    x = draw("n", n=5)
    agree(student.triple, ref.triple, x)
    {{more}}
'''
ENTRY = """

@{kind}
def {name}(x):
    return {body}
"""


def mistakes(function: str, **bodies: str) -> str:
    """Named mistakes of a function: what each returns."""
    kind = f'mistake(ref.{function}, says="You are mistaken.")'
    return "".join(ENTRY.format(kind=kind, name=name, body=body) for name, body in bodies.items())


def equivalents(function: str, **bodies: str) -> str:
    """Other ways to write a function: what each returns."""
    kind = f"equivalent(ref.{function})"
    return "".join(ENTRY.format(kind=kind, name=name, body=body) for name, body in bodies.items())


def gaps(root: Path) -> list[tuple[str, str]]:
    """What `softmark verify` finds: subject, and what is wrong with it."""
    done = softmark(root, "verify", "tiny", "--jobs", "1", "--json")
    told = json.loads(done.stdout)
    found = [(gap["subject"], gap["what"]) for gap in told["homeworks"]["tiny"]["holes"]]
    assert told["ok"] is not bool(found)
    assert done.returncode == int(bool(found)), done.stderr
    return found


class TestHoles:
    """The tolerance is 7e-5 of a value here."""

    def test_a_homework_without_any(self, tmp_path: Path) -> None:
        """Marks lost in a part that calls the function, twins that are both named, distances of 200: no gap."""
        root = course(
            tmp_path,
            toml=TWO_PARTS,
            reference=REFERENCE + TRIPLE.format(body="double(x) + x"),
            hidden=HIDDEN_OF_BOTH.format(more='assert student.double.mentions("2 [*] x")'),  # no stand-in excuses that
            mistakes=MISTAKES + mistakes("double", twin="x + x + x", more="2 * x * (1 + 1.5e-2)")
            + mistakes("triple", four_times="4 * x"),
            equivalents=EQUIVALENTS.replace("x + x", "2 * x * 1") + equivalents("triple", near="3 * x * (1 + 3.6e-7)"),
        )  # fmt: skip
        assert gaps(root) == []

    def test_marks_lost_in_another_part(self, tmp_path: Path) -> None:
        """A test of part 2 that also checks part 1, on which part 2 does not depend, is a gap."""
        root = course(
            tmp_path,
            toml=TWO_PARTS,
            reference=REFERENCE + TRIPLE.format(body="3 * x"),
            hidden=HIDDEN_OF_BOTH.format(more="agree(student.double, ref.double, x)"),
            mistakes=MISTAKES + mistakes("triple", four_times="4 * x"),
        )
        ((subject, what),) = gaps(root)
        assert subject == "three_times"
        assert "costs marks in part 2, which does not depend on double" in what

    def test_margins(self, tmp_path: Path) -> None:
        """Wrong answers at 50 tolerances and right ones at 1/50 are gaps, whatever else is said of them."""
        root = course(
            tmp_path,
            mistakes=MISTAKES + mistakes("double", slightly_more="2 * x * (1 + 3.6e-3)"),
            equivalents=EQUIVALENTS + equivalents("double", nearly="2 * x * (1 + 1.44e-6)"),
        )
        (_, right), (_, wrong) = gaps(root)
        assert re.match(r"a right answer comes within 1/(4\d|5\d) of the tolerance", right)
        assert re.match(r"a wrong answer is only (4\d|5\d)(\.\d)? times the tolerance away", wrong)

    def test_names_of_others(self, tmp_path: Path) -> None:
        """A mistake that gives, when it is handed in, what another one gives is not named, by numbers or by shape."""
        otherwise = mistakes(
            "double",
            new_axis="(2 * x)[None]",
            by_numbers="5 * x if 'graders' in __name__ else 3 * x",
            by_shape="x[0] if 'graders' in __name__ else (2 * x)[None]",
        )
        found = gaps(course(tmp_path, mistakes=MISTAKES + otherwise))
        assert [subject for subject, _ in found] == ["by_numbers", "by_shape"]
        assert found[0][1].startswith("is called three_times in the feedback of its part")
        assert found[1][1].startswith("is called new_axis in the feedback of its part")


def test_of_many_submissions_the_first_is_named() -> None:
    """One claim that fails for several submissions is one gap: three of them are named, of more the first."""
    verification = Verification("tiny")
    for number in range(1, 6):
        for what in ("one", "two", "three", "four", "five")[number - 1 :]:
            verification.add_gap(f"s{number}", what)
            verification.add_gap(f"s{number}", what)
    assert {gap.what: gap.subject for gap in verification.gaps} == {
        "one": "s1",
        "two": "s1, s2",
        "three": "s1, s2, s3",
        "four": "s1 and 3 more",
        "five": "s1 and 4 more",
    }
