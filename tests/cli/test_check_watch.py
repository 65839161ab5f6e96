"""`softmark check --watch` on a real terminal: the screen, the time, and files that are just being saved."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from softmark.sandbox import procfs
from tests.conftest import ROOT
from tests.support.terminal import CTRL_C, Terminal, left_in

FILE = "attention_scores.py"
SOLUTION = (ROOT / "reference" / FILE).read_text()
UNSCALED = SOLUTION.replace("return S / math.sqrt(d_k)", "return S")
CLEARED = "\x1b[2J"
WAITS = "Ctrl-C ends this)"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A homework's folder as a student gets it, with the solution in it."""
    place = Path(shutil.copytree(ROOT / "assignments/attention_scores", tmp_path / "homework"))
    (place / FILE).write_text(SOLUTION)
    return place


def cpu_seconds(pid: int) -> float:
    """The processor time of a process and of its children that have ended."""
    return procfs.process_cpu(pid) + procfs.reaped_cpu(pid)


def test_every_save_has_a_screen_of_its_own(folder: Path) -> None:
    """The screen is cleared before each answer, which has its time, and what has changed since the last one."""
    with Terminal(folder, "check", "--watch") as terminal:
        first = terminal.until(WAITS)
        (folder / FILE).write_text(UNSCALED)
        second = terminal.until(WAITS)
        terminal.press(CTRL_C)
        assert terminal.end() in (0, 1)  # of the second answer, or of the first if the key came in the same instant
    assert CLEARED in first.partition("public tests")[0]
    assert "checked at " in first
    second = re.sub(r"\x1b\[\d*m", "", second)
    assert CLEARED in second.partition("public tests")[0]
    assert "Since the last check: parts 3 and 6 fail since your last change" in second
    assert "Traceback" not in terminal.shown
    assert not left_in(folder)


def test_an_answer_takes_less_than_half_a_second(folder: Path) -> None:
    """Torch is imported, pytest too: what is left is the tests themselves. Other programs' time does not count."""
    with Terminal(folder, "check", "--watch") as terminal:
        terminal.until(WAITS)
        taken = []
        for number in range(3):
            before = cpu_seconds(terminal.pid)
            (folder / FILE).write_text(f"{SOLUTION}\n# {number}\n")
            terminal.until(WAITS)
            taken.append(cpu_seconds(terminal.pid) - before)
        assert min(taken) < 0.5


def test_a_save_ends_the_check_before(folder: Path) -> None:
    """Nobody waits for an endless loop that is mended already."""
    with Terminal(folder, "check", "--watch") as terminal:
        terminal.until(WAITS)
        says = "open('/dev/tty', 'w').write('HERE')"
        (folder / FILE).write_text(f"{SOLUTION}\n\ndef scores(Q, K):\n    {says}\n    while True: pass\n")
        terminal.until("HERE")
        (folder / FILE).write_text(SOLUTION)
        said = terminal.until(WAITS)
    assert "public tests: 25 of 25" in said
    assert "no answer within" not in said


def test_ctrl_c_right_after_a_save(folder: Path) -> None:
    """It ends the check at the first press, though a check has just begun again."""
    with Terminal(folder, "check", "--watch") as terminal:
        terminal.until(WAITS)
        (folder / FILE).write_text(UNSCALED)
        terminal.press(CTRL_C)
        assert terminal.end() in (0, 1, 130)
    assert "Traceback" not in terminal.shown


def test_a_file_that_is_emptied_first(folder: Path) -> None:
    """An editor that empties a file and writes it then is waited for: nothing is said of an empty file."""
    with Terminal(folder, "check", "--watch") as terminal:
        terminal.until(WAITS)
        end = os.open(folder / FILE, os.O_WRONLY | os.O_TRUNC)
        os.write(end, UNSCALED.encode())
        os.close(end)
        said = terminal.until(WAITS)
    assert "see 3.1" in said
    assert "is not defined" not in said
