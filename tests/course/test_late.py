"""Lateness: exact, by instants, never below nothing, and always said in words."""

from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from softmark.course.deadlines import LatePolicy, in_words, lateness
from softmark.records.points import exact
from softmark.records.result import Lateness, decode, encode
from tests.support.results import graded

DUE = datetime(2026, 3, 2, 23, 59, tzinfo=timezone(timedelta(hours=1)))
POINTS = Fraction(20)


def policy(percent: float = 10, **changes: Any) -> LatePolicy:
    return LatePolicy(percent_per_day=exact(percent), **changes)


def handed_in(late: timedelta, rules: LatePolicy | None = None, points: Fraction = POINTS) -> Lateness | None:
    return lateness(rules or policy(), points, DUE + late, DUE)


def line(rules: LatePolicy | None = None, **late: float) -> str:
    found = handed_in(timedelta(**late), rules)
    assert found
    return found.line


class TestLine:
    def test_says_how_late_and_what_it_costs(self) -> None:
        """A student reads how late it was, how it was counted, and what it cost."""
        assert line(days=1, hours=3) == "Handed in 1 day 3 hours late: 2 days at 10 % each, −4 of 20 points."
        assert line(minutes=5) == "Handed in 5 minutes late: 1 day at 10 %, −2 of 20 points."
        assert line(seconds=1) == "Handed in less than a minute late: 1 day at 10 %, −2 of 20 points."

    def test_says_that_nothing_is_lost_within_grace(self) -> None:
        """Grace is mentioned when it is used, so that nobody wonders."""
        rules = policy(grace=timedelta(minutes=15))
        assert line(rules, minutes=15) == (
            "Handed in 15 minutes late, within the 15 minutes of grace: no points taken off."
        )

    def test_says_the_cap(self) -> None:
        """Where the cap holds, it explains why it is not more."""
        rules = policy(percent_at_most=Fraction(50))
        assert line(rules, days=7) == (
            "Handed in 7 days late: 7 days at 10 % each, but no more than 50 %, −10 of 20 points."
        )
        assert "no more than" not in line(rules, days=5)

    def test_says_that_it_is_closed(self) -> None:
        """After the last day that counts nothing is earned, and the line says so."""
        rules = policy(closed_after_days=5)
        assert line(rules, days=5) == "Handed in 5 days late: 5 days at 10 % each, −10 of 20 points."
        assert line(rules, days=5, seconds=1) == (
            "Handed in 5 days late; nothing counts that comes later than 5 days after the due date: −20 of 20 points."
        )
        assert line(policy(closed_after_days=0), hours=1) == (
            "Handed in 1 hour late; nothing counts that comes later than the due date: −20 of 20 points."
        )

    def test_of_a_policy_that_only_tells(self) -> None:
        """With 0 per cent a day lateness is told and costs nothing."""
        assert line(policy(0), days=2) == "Handed in 2 days late: no points taken off."

    @pytest.mark.parametrize(
        ("time", "words"),
        [
            (timedelta(seconds=59), "less than a minute"),
            (timedelta(minutes=1), "1 minute"),
            (timedelta(hours=1, minutes=30, seconds=59), "1 hour 30 minutes"),
            (timedelta(days=2, minutes=5), "2 days 5 minutes"),
            (timedelta(days=1, hours=3, minutes=59), "1 day 3 hours"),
        ],
    )
    def test_times_in_words(self, time: timedelta, words: str) -> None:
        """Two units say enough; what is left over is not rounded up."""
        assert in_words(time) == words


class TestWithoutTimes:
    def test_flag_alone_costs_nothing_and_is_told(self) -> None:
        """Canvas only says LATE: the student and the staff both read that nothing was taken off."""
        found = lateness(policy(), POINTS, None, DUE, late_flag=True)
        assert found
        assert found.line == "Marked late by the platform; no time given: no points taken off."
        assert found.staff_note == "Marked late by the platform: no time of submission is known."
        assert found.deduction == 0

    def test_nothing_known_is_told_to_staff(self) -> None:
        """A policy that could not be applied does not look like one that was."""
        found = lateness(policy(), POINTS, None, DUE)
        assert found == Lateness(
            staff_note="The late policy was not applied: no time of submission is known.", due_at=DUE.isoformat()
        )
        found = lateness(policy(), POINTS, DUE)
        assert found
        assert "no due date is known (`due` under [late] sets one)" in found.staff_note

    def test_in_time_by_the_platform(self) -> None:
        """A platform that says "not late" is enough to say nothing."""
        assert lateness(policy(), POINTS, None, DUE, late_flag=False) is None

    def test_without_a_policy(self) -> None:
        """A homework without [late] has no lateness."""
        assert lateness(None, POINTS, DUE + timedelta(days=3), DUE, late_flag=True) is None


class TestTimes:
    def test_in_time(self) -> None:
        """To the very second, in time is in time."""
        assert handed_in(timedelta(0)) is None
        assert handed_in(timedelta(days=-3)) is None

    def test_time_zones_are_instants(self) -> None:
        """The same instant in another zone is as late."""
        elsewhere = (DUE + timedelta(hours=1)).astimezone(ZoneInfo("Pacific/Auckland"))
        found = lateness(policy(), POINTS, elsewhere, DUE)
        assert found
        assert found.seconds == 3600

    def test_change_of_clocks(self) -> None:
        """Noon to noon over the spring change is 23 hours, and the autumn change makes 25, hence two days."""
        berlin = ZoneInfo("Europe/Berlin")
        spring = lateness(
            policy(), POINTS, datetime(2026, 3, 29, 12, tzinfo=berlin), datetime(2026, 3, 28, 12, tzinfo=berlin)
        )
        autumn = lateness(
            policy(), POINTS, datetime(2026, 10, 25, 12, tzinfo=berlin), datetime(2026, 10, 24, 12, tzinfo=berlin)
        )
        assert spring
        assert autumn
        assert (spring.seconds, spring.days) == (23 * 3600, 1)
        assert (autumn.seconds, autumn.days) == (25 * 3600, 2)

    def test_naive_time_is_read_in_the_zone_of_the_due_date(self) -> None:
        """A time without an offset is compared in the due date's zone, and staff are told."""
        found = lateness(policy(), POINTS, datetime(2026, 3, 3, 0, 59), DUE)
        assert found
        assert found.seconds == 3600
        assert found.staff_note == (
            "The time of submission names no time zone and was taken as 2026-03-03T00:59:00+01:00."
        )

    def test_naive_due_date_is_read_in_the_zone_of_the_submission(self) -> None:
        """The same the other way round; two naive times are compared as they are."""
        found = lateness(policy(), POINTS, DUE + timedelta(hours=1), DUE.replace(tzinfo=None))
        assert found
        assert found.seconds == 3600
        assert "The due date names no time zone" in found.staff_note
        naive = DUE.replace(tzinfo=None)
        found = lateness(policy(), POINTS, naive + timedelta(hours=1), naive)
        assert found
        assert (found.seconds, found.staff_note) == (3600, "")

    def test_naive_time_that_is_in_time_is_noted_too(self) -> None:
        """That a zone was assumed matters most where it made a submission timely."""
        found = lateness(policy(), POINTS, datetime(2026, 3, 2, 12), DUE)
        assert found
        assert found.line == ""
        assert found.deduction == 0
        assert "names no time zone" in found.staff_note

    def test_due_of_the_homework_goes_first(self) -> None:
        """homework.toml's due date is used, and a different one of the platform, an extension say, is passed on."""
        rules = policy(due=DUE)
        found = lateness(rules, POINTS, DUE + timedelta(hours=1), DUE + timedelta(days=1))
        assert found
        assert found.days == 1
        assert "The platform says due 2026-03-03T23:59:00+01:00" in found.staff_note
        same = lateness(rules, POINTS, DUE + timedelta(hours=1), DUE.astimezone(UTC))
        assert same
        assert same.staff_note == ""

    def test_all_that_was_assumed_is_told(self) -> None:
        """One sentence after the other; the due date that a platform gives without an offset is read in ours."""
        other = datetime(2026, 3, 3, 23, 59)
        found = lateness(policy(due=DUE), POINTS, datetime(2026, 3, 3, 0, 59), other, late_flag=False)
        assert found
        assert found.staff_note == (
            "The time of submission names no time zone and was taken as 2026-03-03T00:59:00+01:00. "
            "The platform says due 2026-03-03T23:59:00; homework.toml's 2026-03-02T23:59:00+01:00 was used. "
            "The platform marks it in time; by its times it is not."
        )
        naive = lateness(policy(), POINTS, DUE + timedelta(hours=1), DUE.replace(tzinfo=None))
        assert naive
        assert naive.staff_note == "The due date names no time zone and was taken as 2026-03-02T23:59:00+01:00."

    @pytest.mark.parametrize(
        ("flag", "hours", "note"),
        [
            (True, -1, "The platform marks it late; by its times it is not."),
            (False, 1, "The platform marks it in time; by its times it is not."),
            (True, 1, ""),
        ],
    )
    def test_platform_that_contradicts_its_times(self, flag: bool, hours: int, note: str) -> None:
        """Times decide; that the platform says otherwise is for staff to know."""
        found = lateness(policy(), POINTS, DUE + timedelta(hours=hours), DUE, late_flag=flag)
        assert found
        assert found.staff_note == note


DELAYS = st.timedeltas(timedelta(0), timedelta(days=60))
PERCENTS = st.fractions(0, 100, max_denominator=100)
POLICIES = st.builds(
    LatePolicy,
    percent_per_day=PERCENTS,
    percent_at_most=PERCENTS,
    grace=st.timedeltas(timedelta(0), timedelta(days=2)),
    closed_after_days=st.none() | st.integers(0, 40),
)
WORTH = st.integers(1, 10_000_000).map(lambda steps: Fraction(steps, 10_000))
OFFSETS = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


def cost(late: timedelta, rules: LatePolicy, points: Fraction = POINTS) -> float:
    found = handed_in(late, rules, points)
    return found.deduction if found else 0.0


class TestProperties:
    @given(POLICIES, DELAYS, DELAYS, WORTH)
    def test_later_never_costs_less(
        self, rules: LatePolicy, one: timedelta, other: timedelta, points: Fraction
    ) -> None:
        """No policy rewards waiting."""
        assert cost(min(one, other), rules, points) <= cost(max(one, other), rules, points)

    @given(POLICIES, DELAYS, WORTH)
    def test_cap_and_closing(self, rules: LatePolicy, late: timedelta, points: Fraction) -> None:
        """At most the cap is taken off, but everything after the last day that counts."""
        found = handed_in(late, rules, points)
        if found and found.excluded:
            assert exact(found.deduction) == points
        elif found:
            half_a_step = Fraction(1, 20_000)
            assert 0 <= exact(found.deduction) <= points * rules.percent_at_most / 100 + half_a_step

    @given(POLICIES, DELAYS)
    def test_grace_costs_nothing(self, rules: LatePolicy, late: timedelta) -> None:
        """Within the grace period nothing is ever taken off."""
        if late <= rules.grace:
            assert cost(late, rules) == 0

    @given(POLICIES, DELAYS, OFFSETS, OFFSETS)
    def test_zones_make_no_difference(self, rules: LatePolicy, late: timedelta, one: timezone, other: timezone) -> None:
        """Whatever offsets the two times are written with, the cost is the same."""
        found = lateness(rules, POINTS, (DUE + late).astimezone(one), DUE.astimezone(other))
        assert (found.deduction if found else 0) == cost(late, rules)

    @given(POLICIES, DELAYS)
    def test_is_never_silent(self, rules: LatePolicy, late: timedelta) -> None:
        """Whoever is late reads a line, whatever it cost."""
        found = handed_in(late, rules)
        assert (found is not None and found.line.startswith("Handed in ")) == (late > timedelta(0))

    @given(st.integers(0, 100_000), POLICIES, DELAYS)
    def test_mark_is_never_below_nothing(self, steps: int, rules: LatePolicy, late: timedelta) -> None:
        """A mark is the total less the deduction, and between nothing and the total."""
        found = handed_in(late, rules, Fraction(10))
        result = msgspec.structs.replace(graded(), total=steps / 10_000, lateness=found)
        assert 0 <= result.mark <= result.total
        if result.mark:
            assert exact(result.mark) == exact(result.total) - exact(found.deduction if found else 0.0)


class TestMark:
    def test_without_lateness(self) -> None:
        """In time, the mark is the total."""
        assert graded().mark == graded().total == 3

    def test_survives_json(self) -> None:
        """Lateness is part of the result as it is kept and sent."""
        late = msgspec.structs.replace(graded(), lateness=handed_in(timedelta(days=1), points=Fraction(10)))
        assert decode(encode(late)) == late
        assert decode(encode(late)).mark == 2
