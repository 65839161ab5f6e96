"""Writes what each student gets back: `submissions/<id>/` with the feedback as a page and as text, and the marks."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from pathlib import Path

from softmark.feedback.documents import as_html, as_markdown
from softmark.feedback.feedback import Audience, feedback_for
from softmark.feedback.results_json import write_results
from softmark.feedback.safe_files import remove_leftovers, replace_file
from softmark.records.result import Graded, Result

PAGE, TEXT, MARKS = "feedback.html", "feedback.md", "results.json"
SUBMISSIONS = "submissions"
STAFF_PAGE = "staff.html"
SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")


def feedback_folder(results: Path, submission: str) -> Path:
    """Return the folder of a submission's feedback. Raise ValueError if the id is no safe name: intake gives none."""
    if not SAFE_NAME.fullmatch(submission):
        raise ValueError(f"{submission!r} cannot be the name of a folder")
    return results / SUBMISSIONS / submission


def make_feedback_folder(folder: Path) -> None:
    """Make a submission's folder, and those it lies in, closed to others."""
    private_folder(folder)
    private_folder(folder.parent)
    results_folder(folder.parent.parent)


def has_feedback(results: Path, submission: str) -> bool:
    """Return True if all of it is there, and none of it is empty."""
    files = (feedback_folder(results, submission) / name for name in (PAGE, TEXT, MARKS))
    return all(file.is_file() and file.stat().st_size for file in files)


def write_feedback(graded: Graded, results: Path) -> None:
    """Replace feedback.md, feedback.html and results.json of this submission."""
    folder = feedback_folder(results, graded.submission.id)
    make_feedback_folder(folder)
    remove_leftovers(folder)
    feedback = feedback_for(graded.result, Audience.STUDENT)
    _write(folder / TEXT, as_markdown(feedback))
    _write(folder / PAGE, as_html(feedback))
    write_results(graded.result, folder / MARKS)


def write_staff_page(result: Result, results: Path) -> None:
    """Write a page with hidden numbers and matrices, for a single file only: a class's folders are handed back."""
    page = as_html(feedback_for(result, Audience.STAFF))
    _write(feedback_folder(results, result.submission.id) / STAFF_PAGE, page)


def _write(path: Path, text: str) -> None:
    data = text.encode("utf-8")

    def check(written: bytes) -> None:
        if written != data:
            raise OSError(f"{path} did not come back from the disk as it was written")

    replace_file(path, data, check)


_OURS = re.compile(r"gradebook\.sqlite.*|submissions|.*\.csv|\..*\.part")
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def private_folder(folder: Path) -> None:
    """Make a folder that is closed to others, if it is not there; folders above it are made with the usual rights."""
    folder.mkdir(mode=stat.S_IRWXU, parents=True, exist_ok=True)
    close_to_others(folder)


def results_folder(folder: Path) -> None:
    """Make a folder for results that is closed to others; a folder that holds other things, too, keeps its rights."""
    if not folder.is_dir() or all(_OURS.fullmatch(path.name) for path in folder.iterdir()):
        private_folder(folder)


def private_file(file: Path) -> None:
    """Make an empty file that is closed to others, if it is not there."""
    os.close(os.open(file, os.O_WRONLY | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), stat.S_IRUSR | stat.S_IWUSR))
    close_to_others(file)


def close_tree(folder: Path) -> None:
    """Close a folder that an older version made, and everything in it. If the folder is closed, so is what it holds."""
    if folder.is_dir() and is_open_to_others(folder):
        for place, _, files in os.walk(folder):
            for path in (Path(place), *(Path(place, name) for name in files)):
                close_to_others(path)


def close_to_others(path: Path) -> None:
    """Take every right from group and others; a path that belongs to somebody else stays as it is."""
    if is_open_to_others(path):
        with suppress(PermissionError):
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~_OTHERS)


def is_open_to_others(path: Path) -> bool:
    """Return whether group or others have any right on a path itself; a link has no rights of its own."""
    return not path.is_symlink() and bool(path.stat().st_mode & _OTHERS)
