"""What a run leaves in its folder: `submissions/<id>/` for every student, and the gradebook of the class."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from softmark.batch.graded import Graded
from softmark.grading.errors import UsageError
from softmark.report.atomic import replacement
from softmark.report.feedback import Audience, feedback
from softmark.report.gradebook import write_gradebook
from softmark.report.gradescope import write_results
from softmark.report.html import as_html
from softmark.report.markdown import as_markdown


def write_submission(folder: Path, graded: Graded) -> None:
    """`results.json` in Gradescope's format, and the feedback as a page and as Markdown."""
    place = folder / "submissions" / graded.id
    told = feedback(graded.result, Audience.STUDENT)
    with writable(folder):
        place.mkdir(parents=True, exist_ok=True)
        write_results(graded.result, place / "results.json")
        for name, text in (("feedback.md", as_markdown(told)), ("feedback.html", as_html(told))):
            with replacement(place / name) as file:
                file.write(text.encode("utf-8", "replace"))


def write_class(folder: Path, graded: Iterable[Graded]) -> None:
    """`grades.csv` and `tests.csv`."""
    with writable(folder):
        write_gradebook(graded, folder)


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """What goes wrong with the folder is told with the next step."""
    try:
        yield
    except OSError as error:
        why = f"results cannot be written to {folder}: {error.strerror}"
        raise UsageError(f"{why}; choose another folder with -o") from None
