"""Runs the program `softmark` many times, and imports torch once: each run is a fork of a process that has done so.

A run has a directory, output, exit code and process of its own, as if it had been typed. It saves a second of imports.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

SERVER = """
import json, os, sys, traceback
import torch
import softmark.check.checking, softmark.cli.student, softmark.student
from softmark.cli import main

for line in sys.stdin:
    run = json.loads(line)
    pid = os.fork()
    if pid == 0:
        for descriptor, name in ((0, os.devnull), (1, run["stdout"]), (2, run["stderr"])):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), descriptor)
        os.chdir(run["folder"])
        sys.argv = ["softmark", *run["words"]]
        code = 1
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


def softmark(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `softmark` with these words in a folder, on a terminal of 100 columns."""
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    with TemporaryDirectory() as place:
        out, err = Path(place, "out"), Path(place, "err")
        run = {"folder": str(folder), "words": words, "stdout": str(out), "stderr": str(err)}
        server.stdin.write(json.dumps(run) + "\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        return subprocess.CompletedProcess(["softmark", *words], code, out.read_text(), err.read_text())


@cache
def _server() -> subprocess.Popen[str]:
    """Return the process that is forked. It ends when its input ends, with this process."""
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER],
        env={**os.environ, "COLUMNS": "100"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def end() -> None:
        server.communicate()

    atexit.register(end)
    return server
