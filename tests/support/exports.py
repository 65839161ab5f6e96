"""Makes downloads exactly as the platforms make them, of generic students. Each is a tree of names and bytes."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from softmark.course.homework import Homework, Part

Tree = Mapping[str, bytes]


def asking_for(file: str, *names: str) -> Homework:
    """Return a homework that asks for this file, and for these functions in it."""
    parts = tuple(Part(str(number), name, name) for number, name in enumerate(names, 1))
    return Homework(Path(file).stem, Path(), "", file, Fraction(1), parts, forbidden=(), limits={})


WANTED = asking_for("attention_scores.py", "attend", "project", "scores", "softmax_rows")
FILE, NOTEBOOK = WANTED.file, WANTED.notebook

SOURCE = b'''"""Attention scores."""

import torch


def attend(h, X):
    return torch.softmax(X @ h, dim=-1) @ X


def project(X, W_Q, W_K, W_V):
    return X @ W_Q, X @ W_K, X @ W_V


def scores(Q, K):
    return Q @ K.transpose(-1, -2)


def softmax_rows(S):
    return torch.softmax(S, dim=-1)
'''
OTHER = SOURCE.replace(b"torch.softmax(S", b"torch.nn.functional.softmax(S")
STARTER = b"\n\n".join(b"def %s(*args):\n    raise NotImplementedError" % name.encode() for name in WANTED.wanted)


def notebook(source: bytes = SOURCE) -> bytes:
    """Return a notebook with one cell."""
    lines = source.decode().splitlines(keepends=True)
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": lines}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1).encode()


def as_folder(tree: Tree, path: Path) -> Path:
    for name, content in tree.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(content)
    return path


def as_zip(tree: Tree, path: Path) -> Path:
    path.with_suffix(".zip").write_bytes(zipped(tree))
    return path.with_suffix(".zip")


def zipped(tree: Tree) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in tree.items():
            archive.writestr(name, content)
    return buffer.getvalue()


GRADESCOPE_METADATA = """---
submission_31:
  :submitters:
  - :name: Student One
    :sid: '1001'
    :email: one@example.com
  :created_at: 2026-04-26 17:34:00.861687000 Z
  :score: 2.0
  :status: processed
  :results:
    score: 2.0
    output: |-
      submission_666:
        :submitters:
      :created_at: 1999-01-01 00:00:00.000000000 Z
  :history:
  - :id: 30
    :created_at: 2026-04-25 11:00:00.000000000 Z
    :score: 0.0
    :results:
      tests:
      - name: Part 1
        :created_at: 1999-01-01 00:00:00.000000000 Z
submission_32:
  :submitters:
  - :name: "Student \\"Two\\" \\xC9"
    :sid: 1002
    :email: two@example.com
  - :name: 'Student O''Three'
    :sid:
    :email: three@example.com
  :created_at: !ruby/object:ActiveSupport::TimeWithZone
    utc: &1 2026-04-27 08:00:00.000000000 Z
    zone: !ruby/object:ActiveSupport::TimeZone
      name: Etc/UTC
    time: *1
  :score: 0.0
  :history: []
submission_33:
  :submitters: []
  :created_at: 2026-04-27 01:00:00.000000000 -07:00
  :history: []
submission_34:
  :submitters:
  - :name: Student Five
    :sid: '1005'
    :email: five@example.com
"""


def gradescope() -> Tree:
    root = "assignment_8046601_export"
    return {
        f"{root}/submission_metadata.yml": GRADESCOPE_METADATA.encode(),
        f"{root}/submission_31/{FILE}": SOURCE,
        f"{root}/submission_32/{NOTEBOOK}": notebook(),
        f"{root}/submission_33/notes.docx": b"PK\x03\x04 words",
        f"{root}/.DS_Store": b"\0",
        f"__MACOSX/{root}/._submission_metadata.yml": b"\0",
    }


def canvas() -> Tree:
    return {
        f"onestudent_1001_500101_{FILE}": SOURCE,
        "twostudent_LATE_1002_500102_attention_scores-1.py": OTHER,
        f"twostudent_LATE_1002_500092_{FILE}": STARTER,
        "twostudent_LATE_1002_500103_helper.py": b"x = 1\n",
        f"group7_1003_500104_{NOTEBOOK}": notebook(),
        "fourstudent_1004_500105_hw.zip": zipped({f"hw/{FILE}": SOURCE}),
        "fivestudent_LATE_1005_text.html": b"<p>I did it on paper</p>",
        f"anon_Ab3dE_500106_{FILE}": SOURCE,
    }


def moodle() -> Tree:
    return {
        f"Student One_1001_assignsubmission_file_/{FILE}": SOURCE,
        "Student One_1001_assignsubmission_onlinetext_/onlinetext.html": b"<p>see the file</p>",
        f"Zoë Twó_1002_assignsubmission_file/homework/{FILE}": SOURCE,
        "Student Three_1003_assignsubmission_onlinetext/onlinetext.html": b"<p>sorry</p>",
        f"Default group_assignsubmission_file/{FILE}": SOURCE,
    }


def moodle_flat() -> Tree:
    return {
        f"Student One_1001_assignsubmission_file_{FILE}": SOURCE,
        "Student One_1001_assignsubmission_file_helper.py": b"x = 1\n",
        f"Student Two_1002_assignsubmission_file_{NOTEBOOK}": notebook(),
    }


def nbgrader() -> Tree:
    return {
        "gradebook.db": b"SQLite format 3\0",
        f"source/hw1/{NOTEBOOK}": notebook(STARTER),
        f"submitted/one/hw1/{NOTEBOOK}": notebook(),
        "submitted/one/hw1/timestamp.txt": b"2026-02-02 15:58:23.948203 America/Los_Angeles",
        f"submitted/two/hw1/{NOTEBOOK}": notebook(STARTER),
        "submitted/two/hw1/timestamp.txt": b"2026-02-01 10:00:00 UTC\n",
        f"submitted/two/hw1-again/{NOTEBOOK}": notebook(),
        "submitted/two/hw1-again/timestamp.txt": b"2026-02-03 10:00:00 UTC\n",
        "submitted/two/hw0/setup.ipynb": notebook(b"x = 1\n"),
        "submitted/three/hw1/essay.docx": b"words",
        "submitted/three/hw0/setup.ipynb": notebook(b"x = 1\n"),
        "submitted/four/hw0/setup.ipynb": notebook(b"x = 1\n"),
    }
