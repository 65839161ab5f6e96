"""`softmark check`, on a real terminal, and code that does not answer: Ctrl-C, limits of time, a debugger, a crash."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jupyter_client
import pytest

from tests.conftest import ROOT
from tests.support.terminal import CTRL_C, Terminal, left_in

FILE = "attention_scores.py"
SOLUTION = (ROOT / "reference" / FILE).read_text()
SAYS_WHERE = "with open('/dev/tty', 'w') as terminal: terminal.write('HERE')\n"
ATTENTION = f"def attention(Q, K, V, mask=None):\n    {SAYS_WHERE}"
IN_TORCH = "import torch\n    x = torch.ones(64, 64)\n    while True: x = (x @ x).softmax(-1)\n"
STARTS = "import subprocess\nsubprocess.Popen(['sleep', '300'], start_new_session=True)\n"
CATCHES = "while True:\n        try:\n            while True: pass\n        except Exception: pass\n"
IN_C = "import itertools\n    sum(itertools.count())\n"
STUBBORN = "while True:\n        try:\n            while True: pass\n        except BaseException: pass\n"


def typed(folder: Path, code: str, *keys: tuple[str, str], words: Sequence[str] = ()) -> tuple[int, str]:
    """Run `softmark check` on the solution and this code after it, on a terminal; return exit code and what was shown.

    Each of the keys is typed when the text before it has been shown since the last one.
    """
    (folder / FILE).write_text(f"{SOLUTION}\n\n{code}")
    with Terminal(folder, "check", *words) as terminal:
        for text, press in keys:
            terminal.until(text)
            terminal.press(press)
        return terminal.end(), " ".join(terminal.shown.split())


def short(folder: Path) -> None:
    """Give the homework a limit of a few tenths of a second."""
    handout = folder / "examples.json"
    handout.write_text(json.dumps({**json.loads(handout.read_text()), "limits": {"cpu_seconds": 0.3}}))


class TestCtrlC:
    """The first press ends it, whatever the student's code does, with the exit code of a shell."""

    @pytest.mark.parametrize(
        ("code", "words"),
        [
            (f"{ATTENTION}    while True: pass\n", ()),
            (f"{ATTENTION}    {STUBBORN}", ()),
            (f"{ATTENTION}    {CATCHES}", ()),
            (f"{ATTENTION}    {IN_TORCH}", ()),
            (f"{ATTENTION}    {IN_C}", ()),
            (f"{ATTENTION}    {IN_C}", ("--watch",)),
            (f"{STARTS}{ATTENTION}    while True: pass\n", ()),
            (f"{SAYS_WHERE}while True: pass\n", ()),
        ],
        ids=[
            "loop",
            "catches everything",
            "catches exceptions",
            "torch",
            "C",
            "watch",
            "a process of its own",
            "while loading",
        ],
    )
    def test_first_press(self, folder: Path, code: str, words: Sequence[str]) -> None:
        """No table, no traceback, no process left behind."""
        code_of_exit, shown = typed(folder, code, ("HERE", CTRL_C), words=words)
        assert code_of_exit == 130
        assert "Traceback" not in shown
        assert "public tests" not in shown
        assert not left_in(folder)

    def test_what_was_printed_until_then(self, folder: Path) -> None:
        """It is said where the loop is, with what it had printed: often that was why."""
        code = f"def attention(Q, K, V, mask=None):\n    print('step', 7)\n    {SAYS_WHERE}    while True: pass\n"
        _, shown = typed(folder, code, ("HERE", CTRL_C))
        assert "softmark: stopped in attention, which had printed: | step 7" in shown

    def test_while_edits_are_tried(self, folder: Path) -> None:
        """Code that has no terminal is tried with an edit, because the line of a mistake is looked for."""
        tried = "    import os\n    if not os.isatty(1):\n        print('HERE', file=open('/dev/tty', 'w'))\n"
        code = f"def attention(Q, K, V, mask=None):\n{tried}        while True: pass\n    return Q, K\n"
        code_of_exit, shown = typed(folder, code, ("HERE", CTRL_C))
        assert code_of_exit == 130
        assert "Traceback" not in shown
        assert "public tests" not in shown

    def test_while_watching(self, folder: Path) -> None:
        """Between two runs it ends with what the last one found."""
        code, shown = typed(folder, "", ("public tests: 25 of 25", CTRL_C), words=["--watch"])
        assert code in (0, 130)  # it was waiting for a change by then, or still at the end of the run
        assert "Traceback" not in shown


class TestLimits:
    """The limits of grading hold, and what they end is told in the same words."""

    @pytest.mark.parametrize(
        ("code", "said"),
        [
            (f"{ATTENTION}    {STUBBORN}", "no answer within 0.3 s of computing time"),
            (f"{ATTENTION}    {IN_C}", "no answer within 0.3 s of computing time"),
            (f"{ATTENTION}    import os\n    os._exit(3)\n", "the code ended the process (exit status 3)"),
            (f"{ATTENTION}    import ctypes\n    ctypes.string_at(0)\n", "the code crashed with a segmentation fault"),
        ],
        ids=["loop", "C", "exit", "crash"],
    )
    def test_part_without_an_answer(self, folder: Path, code: str, said: str) -> None:
        """The part fails, and the others are checked."""
        short(folder)
        code_of_exit, shown = typed(folder, code)
        assert code_of_exit == 1
        assert f"attention: {said}" in shown
        assert "public tests: 19 of 25" in shown

    def test_keyboard(self, folder: Path) -> None:
        """input() does not wait: there will be no keyboard."""
        _, shown = typed(folder, f"{ATTENTION}    return input('n? ')\n")
        assert "attention: waits for keyboard input with input(): there is no keyboard while grading" in shown


class TestDebugger:
    """breakpoint() works where a student looks for a mistake."""

    CODE = "import time\ntimes = []\n\ndef attention(Q, K, V, mask=None):\n    secret = 7777\n{body}    return Q @ 1\n"
    ONCE = "    if not times:\n        times.append(1)\n        breakpoint()\n"

    def test_prompt(self, folder: Path) -> None:
        """It is asked and answers; time does not run out, however long one thinks."""
        short(folder)
        busy = "sum(range(30_000_000))"  # more than the limit, in the debugger and after it
        code = self.CODE.format(body=f"{self.ONCE}        {busy}\n")
        keys = ("(Pdb) ", "p secret + 1\n"), ("7778", f"p {busy} > 0\n"), ("True", "c\n")
        _, shown = typed(folder, code, *keys)
        assert "attention: raised TypeError" in shown
        assert "no answer within" not in shown

    def test_ctrl_c(self, folder: Path) -> None:
        """At the prompt it ends the check, too."""
        code, shown = typed(folder, self.CODE.format(body=self.ONCE), ("(Pdb) ", CTRL_C))
        assert code == 130
        assert "public tests" not in shown


class TestInANotebook:
    """The same in a kernel of Jupyter, where the code runs in the kernel itself."""

    def test_loop(self, folder: Path) -> None:
        """An endless loop ends at the limit, in the words of grading, and the kernel goes on."""
        short(folder)
        client = self.kernel(folder)
        try:
            check = "from softmark.student import check\ncheck('attention_scores', part=1)"
            said = self.run(client, f"def attend(h, X):\n    {STUBBORN}\n{check}")
            assert "attend: no answer within 0.3 s of computing time" in said
            assert "1 + 1 is 2" in self.run(client, "print('1 + 1 is', 1 + 1)")
        finally:
            client.shutdown()
            client.stop_channels()

    def test_interrupt(self, folder: Path) -> None:
        """Jupyter's button, which is a Ctrl-C, ends the check and not only a test."""
        client = self.kernel(folder)
        try:
            loop = f"import os, signal\ndef attend(h, X):\n    os.kill(os.getpid(), signal.SIGINT)\n    {STUBBORN}\n"
            said = self.run(client, f"{loop}\nfrom softmark.student import check\ncheck('attention_scores', part=1)")
            assert "KeyboardInterrupt" in said
            assert "public tests" not in said
        finally:
            client.shutdown()
            client.stop_channels()

    def test_debugger(self, folder: Path) -> None:
        """pdb asks at the notebook's own prompt; breakpoint() there belongs to Jupyter's own debugger."""
        client = self.kernel(folder)
        try:
            code = "times = []\ndef attend(h, X):\n    if not times:\n        times.append(1)\n"
            code += "        import pdb; pdb.set_trace()\n    return X @ 1\n"
            check = "from softmark.student import check\ncheck('attention_scores', part=1)"
            said = self.run(client, code + check, "p 7000 + 777", "c")
            assert "7777" in said
            assert "attend: raised TypeError" in said
        finally:
            client.shutdown()
            client.stop_channels()

    def kernel(self, folder: Path) -> jupyter_client.BlockingKernelClient:
        _, client = jupyter_client.manager.start_new_kernel(cwd=str(folder), kernel_name="python3")
        return client

    def run(self, client: jupyter_client.BlockingKernelClient, code: str, *answers: str) -> str:
        """What a cell prints, and the name of what it raises; the answers are given when it asks."""
        said: list[str] = []
        coming = iter(answers)

        def hear(message: dict[str, Any]) -> None:
            content = message["content"]
            said.append(content.get("text", "") + content.get("ename", ""))
            said.append(content.get("data", {}).get("text/plain", ""))

        client.execute_interactive(code, output_hook=hear, stdin_hook=lambda _: client.input(next(coming)), timeout=120)
        return " ".join("".join(said).replace("│", " ").split())
