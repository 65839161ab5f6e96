"""The decorators of hidden tests: those of gradescope-utils, with types and under Softmark's own name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast

from gradescope_utils.autograder_utils import decorators as theirs

Test = TypeVar("Test", bound=Callable[..., Any])


def number(value: str) -> Callable[[Test], Test]:
    """Give a test its number: "3.1" is the first test of part 3."""
    return cast(Callable[[Test], Test], theirs.number(value))


def weight(points: float) -> Callable[[Test], Test]:
    """Give a test its points. The cases of a parametrised test share them."""
    return cast(Callable[[Test], Test], theirs.weight(points))


def visibility(
    when: Literal["visible", "hidden", "after_due_date", "after_published"],
) -> Callable[[Test], Test]:
    """Say when students see the details of a failure on Gradescope; without this decorator always."""
    return cast(Callable[[Test], Test], theirs.visibility(when))


def hide_errors(message: str = "Test failed") -> Callable[[Test], Test]:
    """Show students this message in place of why the test failed."""
    return cast(Callable[[Test], Test], theirs.hide_errors(message))


def tags(*names: str) -> Callable[[Test], Test]:
    """Give a test tags, which stand in `results.json`."""
    return cast(Callable[[Test], Test], theirs.tags(*names))


def partial_credit(points: float) -> Callable[[Test], Test]:
    """Give a test its points, of which the test itself awards some: it takes `set_score` and calls `set_score(1.5)`."""
    return cast(Callable[[Test], Test], theirs.partial_credit(points))


def leaderboard(column: str, order: Literal["asc", "desc"] = "desc") -> Callable[[Test], Test]:
    """Let a test fill a column of the leaderboard: it takes `set_leaderboard_value` and calls it with the value."""
    return cast(Callable[[Test], Test], theirs.leaderboard(column, order))
