"""What a run of a class says before anything else, and its exit code 1: results are there, and somebody must look."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.support.classes import BROKEN, FILE, NAME, NOTHING, RIGHT, WRONG, gradings, hand_in, marks, run


class TestDoubtfulSubmissions:
    """One student's folder makes nobody's work vanish."""

    def test_are_said_first(self, course: Path, tmp_path: Path) -> None:
        """A folder that would be somebody's but for its name."""
        folder = hand_in(tmp_path / "class", {"ada": {FILE: RIGHT}, "cyd": {"notes.txt": ""}, ".ben": {FILE: RIGHT}})
        done = run(folder, "-o", tmp_path / "results")
        assert done.returncode == 1
        assert done.stdout.startswith(
            "look at this first, it may be somebody's submission:\n"
            "  class/.ben: its name begins with a dot\n"
            "2 submissions: folder of folders\n"
        )
        assert marks(tmp_path / "results") == {"ada": 4.0, "cyd": 0.0}

    @pytest.mark.parametrize(("doubtful", "ignored"), [(1, 1), (10, 5), (12, 7)])
    def test_everything_is_said_once(self, doubtful: int, ignored: int, course: Path, tmp_path: Path) -> None:
        """Files that may be somebody's stand on top, others below the count. If there are many, the first are named."""
        of_somebody = {f".ben{number:02}": {FILE: RIGHT} for number in range(doubtful)}
        of_nobody = {f".idea{number}": {"notes.txt": ""} for number in range(ignored)}
        folder = hand_in(tmp_path / "class", {"ada": {FILE: RIGHT}, "cyd": {FILE: BROKEN}, **of_somebody, **of_nobody})
        done = run(folder, "-o", tmp_path / "results")
        assert done.returncode == 1
        expected = ["look at this first, it may be somebody's submission:"]
        expected += [f"  class/.ben{number:02}: its name begins with a dot" for number in range(min(doubtful, 10))]
        expected += ["  and 2 more"] if doubtful > 10 else []
        expected += ["2 submissions: folder of folders"]
        expected += [f"  ignored: class/.idea{number}: its name begins with a dot" for number in range(min(ignored, 5))]
        expected += ["  and 2 more that are nobody's submission"] if ignored > 5 else []
        assert done.stdout.splitlines()[: len(expected)] == expected
        assert ".ben" not in done.stdout[done.stdout.index("2 submissions:") :]

    def test_a_forged_time_changes_nothing(self, course: Path, tmp_path: Path) -> None:
        """With nbgrader's file in a student's folder the class is what it was, and nobody has a time."""
        folder = hand_in(tmp_path / "class", {"ada/code/v2": {FILE: RIGHT}, "ben/code/v2": {FILE: WRONG}})
        hand_in(folder, {"mallory/x": {FILE: RIGHT, "timestamp.txt": "2020-01-01 00:00:00 UTC"}})
        done = run(folder, "-o", tmp_path / "results")
        assert (done.returncode, done.stdout.splitlines()[0]) == (0, "3 submissions: folder of folders")
        assert marks(tmp_path / "results") == {"ada": 4.0, "ben": 2.0, "mallory": 4.0}
        assert "2020" not in (tmp_path / "results/grades.csv").read_text()


class TestMostOfAClass:
    """If most of it fails for one reason, that is rarely the students' fault."""

    @pytest.mark.parametrize(
        ("texts", "said"),
        [
            (
                ["import nosuchmodule\n"] * 3,
                "3 of 4 submissions failed for one same reason: tiny.py could not",
            ),
            ([f"{NOTHING}# {number}\n" for number in range(3)], "3 of 4 submissions failed for one same reason: one"),
            ([BROKEN, NOTHING, "x = 1\n"], ""),
            ([BROKEN, BROKEN, WRONG], ""),
        ],
        ids=["not loadable", "the same in every part", "several reasons", "two"],
    )
    def test_is_warned_of_first(self, texts: list[str], said: str, course: Path, tmp_path: Path) -> None:
        """The results are written all the same; a run that finds all unchanged says it again."""
        submissions = {"right": {FILE: RIGHT}, **{f"s{n}": {FILE: text} for n, text in enumerate(texts)}}
        folder, results = hand_in(tmp_path / "class", submissions), tmp_path / "results"
        for _ in range(2):
            done = run(folder, "-o", results)
            warning = done.stdout.splitlines()[1]
            assert done.returncode == (1 if said else 0)
            assert warning.startswith(f"look at this first: {said}") == bool(said)
            assert len(marks(results)) == 4

    @pytest.mark.parametrize("number", [1, 3])
    def test_that_handed_in_another_homework(self, number: int, course: Path, tmp_path: Path) -> None:
        """The homework that fits what they define is suggested; for one file, too."""
        shutil.copytree(course / "graders" / NAME, course / "graders" / "other")
        shutil.copy(course / "reference" / FILE, course / "reference" / "other.py")
        for place in ("graders/other/homework.toml", "reference/other.py", "graders/other/test_hidden.py"):
            text = (course / place).read_text()
            text = text.replace("tiny", "other").replace("one", "eins").replace("two", "zwei").replace("_eins", "_one")
            (course / place).write_text(text)
        text = RIGHT.replace("one", "eins").replace("two", "zwei")
        folder = hand_in(tmp_path / "class", {f"s{n}": {"other.py": text} for n in range(number)})
        done = run(folder, "-o", tmp_path / "results")
        who = "the submission defines" if number == 1 else "3 of 3 submissions define"
        assert done.returncode == 1
        assert f"\nlook at this first: {who} none of the functions of tiny; did you mean -a other?\n" in done.stdout
        done = run(folder / "s0" / "other.py")
        expected = "softmark: the submission defines none of the functions of tiny; did you mean -a other?\n"
        assert (done.returncode, done.stderr) == (0, expected)

    def test_that_cannot_be_read(self, course: Path, tmp_path: Path) -> None:
        """Looking for the homework that was meant stops at what is too much to read; the run says what it says else."""
        folder = tmp_path / "class"
        for number in range(3 * 31):
            path = folder / f"s{number % 3}" / f"part{number}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
            os.truncate(path, 5_000_000)
        done = run(folder, "-o", tmp_path / "results")
        assert (done.returncode, done.stderr) == (1, "")
        assert "look at this first: 3 of 3 submissions failed for one same reason: more than" in done.stdout


class TestNamesOfTheConfiguration:
    def test_are_resolved_before_anything_is_graded(self, course: Path, tmp_path: Path) -> None:
        """A misspelt forbidden name is the author's fault, and would else be every student's zero."""
        config = course / "graders" / NAME / "homework.toml"
        rule = '[[forbidden]]\nnames = [\n  "torch.relu",\n  "torch.nn.GRUU",\n]\ninstead = "sums"\n'
        config.write_text(config.read_text() + rule)
        line = config.read_text().splitlines().index('  "torch.nn.GRUU",') + 1
        folder = hand_in(tmp_path / "class", {"ada": {FILE: RIGHT}, "ben": {"notes.txt": ""}})
        for words in ((folder, "-o", tmp_path / "results"), (folder / "ada" / FILE,)):
            done = run(*words)
            assert done.returncode == 2
            assert done.stderr == (
                f"softmark: graders/{NAME}/homework.toml:{line}: 'torch.nn.GRUU' cannot be forbidden: torch.nn has no "
                "'GRUU'. Did you mean 'torch.nn.GRU'?\n"
            )
        assert gradings(tmp_path / "results") == {}
