"""Defines how a student's function did in the tests of its own part. Carried error rests on it.

An earlier function whose own tests all pass has no error to carry, whatever it answers when a later part is judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from softmark.verdict.expected import Expected


@dataclass(frozen=True, slots=True)
class Standing:
    """`errs`: a test of the function's own part failed, or passed only given a part before it.

    `met`: what the function answered right there, a truth for each.
    """

    errs: bool
    met: tuple[Expected, ...] = ()


UNKNOWN = Standing(errs=True)
"""Outside of grading no tests have been judged, and any function may err."""
