"""The commands, as they are typed: what they print, what they write, and what exit code they end with."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import msgspec
import pytest

from softmark.batch.journal import Journal
from softmark.cli.app import COMMANDS
from softmark.records.result import Result, Status, decode

ROOT = Path(__file__).parents[2]
SOFTMARK = str(Path(sys.executable).with_name("softmark"))
STRONGEST = "full" if os.geteuid() == 0 else "user"
REFERENCE = ROOT / "reference/attention_scores.py"
MIXED = ROOT / "samples/attention_scores/mixed.py"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="becomes an ordinary user, which only root can")


def softmark(*words: str | Path, user: int | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HOME": "/tmp"}
    return subprocess.run(
        [SOFTMARK, *map(str, words)],
        cwd=ROOT,
        user=user,
        group=user,
        extra_groups=[] if user else None,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def grade(path: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    return softmark("grade", path, "-a", "attention_scores", "--isolation", STRONGEST, *words)


class TestHelp:
    """The commands are imported when they are run, so what the list says of them is written down a second time."""

    @pytest.mark.parametrize("name", COMMANDS)
    def test_lists_what_a_command_says_of_itself(self, name: str) -> None:
        module, text = COMMANDS[name]
        function = getattr(import_module(f"softmark.cli.{module}"), name)
        assert inspect.getdoc(function).partition("\n\n")[0].replace("\n", " ") == text

    @pytest.mark.parametrize("words", [["--help"], ["--version"], ["grade", "--help"], ["doctor", "--help"]])
    def test_costs_no_torch(self, words: list[str]) -> None:
        program = (
            "import sys\nfrom softmark.cli.app import app\ntry:\n    app()\nfinally:\n    print('torch' in sys.modules)"
        )
        done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "False"

    def test_suggests_a_command(self) -> None:
        done = softmark("grad")
        assert (done.returncode, done.stdout) == (2, "")
        assert "No such command 'grad'. Did you mean 'grade', 'regrade'?" in done.stderr


class TestGrade:
    """`softmark grade FILE -a HW`."""

    def test_reference_earns_everything(self, tmp_path: Path) -> None:
        """20 of 20 at the strongest level, exit 0, and a results.json that adds up."""
        done = grade(REFERENCE, "-o", tmp_path)
        assert done.returncode == 0, done.stderr
        assert "20 / 20" in done.stdout
        results = json.loads((tmp_path / "submissions/attention_scores/results.json").read_text())
        assert sum(test["score"] for test in results["tests"]) == 20
        assert sum(test["max_score"] for test in results["tests"]) == 20

    def test_writes_what_is_handed_back_and_a_page_for_staff(self, tmp_path: Path) -> None:
        """Hidden matrices are on the staff's page, and on no other."""
        assert grade(MIXED, "-o", tmp_path).returncode == 0
        folder = tmp_path / "submissions/mixed"
        names = ["feedback.html", "feedback.md", "results.json", "staff.html"]
        assert sorted(file.name for file in folder.iterdir()) == names
        assert [name for name in names if "<svg" in (folder / name).read_text()] == ["staff.html"]

    def test_is_kept_out_of_the_results_of_a_class(self, tmp_path: Path) -> None:
        """A file that is called like a student would replace that student's feedback."""
        with Journal(tmp_path, "attention_scores"):
            pass
        done = grade(REFERENCE, "-o", tmp_path)
        assert done.returncode == 2
        assert done.stderr.endswith(
            f"softmark: {tmp_path} holds the results of a class; choose another folder for one file with -o\n"
        )
        assert not (tmp_path / "submissions").exists()

    def test_json_is_the_result(self) -> None:
        """--json prints the whole Result and nothing else."""
        result = decode(grade(REFERENCE, "--json").stdout)
        assert (result.total, result.status, result.provenance.isolation) == (20.0, Status.GRADED, STRONGEST)

    @needs_root
    def test_ordinary_user(self, tmp_path: Path) -> None:
        """An ordinary user grades at level user; level full is refused with the next step."""
        done = softmark("grade", REFERENCE, "-a", "attention_scores", "--isolation", "user", user=12345)
        assert (done.returncode, "20 / 20" in done.stdout) == (0, True), done.stderr
        refused = softmark("grade", REFERENCE, "-a", "attention_scores", user=12345)
        assert refused.returncode == 2
        assert "--isolation user" in refused.stderr

    def test_the_whole_time_is_limited(self, tmp_path: Path) -> None:
        """With --timeout, what was earned before the time was up is kept, and the rest says why it is 0."""
        source = REFERENCE.read_text().replace(
            "def softmax_rows(S: torch.Tensor) -> torch.Tensor:",
            "def softmax_rows(S):\n    while True: pass\n\n\ndef _old(S):",
        )
        slow = tmp_path / "slow.py"
        slow.write_text(source)
        result = decode(grade(slow, "--timeout", "3", "--json").stdout)
        earned = {part.number: part.earned for part in result.parts}
        assert (earned["1"], earned["2"], earned["3"]) == (2, 2, 4)
        assert earned["7"] == 0
        assert "time for the whole submission" in msgspec.json.encode(result.tests[-1]).decode()


class TestBadUsage:
    """One sentence on stderr with the next step, exit 2, no traceback."""

    @staticmethod
    def refused(done: subprocess.CompletedProcess[str]) -> str:
        assert done.returncode == 2, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stderr

    def test_no_such_file(self) -> None:
        """A path that is not there."""
        assert "no such file" in self.refused(grade(Path("nowhere.py")))

    def test_unknown_homework(self) -> None:
        """A homework that is not there: the near name is suggested."""
        said = self.refused(softmark("grade", REFERENCE, "-a", "attention_score"))
        assert "Did you mean 'attention_scores'" in said

    def test_directory(self, tmp_path: Path) -> None:
        """A folder with nothing in it."""
        (tmp_path / "class").mkdir()
        assert "no submission in" in self.refused(grade(tmp_path / "class", "-o", tmp_path / "results"))

    def test_fifo(self, tmp_path: Path) -> None:
        """A named pipe is not waited for."""
        os.mkfifo(tmp_path / "hw.py")
        assert "not a regular file" in self.refused(grade(tmp_path / "hw.py"))

    @needs_root
    def test_unreadable_file(self, tmp_path: Path) -> None:
        """A file that this user may not read."""
        secret = tmp_path / "secret.py"
        secret.write_text("x = 1\n")
        tmp_path.chmod(0o711)
        secret.chmod(0o600)
        said = self.refused(softmark("grade", secret, "-a", "attention_scores", "--isolation", "user", user=12345))
        assert "cannot be read" in said

    def test_output_not_writable(self, tmp_path: Path) -> None:
        """Results that could not be kept are not made."""
        (tmp_path / "taken").write_text("")
        assert "cannot be written" in self.refused(grade(REFERENCE, "-o", tmp_path / "taken"))


LOAD_FAILURES = {
    "syntax": (b"import torch\n\ndef scores(Q, K:\n    return Q\n", "SyntaxError", 3),
    "module": (b"import torch\nimport seaborn_is_not_here\n", "nor installed where it is graded", 2),
    "exit": (b"import sys\n\n\nsys.exit(0)\n", "ends the program while it is loaded", 4),
    "names": (b"def score(Q, K):\n    return Q\n", "score", None),
    "empty": (b"", "the file is empty", None),
    "utf16": ("x = 1\n".encode("utf-16"), "UTF-16", None),
    "latin1": (b"# caf\xe9\nx = 1\n", "0xE9", None),
    "cookie": (b"# -*- coding: utf-7 -*-\nx = 1\n", "utf-7", None),
    "nul": (b"x = 1\n\0\n", "NUL", None),
}


class TestNotLoadable:
    """A submission of which nothing can be graded."""

    @pytest.mark.parametrize("case", LOAD_FAILURES)
    def test_one_reason_at_the_top(self, case: str, tmp_path: Path) -> None:
        """Every part 0, one clear reason with the student's line where there is one, and exit 0."""
        source, says, line = LOAD_FAILURES[case]
        path = tmp_path / "attention_scores.py"
        path.write_bytes(source)
        done = grade(path, "--json")
        assert done.returncode == 0, done.stderr
        result: Result = decode(done.stdout)
        assert (result.status, result.total, result.max_score) == (Status.NOT_GRADABLE, 0, 20)
        assert says in result.reason
        assert line is None or result.reason_frames[-1].line == line

    @pytest.mark.parametrize("change", [b"\xef\xbb\xbf", b""], ids=["bom", "crlf"])
    def test_harmless_bytes(self, change: bytes, tmp_path: Path) -> None:
        """A byte order mark, or Windows line ends, cost nothing."""
        source = change + REFERENCE.read_bytes()
        path = tmp_path / "attention_scores.py"
        path.write_bytes(source if change else source.replace(b"\n", b"\r\n"))
        assert decode(grade(path, "--json").stdout).total == 20


class TestDoctor:
    """`softmark doctor`."""

    def test_json_has_the_level(self) -> None:
        """The level that this machine reaches, found by attack."""
        found = json.loads(softmark("doctor", "--json", "--isolation", STRONGEST).stdout)
        assert found["level"] == STRONGEST
        assert found["versions"]["torch"].startswith("2.")

    @needs_root
    def test_below_what_is_needed(self) -> None:
        """As an ordinary user it says why not full, and exits 1."""
        done = softmark("doctor", user=12345)
        assert done.returncode == 1
        assert "needs root" in done.stdout
