"""One submission to be graded, as data that can travel to an engine."""

import msgspec

from softmark.records.result import Submission


class Job(msgspec.Struct, frozen=True, tag=True):
    """One submission: `files` lie beside each other, and `main` is the one that is loaded.

    Of a notebook, `main` is only its name. Its cells are files, and `cells` lists them in order.
    """

    submission: Submission
    main: str
    files: dict[str, bytes]
    cells: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    staff_notes: tuple[str, ...] = ()
    endless: tuple[str, ...] = ()
    """What did not return before, in the words of a Note (own_time.py). It is left out."""
    naming: bool = True
    """Look for the names of mistakes. There is nothing to name in a submission that knows nothing."""
