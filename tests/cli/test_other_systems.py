"""The student's commands where modules and functions are missing that only Linux has, or that Windows does not have.

Nothing here ran on Windows or macOS: `tests/support/other_system.py` takes away what they lack.
"""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from softmark.cli.app import COMMANDS
from tests.conftest import ROOT

FILE = "attention_scores.py"
SOLUTION = (ROOT / "reference" / FILE).read_text()
WITHOUT = str(ROOT / "tests/support/other_system.py")
KINDS = ("windows", "macos")
ON_LINUX = sorted(set(COMMANDS) - {"check", "pack", "build", "new"})
WITH_LOCKS = {"export", "regrade", "adjust"}
STUBBORN = "while True:\n        try:\n            while True: pass\n        except Exception: pass\n"

BEGUN = (
    SOLUTION.replace("return S / math.sqrt(d_k)", "return S")
    + "\n\ndef attend(h, X):\n    return X.nope\n"
    + "\n\ndef project(X, W_Q, W_K, W_V):\n    import os\n    os._exit(3)\n"
    + "\n\ndef padding_mask(lengths, n):\n    raise NotImplementedError('part 7: padding_mask')\n"
)
"""A mistake with a name, an exception, a crash, and a function that is not done."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A homework's folder as a student gets it, without the notebook."""
    own = Path(shutil.copytree(ROOT / "assignments/attention_scores", tmp_path / "homework"))
    (own / "attention_scores.ipynb").unlink()
    return own


def run(folder: Path, kind: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `softmark` with these words, or `-c` with code, on a system of this kind; "linux" for this one."""
    if kind == "linux":
        start = [sys.executable] if words[0] == "-c" else [str(Path(sys.executable).with_name("softmark"))]
    else:
        start = [sys.executable, WITHOUT, kind, *(() if words[0] == "-c" else ("softmark",))]
    return subprocess.run(
        [*start, *words], cwd=folder, env=_environment(folder, kind), capture_output=True, text=True, check=False
    )


def _environment(folder: Path, kind: str) -> dict[str, str]:
    """Return an environment with temporary files apart: another run could not see that a folder is in use."""
    temporary, state = folder.parent / "temporary", folder.parent / f"state of {kind}"
    temporary.mkdir(exist_ok=True)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {
        **os.environ,
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TMPDIR": str(temporary),
        "XDG_STATE_HOME": str(state),
        "PATH": path,
    }


def outcome(done: subprocess.CompletedProcess[str]) -> tuple[int, str, str]:
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("kind", KINDS)
class TestSame:
    """The same words, the same exit code."""

    def test_check(self, folder: Path, kind: str) -> None:
        (folder / FILE).write_text(BEGUN)
        here = run(folder, "linux", "check")
        assert "the code ended the process (exit status 3)" in here.stdout
        assert "Your scores are √d_k times too large" in here.stdout
        assert outcome(run(folder, kind, "check")) == outcome(here)

    def test_line_of_a_mistake(self, folder: Path, kind: str) -> None:
        """Edits are tried in a program of its own."""
        (folder / FILE).write_text(SOLUTION.replace("    return j < lengths", "    return j <= lengths"))
        here = run(folder, "linux", "check", "--part", "7")
        assert "✗" in here.stdout or "◐" in here.stdout
        assert outcome(run(folder, kind, "check", "--part", "7")) == outcome(here)

    def test_pack(self, folder: Path, kind: str) -> None:
        """The bytes are the same, too."""
        (folder / "masks.py").write_text("import torch\n\ndef soft(S):\n    return torch.softmax(S, -1)\n")
        (folder / FILE).write_text(f"import masks\n{SOLUTION}\nscores(1, 2)\n")
        here = run(folder, "linux", "pack")
        assert "could not be loaded" in here.stdout
        packed = (folder / "handin/attention_scores.zip").read_bytes()
        shutil.rmtree(folder / "handin")
        assert outcome(run(folder, kind, "pack")) == outcome(here)
        assert (folder / "handin/attention_scores.zip").read_bytes() == packed

    def test_notebook(self, folder: Path, kind: str) -> None:
        code = (
            f"{BEGUN.replace('os._exit(3)', '1 / 0')}\nfrom softmark.student import check\ncheck('attention_scores')\n"
        )
        here = run(folder, "linux", "-c", code)
        assert "Your scores are √d_k times too large" in here.stdout
        assert outcome(run(folder, kind, "-c", code)) == outcome(here)


@pytest.mark.parametrize("kind", KINDS)
def test_prints_are_seen(folder: Path, kind: str) -> None:
    """They come at once, before the table, because nothing says there when a test has printed all."""
    (folder / FILE).write_text(f"{SOLUTION}\nprint('LOADED')\n")
    assert run(folder, kind, "check", "--part", "1").stdout.startswith("LOADED\n")


@pytest.mark.parametrize("kind", KINDS)
class TestStops:
    """Code that does not answer is ended."""

    def test_check(self, folder: Path, kind: str) -> None:
        """Only the time on the clock is known of another program."""
        _limit(folder)
        (folder / FILE).write_text(f"{SOLUTION}\n\ndef attention(Q, K, V, mask=None):\n    {STUBBORN}")
        done = run(folder, kind, "check")
        assert (done.returncode, done.stderr) == (1, "")
        assert "attention: no answer within 3 s" in done.stdout
        assert "public tests: 19 of 25" in done.stdout

    def test_notebook(self, folder: Path, kind: str) -> None:
        """The limit of computing time holds without a timer of the system."""
        _limit(folder)
        check = "from softmark.student import check\ncheck('attention_scores', part=1)\nprint('it goes on')\n"
        done = run(folder, kind, "-c", f"def attend(h, X):\n    {STUBBORN}\n{check}")
        assert "attend: no answer within 0.3 s of computing time" in done.stdout
        assert "it goes on" in done.stdout

    def test_interrupted_notebook(self, folder: Path, kind: str) -> None:
        """Ctrl-C ends the check and not only a test."""
        loop = f"import os, signal\ndef attend(h, X):\n    os.kill(os.getpid(), signal.SIGINT)\n    {STUBBORN}\n"
        done = run(folder, kind, "-c", f"{loop}from softmark.student import check\ncheck('attention_scores', part=1)")
        assert done.stderr.splitlines()[-1] == "KeyboardInterrupt: the check was stopped"
        assert "public tests" not in done.stdout


@pytest.mark.parametrize("kind", KINDS)
class TestTerminal:
    """Ctrl-C and a debugger, on a terminal."""

    def test_ctrl_c(self, folder: Path, kind: str) -> None:
        """The first press ends it."""
        code = f"\n\ndef attention(Q, K, V, mask=None):\n    print('HERE')\n    {STUBBORN}"
        code_of_exit, shown = _typed(folder, kind, code, (b"HERE", b"\x03"))
        assert code_of_exit == 130
        assert "Traceback" not in shown
        assert "public tests" not in shown

    def test_debugger(self, folder: Path, kind: str) -> None:
        """It asks and answers, and time does not run out while it does."""
        _limit(folder)
        once = "    if not times:\n        times.append(1)\n        breakpoint()\n"
        code = f"\n\ntimes = []\n\ndef attention(Q, K, V, mask=None):\n    secret = 7777\n{once}    return Q @ 1\n"
        waits = b"import time; time.sleep(3.5); print('wai' + 'ted')\n"
        _, shown = _typed(folder, kind, code, (b"(Pdb) ", waits), (b"waited", b"p secret + 1\n"), (b"7778", b"c\n"))
        assert "attention: raised TypeError" in shown
        assert "no answer within" not in shown


class TestOtherCommands:
    """They say that they need Linux."""

    @pytest.mark.parametrize("kind", KINDS)
    def test_sentence(self, folder: Path, kind: str) -> None:
        """One sentence, and exit code 2. Without walls, macOS has at least the locks that a gradebook needs."""
        refused = ON_LINUX if kind == "windows" else sorted(set(ON_LINUX) - WITH_LOCKS)
        each = "    sys.argv = ['softmark', name]\n    try:\n        main()\n"
        each += "    except SystemExit as end:\n        print(end.code)\n"
        done = run(folder, kind, "-c", f"import sys\nfrom softmark.cli import main\nfor name in {refused}:\n{each}")
        assert done.stdout.split() == ["2"] * len(refused)
        others = "softmark check and softmark pack work here, too"
        assert done.stderr.splitlines() == [
            f"softmark: softmark {name} works on Linux only (on Windows, in WSL); {others}" for name in refused
        ]

    @pytest.mark.parametrize("kind", KINDS)
    def test_help(self, folder: Path, kind: str) -> None:
        done = run(folder, kind, "--help")
        assert (done.returncode, done.stderr) == (0, "")
        assert "pack" in done.stdout


class TestTakenAway:
    """The tests here would be worth nothing if nothing were missing."""

    @pytest.mark.parametrize(
        ("kind", "codes"),
        [
            (
                "windows",
                [
                    *(f"import {module}" for module in ("fcntl", "resource", "termios", "pwd")),
                    *(f"from os import {name}" for name in ("fork", "geteuid", "O_NOFOLLOW", "killpg")),
                    *(f"from signal import {name}" for name in ("SIGKILL", "SIGALRM", "setitimer", "pthread_sigmask")),
                    "import os; os.open('.', os.O_RDONLY)",
                    "import ctypes; ctypes.CDLL(None).prctl",
                ],
            ),
            ("macos", ["from os import pidfd_open", "import ctypes; ctypes.CDLL(None).prctl"]),
        ],
    )
    def test_is_missing(self, tmp_path: Path, kind: str, codes: list[str]) -> None:
        """Also in a program that is started."""
        tried = (
            "    try:\n        exec(code)\n    except (ImportError, OSError):\n        print('missing', flush=True)\n"
        )
        inner = f"for code in {codes}:\n{tried}"
        (tmp_path / "inner.py").write_text(inner)
        outer = "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'inner'])\n"
        done = run(tmp_path, kind, "-c", f"{inner}\n{outer}")
        assert done.stdout == "missing\n" * 2 * len(codes), done.stderr


def _limit(folder: Path) -> None:
    handout = folder / "examples.json"
    handout.write_text(json.dumps({**json.loads(handout.read_text()), "limits": {"cpu_seconds": 0.3}}))


def _typed(folder: Path, kind: str, code: str, *keys: tuple[bytes, bytes]) -> tuple[int, str]:
    """Check the solution and this code on a terminal; each of the keys is typed when its text has been shown."""
    (folder / FILE).write_text(f"{SOLUTION}{code}")
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.chdir(folder)
        words = [sys.executable, WITHOUT, kind, "softmark", "check"]
        os.execve(sys.executable, words, {**_environment(folder, kind), "COLUMNS": "200"})
    shown, since, waiting = b"", b"", list(keys)
    while chunk := _read(terminal):
        shown, since = shown + chunk, since + chunk
        if waiting and waiting[0][0] in since:
            os.write(terminal, waiting.pop(0)[1])
            since = b""
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert not waiting, shown.decode()
    return os.waitstatus_to_exitcode(status), re.sub(r"\s+", " ", shown.decode())


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # as Linux says that nobody has the other end any more
        return b""
