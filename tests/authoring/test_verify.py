"""`softmark verify` proves nothing that is not so: broken mistakes, tests that differ, what is handed out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.authoring.test_gaps import gaps
from tests.support.tiny_homework import HEAD, HIDDEN, REFERENCE, TOML, course, softmark

ENTRY = '\n\n@mistake(ref.double, says="{says}")\ndef {name}(x):\n    {body}\n'
LIMITS = '\n[limits]\ncpu_seconds = 0.5\n\n[[part]]\nnumber = "1"'
EXAMPLES = """from reference import tiny as ref
from softmark import example, numbers

EXAMPLES = {"double": example(ref.double, numbers("x", 4))}
"""
README = "# Tiny\n\n## Part 1: `double(x)` (2 points)\n\nTwice $x$.\n"
PART = "# " + 108 * "-" + "\n# Part 1: double\n# " + 108 * "-" + "\n\n\ndef double("
PUBLIC = '''from gradescope_utils.autograder_utils.decorators import number


@number("1.1")
def test_double(student, example):
    """Twice four numbers."""
    {body}
'''
TWO_TESTS = f'''{HIDDEN.replace("@weight(2)", "@weight(1)")}

@number("1.2")
@weight(1)
def test_again(student):
    """Twice as many."""
    {{again}}
'''


def mistakes(**bodies: str) -> str:
    """A file of mistakes in `double`, each with what it does."""
    return HEAD + "".join(ENTRY.format(name=name, body=body, says=f"It is {name}.") for name, body in bodies.items())


def handed_out(root: Path, public: str) -> Path:
    """The tiny course with what its students get, built."""
    reference = REFERENCE.replace("def double(", PART, 1)
    course(root, reference=reference)
    (root / "graders/tiny/examples.py").write_text(EXAMPLES)
    (root / "assignments/tiny").mkdir(parents=True)
    (root / "assignments/tiny/README.md").write_text(README)
    (root / "assignments/tiny/test_public.py").write_text(public)
    built = softmark(root, "build", "tiny")
    assert built.returncode == 0, built.stderr
    return root


class TestMistakes:
    """A planted mistake stands for a student who made it, and for nothing else."""

    def test_that_call_what_they_vary(self, tmp_path: Path) -> None:
        """`ref.double` in a mistake of double is the solution: one that changes nothing is seen by no test."""
        source = mistakes(
            same="return ref.double(x)",
            one_more="return ref.double(x) + 1",
            through_another="return helper(x)",
        )
        source += "\n\ndef helper(x):\n    return -ref.double(x)\n"
        found = gaps(course(tmp_path, mistakes=source))
        assert found == [
            ("same", "keeps full marks in part 1: no test of it draws an input on which this mistake shows")
        ]

    @pytest.mark.parametrize(
        ("body", "said"),
        [
            ("return FACTOR * x", "where it is planted, nothing defines `FACTOR`"),
            ("return broken(x)", "calls itself without an end"),
            ("__import__('os')._exit(1)", "the planted file does not answer"),
            ("return [x for _ in iter(int, 1)]", "the planted file does not answer"),
        ],
        ids=["undefined", "endless recursion", "crash", "endless loop"],
    )
    def test_that_break(self, body: str, said: str, tmp_path: Path) -> None:
        """A crash, an endless run or a name that is not there is no mistake that a test has caught."""
        source = mistakes(broken=body) + "\n\nif True:\n    FACTOR = 3\n"
        toml = TOML.replace('\n[[part]]\nnumber = "1"', LIMITS)
        ((subject, what),) = gaps(course(tmp_path, toml=toml, mistakes=source))
        assert subject == "broken"
        assert said in what
        assert "mend the mistake" in what
        assert "mistakes.py:7" in what


class TestHiddenTests:
    """Tests that do not say the same twice, or nothing at all."""

    @pytest.mark.parametrize(
        ("again", "differing"),
        [
            ('assert SEEN\n    agree(student.double, ref.double, draw("n", n=3))', "1.2"),
            ("agree(student.double, ref.double, torch.randn(4))", "1.2"),
            (
                "before = getattr(ref, 'last', 0)\n    ref.last = float(student.double(torch.ones(1)))\n"
                "    assert before != 3",
                "1.2",
            ),
        ],
        ids=["order", "unseeded", "order of submissions"],
    )
    def test_that_differ(self, again: str, differing: str, tmp_path: Path) -> None:
        """A test that remembers another test or submission, or draws without a seed, is named with what differs."""
        hidden = "import torch\n\nSEEN = []\n" + TWO_TESTS.format(again=again)
        hidden = hidden.replace('draw("n", n=5))', 'draw("n", n=5))\n    SEEN.append(1)', 1)
        found = [(subject, what) for subject, what in gaps(course(tmp_path, hidden=hidden)) if "two runs" in what]
        assert len(found) == 1, found
        assert found[0][1].startswith(f"two runs differ: test {differing} (graders/tiny/test_hidden.py:")
        assert "keep nothing for another test" in found[0][1]

    def test_that_cannot_judge(self, tmp_path: Path) -> None:
        """A fault that every submission meets is told once, with the test and its place."""
        hidden = TWO_TESTS.format(again="{}['absent']")
        ((subjects, what),) = gaps(course(tmp_path, hidden=hidden))
        assert subjects.startswith("tiny.py and ")
        assert what.startswith("test 1.2 (graders/tiny/test_hidden.py:")
        assert "KeyError: 'absent'" in what

    def test_that_right_code_fails(self, tmp_path: Path) -> None:
        """A test that the reference and every equivalent fail is one gap."""
        hidden = TWO_TESTS.format(again='agree(student.double, lambda x: 2 * x + 1, draw("n", n=3))')
        found = [gap for gap in gaps(course(tmp_path, hidden=hidden)) if "correct code must not lose marks" in gap[1]]
        ((subjects, what),) = found
        assert subjects == "tiny.py, added"
        assert "test 1.2 (graders/tiny/test_hidden.py:" in what


class TestHandedOut:
    """What students get."""

    def test_that_is_in_order(self, tmp_path: Path) -> None:
        root = handed_out(tmp_path, PUBLIC.format(body='example(student.double, "double")'))
        assert gaps(root) == []

    def test_that_is_not(self, tmp_path: Path) -> None:
        """A stale starter; a public test that the reference fails; one that the starter passes."""
        public = PUBLIC.format(body="assert student.double(1.0) == 3.0") + PUBLIC.partition("\n\n\n")[2].replace(
            "1.1", "1.2"
        ).replace("test_double", "test_nothing").format(body="pass")
        root = handed_out(tmp_path, public)
        starter = root / "assignments/tiny/tiny.py"
        starter.write_text(starter.read_text().replace("Twice x.", "Two times x."))
        found = dict(gaps(root))
        assert "is stale: run `softmark build tiny`" in found["assignments/tiny/tiny.py"]
        said = [what for subject, what in gaps(root) if subject.endswith("test_public.py")]
        assert said[0].startswith("public test 1.1 does not pass the reference")
        assert said[1].startswith("public test 1.2 passes the starter")


class TestNothingToProve:
    """What is missing is a sentence."""

    def test_no_reference(self, tmp_path: Path) -> None:
        root = course(tmp_path)
        (root / "reference/tiny.py").unlink()
        for kind in ("mistakes", "equivalents", "test_hidden"):
            (root / f"graders/tiny/{kind}.py").unlink()
        ((subject, what),) = gaps(root)
        assert subject == "reference"
        assert what == "there is no reference/tiny.py: without the solution nothing can be proved, write it first"

    def test_no_homework(self, tmp_path: Path) -> None:
        for folder in ("graders", "reference"):
            (tmp_path / folder).mkdir()
        done = softmark(tmp_path, "verify")
        assert done.returncode == 1
        assert "there is no homework in" in done.stderr
        assert "Traceback" not in done.stderr
