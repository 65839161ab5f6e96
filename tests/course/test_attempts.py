"""The limit of attempts: computed from times of submission alone, the same whenever it is computed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from softmark.course.deadlines import Attempt, AttemptLimit, attempt

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
TWO_A_DAY = AttemptLimit(2, timedelta(hours=24))


def after(*hours: float, now: float = 0.0) -> Attempt:
    """An attempt at noon, after earlier ones so many hours before it."""
    return attempt(TWO_A_DAY, NOON + timedelta(hours=now), [NOON - timedelta(hours=ago) for ago in hours])


class TestAttempt:
    def test_says_which_one_it_is(self) -> None:
        assert after() == Attempt(True, "This is attempt 1 of 2 in 1 day.")
        assert after(3) == Attempt(True, "This is attempt 2 of 2 in 1 day.")

    def test_one_too_many_is_told_when_the_next_counts(self) -> None:
        """The oldest of those that count makes room 24 hours after it."""
        found = after(3, 5)
        assert not found.counts
        assert found.line == (
            "not graded: attempts are limited to 2 in 1 day; the next one counts from 2026-03-03 07:00 UTC on"
        )

    def test_what_lies_further_back_does_not_count(self) -> None:
        """Exactly the window ago is over."""
        assert after(24, 3).counts
        assert not after(23.999, 3).counts

    def test_those_that_were_too_many_use_up_nothing(self) -> None:
        """Whoever keeps trying is not locked out for longer."""
        assert not after(23, 22, 21, 20, 1).counts
        assert after(25, 24.5, 23, 22, 21, 1).counts

    def test_later_ones_do_not_count(self) -> None:
        """When an old submission is graded again, what came after it makes no difference."""
        assert after(-1, -2, 3) == after(3)

    def test_offsets_are_instants(self) -> None:
        """A time in another zone is the same moment; one without an offset is UTC."""
        elsewhere = NOON.astimezone(timezone(timedelta(hours=9)))
        assert attempt(TWO_A_DAY, elsewhere, [NOON.replace(tzinfo=None) - timedelta(hours=1)]) == after(1)

    @given(st.lists(st.floats(0.01, 100), max_size=8), st.randoms())
    def test_order_makes_no_difference(self, hours: list[float], random: Random) -> None:
        shuffled = hours.copy()
        random.shuffle(shuffled)
        assert after(*shuffled) == after(*hours)

    @given(st.lists(st.floats(0.01, 100), max_size=12))
    def test_never_more_than_allowed_in_any_window(self, hours: list[float]) -> None:
        """Of all attempts, those that counted are never more than the limit within 24 hours."""
        times = sorted({NOON - timedelta(hours=ago) for ago in hours})
        counted = [time for i, time in enumerate(times) if attempt(TWO_A_DAY, time, times[:i]).counts]
        assert all(later - first >= TWO_A_DAY.window for first, later in zip(counted, counted[2:], strict=False))
