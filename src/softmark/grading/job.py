"""One submission to be graded, as data that can travel to an engine."""

import msgspec

from softmark.records.result import Result, Submission, not_gradable


class Job(msgspec.Struct, frozen=True):
    """One submission: `files` lie beside each other, and `main` is the one that is loaded.

    Of a notebook, `main` is only its name. Its cells are files, and `cells` lists them in order.
    """

    submission: Submission
    main: str
    files: dict[str, bytes]
    cells: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    staff_notes: tuple[str, ...] = ()
    refusal: str = ""
    """Why this submission cannot be graded, in one sentence for the student. No engine is asked to grade it then."""
    endless: tuple[str, ...] = ()
    """What did not return before, in the words of a Note (own_time.py). It is left out."""
    naming: bool = True
    """Look for the names of mistakes. There is nothing to name in a submission that knows nothing."""

    def result(self, pending: Result) -> Result:
        """Return the result of this submission before its first test; the final one if it is refused."""
        result = msgspec.structs.replace(
            pending, submission=self.submission, notes=self.notes, staff_notes=self.staff_notes
        )
        return not_gradable(result, self.refusal) if self.refusal else result
