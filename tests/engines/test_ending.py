"""A process that is told to end: at any moment, and more than once."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

PROGRAM = """
import gc, os, signal, sys, weakref
from softmark.engines.ending import no_interrupt_lost, stop_when_told

class Thing:
    pass

def told_to_end(*_):
    gc.callbacks.clear()
    os.kill(os.getpid(), signal.{signal})
    for _ in range(1000):
        pass

with no_interrupt_lost():
    stop_when_told()
    {moment}
    signal.pause()
"""
TWICE = """
import os, signal
from softmark.engines.ending import stop_when_told

stop_when_told()
try:
    os.kill(os.getpid(), signal.SIGTERM)
    signal.pause()
finally:
    os.kill(os.getpid(), signal.SIGTERM)
    print("cleaned up")
"""
MOMENTS = {
    "a fork": "os.register_at_fork(after_in_parent=told_to_end); os.fork() or os._exit(0)",
    "the end of an object": "Thing.__del__ = told_to_end; Thing()",
    "a weak reference": "thing = Thing(); weak = weakref.ref(thing, told_to_end); del thing",
    "a collection of garbage": "gc.callbacks.append(told_to_end); gc.collect()",
}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
@pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS)
def test_it_ends_all_the_same(moment: str, number: signal.Signals) -> None:
    """And prints nothing but its own traceback: without a second signal it would wait for ever."""
    program = PROGRAM.format(signal=number.name, moment=moment)
    command = ["env", "--default-signal=INT", sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == -signal.SIGINT  # what Python makes of a KeyboardInterrupt
    assert "ignored" not in done.stderr
    assert done.stderr.count("Traceback") == 1


def test_it_cleans_up_however_often_it_is_told() -> None:
    """The second time changes nothing."""
    done = subprocess.run([sys.executable, "-c", TWICE], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout) == (-signal.SIGINT, "cleaned up\n")


def test_other_ignored_exceptions_are_printed() -> None:
    """As ever."""
    program = PROGRAM.format(signal="SIGTERM", moment="Thing.__del__ = lambda thing: 1 / 0; Thing(); sys.exit()")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, "ZeroDivisionError" in done.stderr) == (0, True)
