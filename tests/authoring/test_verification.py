"""`softmark verify`: the proof that the graders grade, and what it says of a homework that does not."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from softmark.authoring.verification import verify_homeworks
from softmark.course.homework import homework_names, load_homework
from tests.support.tiny_homework import HEAD, HIDDEN, MISTAKES, REFERENCE, ROOT, course, softmark

LEAST_MISTAKES = {
    "attention_scores": 156,
    "building_blocks": 199,
    "byte_pair_encoding": 202,
    "cost_model": 170,
    "language_model": 181,
    "lstm_gates": 148,
    "multi_head": 118,
    "positional_encoding": 103,
    "recurrent": 186,
    "seq2seq": 197,
    "text_features": 167,
    "transformer_block": 167,
    "vision_transformer": 178,
    "word_vectors": 209,
}


class TestCourse:
    """The homeworks of this course, every mistake planted as source text and graded by the real pipeline."""

    def test_leaves_no_homework_out(self) -> None:
        """A homework is not handed out unproved."""
        assert set(LEAST_MISTAKES) == set(homework_names(ROOT))

    @pytest.mark.parametrize("name", sorted(LEAST_MISTAKES, key=lambda name: -LEAST_MISTAKES[name]))
    def test_has_no_hole(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """Right code keeps its marks, wrong code loses them and is named, with a hundredfold distance on both sides."""
        monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
        [verification] = verify_homeworks([load_homework(name, ROOT)], jobs=1)
        assert [f"{gap.subject}: {gap.what}" for gap in verification.gaps] == []
        assert verification.mistakes == verification.caught == verification.named >= LEAST_MISTAKES[name]
        assert verification.equivalents == verification.equivalents_full >= 20
        assert verification.trivial == verification.trivial_zero >= 8
        assert verification.starters == verification.starters_zero == 1
        assert min(verification.margin_accept, verification.margin_reject) >= 100


class TestVerify:
    """The command, on a homework of one function."""

    def test_whole_homework(self, tmp_path: Path) -> None:
        """No gap: exit 0, and the figures as JSON."""
        done = softmark(course(tmp_path), "verify", "tiny", "--jobs", "1", "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        told = json.loads(done.stdout)
        assert told["ok"] is True
        figures = told["homeworks"]["tiny"]
        assert (figures["mistakes"], figures["caught"], figures["named"]) == (1, 1, 1)
        assert (figures["equivalents"], figures["equivalents_full"]) == (1, 1)
        assert figures["trivial"] == figures["trivial_zero"] >= 7
        assert figures["starters"] == figures["starters_zero"] == 1

    def test_two_homeworks_at_once(self, tmp_path: Path) -> None:
        """Each has its own figures and its own gaps, whichever engine graded what."""
        root = course(tmp_path)
        shutil.copytree(root / "graders/tiny", root / "graders/other")
        for file in (root / "graders/other").glob("*.py"):
            file.write_text(file.read_text().replace("tiny", "other"))
        shutil.copy(root / "reference/tiny.py", root / "reference/other.py")
        (root / "graders/other/equivalents.py").write_text(
            HEAD.replace("tiny", "other") + "@equivalent(ref.double)\ndef halved(x):\n    return x / 2\n"
        )
        done = softmark(root, "verify", "--jobs", "3", "--json")
        assert done.returncode == 1, done.stdout + done.stderr
        told = json.loads(done.stdout)["homeworks"]
        assert {name: [gap["subject"] for gap in found["holes"]] for name, found in told.items()} == {
            "other": ["halved"],
            "tiny": [],
        }

    @pytest.mark.parametrize(
        ("starter", "said"),
        [(REFERENCE, "pay for no knowledge"), ("this is no Python", "starter submission is not graded at all")],
        ids=["solved", "broken"],
    )
    def test_a_starter_that_is_none(self, starter: str, said: str, tmp_path: Path) -> None:
        """The starter that is graded is the one that is handed out; one that earns marks, or cannot run, is a gap."""
        handed_out = course(tmp_path) / "assignments/tiny/tiny.py"
        handed_out.parent.mkdir(parents=True)
        handed_out.write_text(starter)
        done = softmark(tmp_path, "verify", "tiny", "--jobs", "1")
        assert done.returncode == 1
        assert said in done.stdout

    def test_a_mistake_that_no_test_sees(self, tmp_path: Path) -> None:
        """A mistake that equals the reference on every drawn input is a gap, explained, and exit 1."""
        same = MISTAKES + '\n\n@mistake(ref.double, says="Never seen.")\ndef unseen(x):\n    return x + x\n'
        done = softmark(course(tmp_path, mistakes=same), "verify", "tiny", "--jobs", "1")
        assert done.returncode == 1
        assert "unseen keeps full marks in part 1" in done.stdout

    def test_a_test_that_pays_for_nothing(self, tmp_path: Path) -> None:
        """A hidden test that any answer passes pays trivial submissions: a gap."""
        idle = HIDDEN.replace('agree(student.double, ref.double, draw("n", n=5))', "assert True")
        done = softmark(course(tmp_path, hidden=idle), "verify", "tiny", "--jobs", "1")
        assert done.returncode == 1
        assert "pay for no knowledge" in done.stdout

    def test_right_code_that_loses_marks(self, tmp_path: Path) -> None:
        """An equivalent that is not one is a gap."""
        wrong = HEAD + "@equivalent(ref.double)\ndef halved(x):\n    return x / 2\n"
        done = softmark(course(tmp_path, equivalents=wrong), "verify", "tiny", "--jobs", "1")
        assert done.returncode == 1
        assert "correct code must not lose marks" in done.stdout

    def test_a_test_that_judges_otherwise_every_time(self, tmp_path: Path) -> None:
        """Two runs that say different things of the same answers are a gap."""
        moody = f"{HIDDEN}    assert not SEEN\n    SEEN.add(1)\n\n\nSEEN = set()\n"
        done = softmark(course(tmp_path, hidden=moody), "verify", "tiny", "--jobs", "1")
        assert done.returncode == 1
        assert "two runs differ" in done.stdout


ENTRY = '@mistake(ref.double, says="{says}"{more})\ndef wrong({signature}):\n    return x\n'
REFUSED = {
    "signature": (HEAD + ENTRY.format(says="A.", more="", signature="x, y"), "mistakes.py:5"),
    "says": (HEAD + ENTRY.format(says="", more="", signature="x"), "mistakes.py:5"),
    "worth_nan": (HEAD + ENTRY.format(says="A.", more=", worth=float('nan')", signature="x"), "mistakes.py:5"),
    "worth_negative": (HEAD + ENTRY.format(says="A.", more=", worth=-1", signature="x"), "mistakes.py:5"),
    "duplicate": (HEAD + 2 * (ENTRY.format(says="A.", more="", signature="x") + "\n\n"), "mistakes.py:10"),
}


class TestBadInput:
    """What an author can get wrong is refused with file and line, exit 2."""

    @pytest.mark.parametrize("case", REFUSED)
    def test_mistakes(self, case: str, tmp_path: Path) -> None:
        """A signature that does not fit, no words, an impossible worth, a name used twice."""
        mistakes, place = REFUSED[case]
        done = softmark(course(tmp_path, mistakes=mistakes), "verify", "tiny", "--jobs", "1")
        assert done.returncode == 2, done.stdout + done.stderr
        assert place in done.stderr
        assert "Traceback" not in done.stderr

    @pytest.mark.parametrize(
        ("before", "after"),
        [('    """Twice the input."""\n', ""), ("@weight(2)", "@weight(-2)"), ("@weight(2)\n", "")],
        ids=["docstring", "negative", "missing"],
    )
    def test_hidden_tests(self, before: str, after: str, tmp_path: Path) -> None:
        """A hidden test without a docstring, with a negative weight or with none."""
        done = softmark(course(tmp_path, hidden=HIDDEN.replace(before, after)), "verify", "tiny", "--jobs", "1")
        assert done.returncode == 2, done.stdout + done.stderr
        assert "graders/tiny/test_hidden.py:" in done.stderr
        assert "Traceback" not in done.stderr
