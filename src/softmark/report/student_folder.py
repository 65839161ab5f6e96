"""What is given back to each student: `submissions/<id>/` with the feedback as a page and as text, and the marks."""

import re
from pathlib import Path

from softmark.feedback.feedback import Audience, feedback
from softmark.feedback.html import as_html
from softmark.feedback.markdown import as_markdown
from softmark.feedback.results_json import write_results
from softmark.feedback.safe_files import remove_leftovers, replace_file
from softmark.records.result import Graded, Result
from softmark.report.private import private_folder, results_folder

PAGE, TEXT, MARKS = "feedback.html", "feedback.md", "results.json"
SUBMISSIONS = "submissions"
STAFF_PAGE = "staff.html"
SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")


def feedback_folder(results: Path, submission: str) -> Path:
    """Where a submission's feedback is; ValueError if the id is no safe name, which intake never gives."""
    if not SAFE_NAME.fullmatch(submission):
        raise ValueError(f"{submission!r} cannot be the name of a folder")
    return results / SUBMISSIONS / submission


def make_feedback_folder(folder: Path) -> None:
    """Make a submission's folder, and those it lies in, closed to others."""
    private_folder(folder)
    private_folder(folder.parent)
    results_folder(folder.parent.parent)


def has_feedback(results: Path, submission: str) -> bool:
    """Whether all of it is there, and none of it empty."""
    files = (feedback_folder(results, submission) / name for name in (PAGE, TEXT, MARKS))
    return all(file.is_file() and file.stat().st_size for file in files)


def write_feedback(graded: Graded, results: Path) -> None:
    """Replaces feedback.md, feedback.html and results.json of this submission."""
    folder = feedback_folder(results, graded.id)
    make_feedback_folder(folder)
    remove_leftovers(folder)
    told = feedback(graded.result, Audience.STUDENT)
    _write(folder / TEXT, as_markdown(told))
    _write(folder / PAGE, as_html(told))
    write_results(graded.result, folder / MARKS)


def write_staff_page(result: Result, results: Path) -> None:
    """The page with hidden numbers and matrices; for one file only, because a class's folders are handed back."""
    page = as_html(feedback(result, Audience.STAFF))
    _write(feedback_folder(results, result.submission.id) / STAFF_PAGE, page)


def _write(path: Path, text: str) -> None:
    data = text.encode("utf-8")

    def check(written: bytes) -> None:
        if written != data:
            raise OSError(f"{path} did not come back from the disk as it was written")

    replace_file(path, data, check)
