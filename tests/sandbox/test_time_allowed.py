"""How long a submission may take: computing time is the measure, and time on the clock the guard."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from softmark.records.limits import Allowed, Limits, Spent, of_the_whole

LIMITS_PAGE = Path(__file__).parents[2] / "docs/limits.md"


class TestAllowed:
    """The limits of one request."""

    @pytest.mark.parametrize("busy", [1.0, 2.0, 4.0])
    @pytest.mark.parametrize("seconds", [0.01, 1.0, 5.0, 9.9])
    def test_busy_machine_fails_nobody(self, seconds: float, busy: float) -> None:
        """Code within its computing time is within its limits on a machine that is four times as busy."""
        assert not Allowed.of(10).exceeded(seconds, busy * seconds)
        assert of_the_whole(seconds, busy * seconds) <= seconds

    @pytest.mark.parametrize(("cpu", "wall"), [(10.1, 10.1), (0.0, 12.1), (1.0, 16.1), (9.9, 51.7)])
    def test_ends(self, cpu: float, wall: float) -> None:
        """Code that computes too long, or waits too long for what it computes, is out of time."""
        assert Allowed.of(10).exceeded(cpu, wall)

    def test_end_of_everything(self) -> None:
        """The end of the time for a whole run is an end without excuse."""
        assert Allowed.of(10, wall_seconds=3).exceeded(2.9, 3.1)


class TestSpent:
    """What the requests of one test leave for the next."""

    def test_is_missing_for_the_next(self) -> None:
        """Both clocks go on from where they were."""
        spent = Spent()
        spent.add(cpu=1.0, wall=7.0)
        left = spent.left_of(10, math.inf, math.inf)
        assert (left.cpu_seconds, left.clock_seconds, left.wall_before) == (9.0, 9.0, 7.0)

    def test_the_whole_may_leave_less(self) -> None:
        """A test has no more than is left for the submission, and never less than nothing."""
        assert Spent().left_of(10, 1.5, math.inf).clock_seconds == 1.5
        assert Spent().left_of(10, -1.0, math.inf).cpu_seconds == 0.0

    def test_who_may_not_wait_may_compute(self) -> None:
        """A program that has waited too often has all its computing time, also on a busy machine."""
        left = Spent().left_of(10, math.inf, math.inf, may_wait=False)
        assert left.exceeded(0.0, 2.1)
        assert not left.exceeded(9.0, 36.0)


class TestWhole:
    """The limit of a whole submission."""

    def test_is_that_of_all_its_tests(self) -> None:
        """Its import and every test once."""
        assert Limits(cpu_seconds=10, import_seconds=20).of_a_submission(30) == 22 + 30 * 12

    @pytest.mark.parametrize("name", ["cpu_seconds", "import_seconds", "test_seconds"])
    def test_is_made_of_what_the_documentation_says(self, name: str) -> None:
        """The page on how it works tells the limits that hold where a homework sets none."""
        assert f"`{name}`: {getattr(Limits(), name):g} s" in LIMITS_PAGE.read_text()

    def test_counts_waiting(self) -> None:
        """A program that sleeps uses it up second by second."""
        assert of_the_whole(0.0, 5.0) == 5.0
