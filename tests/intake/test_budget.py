"""What is read of one submission has bounds, whatever it is made of: memory and processor time are measured.

Each submission is read by a process of its own, as the launcher reads it.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.exports import FILE, SOURCE, WANTED
from tests.support.notebooks import code, markdown, written

NOTEBOOK = WANTED.notebook
RIGHT = SOURCE.decode()
MOST_SECONDS, MOST_BYTES, MOST_TEXT = 3.0, 200_000_000, 3000
READING = """
import json, resource, sys, time
from pathlib import Path
from softmark.grading.job import read_job
from softmark.intake.collect import collect
from tests.support.exports import asking_for

def most():
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

wanted = asking_for(*sys.argv[2:])
before, start = most(), time.process_time()
(entry,) = collect([Path(sys.argv[1])], wanted).entries
handed = read_job(entry, wanted).files
said = [handed.refusal, *handed.notes, *handed.staff_notes]
json.dump({
    "refusal": handed.refusal, "said": sum(map(len, said)), "files": sorted(handed.files),
    "seconds": time.process_time() - start, "bytes": most() - before,
}, sys.stdout)
"""


class Read(msgspec.Struct):
    """How a submission was read: the files to be graded or why there are none, and what that took."""

    refusal: str
    said: int
    files: list[str]
    seconds: float
    bytes: int


def read(folder: Path) -> Read:
    words = [sys.executable, "-c", READING, str(folder), FILE, *WANTED.wanted]
    done = subprocess.run(words, capture_output=True, check=True, env={**os.environ, "PYTHONPATH": ""})
    found = msgspec.json.decode(done.stdout, type=Read)
    assert found.seconds < MOST_SECONDS
    assert found.bytes < MOST_BYTES
    assert found.said < MOST_TEXT
    return found


def output(**data: Any) -> dict[str, Any]:
    """A cell with this as its output."""
    return code("1 + 1", outputs=[{"output_type": "display_data", "data": data, "metadata": {}}])


def compact(*cells: Any) -> bytes:
    """A notebook, written quickly and without spaces."""
    own = [code(cell) if isinstance(cell, str) else cell for cell in cells]
    return msgspec.json.encode({**json.loads(written()), "cells": own})


def zipped(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


PICTURE = hashlib.shake_256(b"").hexdigest(10_000) * 1000
MUCH_CODE = "there are more than 50,000 lines of code: hand in only what is asked for"
LARGE = "clear its outputs (Kernel → Restart & Clear Output), save it and hand it in again"
GRADED: dict[str, Callable[[], dict[str, bytes]]] = {
    "pictures of 28 MB": lambda: {NOTEBOOK: compact(RIGHT, *[output(**{"image/png": "A" * 1_000_000})] * 28)},
    "numbers of 28 MB": lambda: {NOTEBOOK: compact(RIGHT, output(**{"application/json": [0] * 14_000_000}))},
    "lists of 20 MB": lambda: {NOTEBOOK: compact(RIGHT, output(**{"application/json": [[0]] * 5_000_000}))},
    "letters of 20 MB": lambda: {NOTEBOOK: compact(RIGHT, output(**{"text/plain": "Σ\u200b" * 4_000_000}))},
    "a picture in a text cell": lambda: {NOTEBOOK: compact(RIGHT, markdown(f"![x](data:{'A' * 9_000_000})"))},
    "widgets in the metadata": lambda: {
        NOTEBOOK: msgspec.json.encode({**json.loads(written(RIGHT)), "metadata": {"widgets": [{}] * 5_000_000}})
    },
    "blank lines": lambda: {FILE: SOURCE + b"\n" * 4_700_000},
    "comments that hide something": lambda: {FILE: SOURCE + "# \u200b\n".encode() * 700_000},
    "a long text": lambda: {FILE: SOURCE + b"text = '" + b"x" * 4_900_000 + b"'\n"},
    "five thousand files that hide modules": lambda: {
        "hw.zip": zipped({FILE: SOURCE, **{f"os/h{n}.py": b"" for n in range(4900)}})
    },
}
REFUSED: dict[str, tuple[Callable[[], dict[str, bytes]], str]] = {
    "nested": (
        lambda: {NOTEBOOK: b'{"nbformat": 4, "cells": [], "x": ' + b"[" * 9_000_000 + b"]" * 9_000_000 + b"}"},
        f"the notebook has 18 MB and is not as Jupyter writes it: {LARGE}",
    ),
    "cells that are none": (
        lambda: {NOTEBOOK: b'{"nbformat": 4, "metadata": {}, "cells": [' + b"{}," * 9_000_000 + b"{}]}"},
        f"the notebook has 27 MB and is not as Jupyter writes it: {LARGE}",
    ),
    "another encoding": (
        lambda: {NOTEBOOK: compact(RIGHT, output(**{"image/png": "A" * 6_000_000})).decode().encode("utf-16")},
        f"the notebook has 12 MB and is not as Jupyter writes it: {LARGE}",
    ),
    "many cells": (
        lambda: {NOTEBOOK: compact(*[markdown("")] * 400_000)},
        "the notebook has 400000 cells, and at most 2000 are read: hand in fewer",
    ),
    "a cell of many lines": (
        lambda: {NOTEBOOK: compact(RIGHT, code(["a"] * 6_000_000))},
        "cell 2 of the notebook is longer than 500_000 characters: shorten or split it",
    ),
    "much code": (
        lambda: {NOTEBOOK: compact(*["#" * 400_000] * 20)},
        "the notebook's cells hold more than 5 MB of code: hand in less",
    ),
    "a million lines": (lambda: {FILE: SOURCE + b"x = 1\n" * 800_000}, MUCH_CODE),
    "a hundred thousand functions": (lambda: {FILE: SOURCE + b"def f(): pass\n" * 100_000}, MUCH_CODE),
    "a million statements in a line": (lambda: {FILE: SOURCE + b"x=1;" * 1_000_000}, MUCH_CODE),
    "lines in many cells": (lambda: {NOTEBOOK: compact(*["x = 1\n" * 1000] * 100)}, MUCH_CODE),
    "forty notebooks in a zip": (
        lambda: {"hw.zip": zipped({f"n{n}.ipynb": compact(str(n), output(a=PICTURE)) for n in range(40)})},
        "more than 150 MB would have to be read to find what is meant: hand in one file",
    ),
    "forty that are nothing but large": (
        lambda: {"hw.zip": zipped({f"n{n}.ipynb": b" " * 29_000_000 for n in range(40)})},
        "more than 150 MB would have to be read to find what is meant: hand in one file",
    ),
}  # fmt: skip


def put(files: Mapping[str, bytes], folder: Path) -> Path:
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize("make", GRADED.values(), ids=GRADED)
def test_is_graded(make: Callable[[], dict[str, bytes]], tmp_path: Path) -> None:
    """Large outputs and long files are honest: the code is found, and the rest costs little."""
    found = read(put(make(), tmp_path / "ada"))
    assert found.refusal == ""
    assert found.files[0] in (FILE, "cell 1")


@pytest.mark.parametrize(("make", "sentence"), REFUSED.values(), ids=REFUSED)
def test_is_refused(make: Callable[[], dict[str, bytes]], sentence: str, tmp_path: Path) -> None:
    """What would cost too much is refused with one sentence that says what to do."""
    assert read(put(make(), tmp_path / "ada")).refusal == sentence


def test_folders_count_too(tmp_path: Path) -> None:
    """Six thousand empty folders are too many, as files would be."""
    ada = put({FILE: SOURCE}, tmp_path / "ada")
    for number in range(6000):
        (ada / "more" / str(number)).mkdir(parents=True)
    assert read(ada).refusal == "more than 5000 files were handed in"
