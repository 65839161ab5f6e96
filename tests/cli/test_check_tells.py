"""`softmark check` tells more than the failures: the call, the prints, the points, and what has changed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.terminal import SOFTMARK, Terminal
from tests.support.warm_program import softmark

FILE = "attention_scores.py"
SOLUTION = (ROOT / "reference" / FILE).read_text()
UNSCALED = SOLUTION.replace("return S / math.sqrt(d_k)", "return S")


def check(place: Path, *words: str) -> str:
    """Return what a check prints, on one line."""
    return " ".join(softmark(place, "check", *words).stdout.replace("│", " ").split())


class TestCall:
    """The call behind a failure."""

    def test_inputs_in_short(self, folder: Path) -> None:
        """Few numbers are written out, of a large tensor its shape and dtype."""
        (folder / FILE).write_text(UNSCALED.replace("return j <= i ", "return j < i "))
        said = check(folder)
        assert "Called: scores(Q, K) with Q: float64 of shape (4, 6); K: float64 of shape (3, 6)" in said
        assert "Called: causal_mask(n) with n: 5" in said

    def test_lists_and_texts(self, tmp_path: Path) -> None:
        """Where the inputs are no tensors, they are shown as Python writes them."""
        place = Path(shutil.copytree(ROOT / "assignments/byte_pair_encoding", tmp_path / "homework"))
        own = (ROOT / "reference/byte_pair_encoding.py").read_text()
        (place / "byte_pair_encoding.py").write_text(own.replace("            i += 2\n", "            i += 1\n"))
        said = check(place, "--part", "3")
        assert "Called: merge(word, pair) with word: [b't', b'h', b'a'," in said

    def test_object(self, tmp_path: Path) -> None:
        """The call of a module has the name of its class."""
        place = Path(shutil.copytree(ROOT / "assignments/lstm_gates", tmp_path / "homework"))
        own = (ROOT / "reference/lstm_gates.py").read_text()
        assert own.count("return x, (torch.stack(h_n)") == 1
        (place / "lstm_gates.py").write_text(own.replace("return x, (torch.stack(h_n)", "return -x, (torch.stack(h_n)"))
        assert "Called: LSTM(x) with x: float64 of shape" in check(place, "--part", "6")

    def test_line_that_steps_through_it(self, folder: Path) -> None:
        """Typed as it is shown, it opens the debugger in this call, at the first line of the student's."""
        (folder / FILE).write_text(UNSCALED)
        told = subprocess.run([SOFTMARK, "check"], cwd=folder, capture_output=True, text=True, check=False).stdout
        (line,) = re.findall(r"Step through it: (.*)", told.replace("\n  │ ", " "))
        with Terminal(folder, *shlex.split(line)[1:]) as terminal:
            first = terminal.until("(Pdb) ")
            terminal.press("p tuple(Q.shape), tuple(K.shape)\n")
            assert "((4, 6), (3, 6))" in terminal.until("(Pdb) ")
            terminal.press("n\nn\np S.shape\n")
            terminal.until("torch.Size([4, 3])")
            terminal.press("q\n")
            assert terminal.end() == 1
        assert shlex.split(line)[1:] == ["check", "--part", "3", "--debug"]
        assert f"> {FILE}(" in first.rpartition("q: end")[2]
        assert "scores()" in first.rpartition("q: end")[2]

    def test_line_in_a_shell(self, folder: Path) -> None:
        """A shell finds the program by the very line, be it on the path or not; the debugger reads what it is given."""
        (folder / FILE).write_text(UNSCALED)
        told = subprocess.run([SOFTMARK, "check"], cwd=folder, capture_output=True, text=True, check=False).stdout
        (line,) = re.findall(r"Step through it: (.*?--debug)", " ".join(told.replace("│", " ").split()))
        done = subprocess.run(line, shell=True, cwd=folder, input="p 7000 + 777\nq\n", capture_output=True, text=True)
        assert "7777" in done.stdout

    def test_method(self, tmp_path: Path) -> None:
        """The debugger stops in the class's own code, not in torch's."""
        place = Path(shutil.copytree(ROOT / "assignments/lstm_gates", tmp_path / "homework"))
        own = (ROOT / "reference/lstm_gates.py").read_text()
        (place / "lstm_gates.py").write_text(own.replace("return x, (torch.stack(h_n)", "return -x, (torch.stack(h_n)"))
        with Terminal(place, "check", "--part", "6", "--debug") as terminal:
            assert "lstm_gates.py(" in terminal.until("forward()").rpartition("q: end")[2]

    def test_nothing_to_step_through(self, folder: Path) -> None:
        """Where all tests pass, or a function is not there, that is said."""
        (folder / FILE).write_text(SOLUTION)
        assert "No call has failed in your code" in check(folder, "--debug")
        (folder / FILE).write_text(f"{SOLUTION}\n\ndel scores\n")
        assert "No call has failed in your code" in check(folder, "--part", "3", "--debug")

    def test_debugger_needs_the_terminal(self, folder: Path) -> None:
        """--watch and --json have another use for it."""
        done = softmark(folder, "check", "--debug", "--json")
        assert done.returncode == 2
        assert "leave out --watch and --json" in done.stderr


class TestPrints:
    """Prints of the code are shown where they belong."""

    def test_under_its_test(self, folder: Path) -> None:
        """Prints and warnings of a failed test stand with it; those of passing tests with their part."""
        own = UNSCALED.replace("    Q = X @ W_Q", "    print('X is', tuple(X.shape))\n    Q = X @ W_Q")
        own = own.replace(
            "    return S  ", "    import warnings; print('S is', S.dtype); warnings.warn('odd')\n    return S  "
        )
        (folder / FILE).write_text(f"print('hello')\n{own}")
        done = softmark(folder, "check")
        lines = [line.strip() for line in done.stdout.splitlines()]
        assert done.stdout.splitlines()[1].startswith("  Attention scores")
        of_2, of_3 = (next(i for i, line in enumerate(lines) if line.startswith(start)) for start in ("✓ 2 ", "✗ 3.1"))
        assert lines[of_2 + 1] == "│ 2.1 printed: X is (4, 5)"
        assert "│ S is torch.float64" in lines[of_3:]
        assert [line for line in lines[of_3:] if line.endswith("UserWarning: odd")]
        assert "│ Printed while the file was loaded: hello" in lines
        assert done.stderr == ""

    def test_many(self, folder: Path) -> None:
        """The first lines are shown, and how many there are."""
        own = UNSCALED.replace("    return S  ", "    for i in range(500): print('line', i)\n    return S  ")
        (folder / FILE).write_text(own)
        done = softmark(folder, "check", "--part", "3")
        assert "│ line 11\n" in done.stdout
        assert "│ line 12\n" not in done.stdout
        assert "│ … 488 more lines" in done.stdout

    def test_without_end(self, folder: Path) -> None:
        """Code that prints for ever is stopped at the limit, and fills nothing."""
        handout = folder / "examples.json"
        handout.write_text(handout.read_text().replace('"cpu_seconds": 10.0', '"cpu_seconds": 0.3'))
        (folder / FILE).write_text(f"{SOLUTION}\n\ndef scores(Q, K):\n    while True: print('again and again')\n")
        said = check(folder, "--part", "3")
        assert "scores: no answer within" in said
        assert "The call took longer than it may, here and in grading, and was stopped." in said
        assert "again and again" in said
        assert len(said) < 5000


class TestChanges:
    """Changes since the last check are told."""

    def test_is_told(self, folder: Path) -> None:
        """Which parts pass now, which fail, and how many tests of a part; nothing where all is as it was."""
        (folder / FILE).write_text(UNSCALED)
        assert "Since the last check" not in check(folder)
        assert "Since the last check" not in check(folder)
        (folder / FILE).write_text(SOLUTION.replace("return j <= i ", "return j < i "))
        assert (
            "Since the last check: parts 3 and 6 pass now; part 7 fails since your last change public tests:"
        ) in check(folder)

    def test_of_one_part(self, folder: Path) -> None:
        """A check of one part says nothing of the others, and does not forget them."""
        (folder / FILE).write_text(UNSCALED)
        check(folder)
        (folder / FILE).write_text(SOLUTION)
        assert "Since the last check: part 3 passes now public tests: 3 of 3" in check(folder, "--part", "3")
        assert "Since the last check: part 6 passes now public tests: 25 of 25" in check(folder)

    def test_nowhere_to_keep_it(self, folder: Path, tmp_path: Path) -> None:
        """Where nothing can be written, the check works, and the homework's folder stays as it was."""
        (tmp_path / "a file").write_text("")
        (folder / FILE).write_text(SOLUTION)
        before = sorted(folder.iterdir())
        for place in (tmp_path / "a file", Path("/proc/nowhere")):
            environment = {**os.environ, "XDG_STATE_HOME": str(place)}
            done = subprocess.run([SOFTMARK, "check"], cwd=folder, env=environment, capture_output=True, text=True)
            assert (done.returncode, done.stderr) == (0, "")
            assert sorted(folder.iterdir()) == before


class TestEnd:
    """The last lines, and the width."""

    def test_all_done(self, folder: Path) -> None:
        """It is said what the hidden tests look at besides, and which file to hand in; not after one part."""
        (folder / FILE).write_text(SOLUTION)
        said = check(folder)
        assert "All public tests pass. The hidden tests ask for nothing that is not in the handout" in said
        assert f"To hand in: {FILE}; softmark pack makes the file to upload" in said
        assert "To hand in" not in check(folder, "--part", "3")

    def test_points(self, folder: Path) -> None:
        """Each part has the points of the handout."""
        said = check(folder)
        assert "part tests points" in said
        assert "· 3 Scores 0 of 3 4 not done yet" in said

    @pytest.mark.parametrize("columns", [60, 80])
    def test_width(self, folder: Path, columns: int) -> None:
        """No line is wider than the terminal, and what was expected is shown."""
        (folder / FILE).write_text(UNSCALED)
        environment = {**os.environ, "COLUMNS": str(columns)}
        done = subprocess.run([SOFTMARK, "check"], cwd=folder, env=environment, capture_output=True, text=True)
        assert max(map(len, done.stdout.splitlines())) <= columns
        assert "expected" in done.stdout
        assert "4.74*" in done.stdout
