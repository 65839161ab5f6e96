"""Runs a command, sends it a signal at some moment, and ends when no process is left of all that came of it.

    python reaper.py SIGNAL MILLISECONDS start|output|group COMMAND...

The moment is counted from the start, or from the first thing the command says (`output`; with `group` the signal is
for its whole process group, as from a keyboard). Whatever the command orphans becomes a child of this process, so
"nothing is left" is what the kernel says, and not a guess: a process that stays makes this one wait for ever.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys

_PR_SET_CHILD_SUBREAPER = 36


def main() -> None:
    name, milliseconds, when, *command = sys.argv[1:]
    number = signal.Signals[name]
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    # a shell's background jobs ignore Ctrl-C, and so would everything they start
    command = ["env", "--default-signal=INT", *command]
    with subprocess.Popen(command, stdout=subprocess.PIPE, process_group=0) as process:
        assert process.stdout is not None
        said = b"" if when == "start" else process.stdout.readline()
        ended = os.pidfd_open(process.pid)
        if not select.select([ended], [], [], int(milliseconds) / 1000)[0]:
            (os.killpg if when == "group" else os.kill)(process.pid, number)
        sys.stdout.buffer.write(said + process.stdout.read())
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    sys.exit(process.returncode if process.returncode >= 0 else 128 - process.returncode)


if __name__ == "__main__":
    main()
