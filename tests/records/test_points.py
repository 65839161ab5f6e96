"""The arithmetic of marks: nothing is lost and nothing is given away by rounding."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softmark.records.points import exact_weight, rounded, score_of_test, share_of_case, shown, total

weights = st.integers(0, 200_000).map(lambda steps: Fraction(steps, 10_000))
shares = st.fractions(0, 1, max_denominator=60)


@st.composite
def homeworks(draw: st.DrawFn) -> list[Fraction]:
    """The weights of a homework of 20 points, cut at random places with four decimals."""
    cuts = sorted(draw(st.lists(st.integers(0, 200_000), max_size=40)))
    return [Fraction(b - a, 10_000) for a, b in zip([0, *cuts], [*cuts, 200_000], strict=True)]


class TestScores:
    @given(homeworks(), st.integers(1, 13), st.integers(1, 7))
    def test_full_marks_are_exactly_twenty(self, tests: list[Fraction], cases: int, subtests: int) -> None:
        """Full marks sum to 20 exactly, however the points are cut into tests, cases and subtests."""
        full = [share_of_case([Fraction(1)] * subtests)] * cases
        scores = [score_of_test(weight, full, all_or_nothing=False) for weight in tests]
        assert total(scores) == 20.0
        assert scores == [rounded(weight) for weight in tests]
        assert abs(math.fsum(scores) - 20.0) < 1e-9

    @given(weights, st.lists(shares, min_size=1, max_size=20))
    def test_stay_between_zero_and_the_weight(self, weight: Fraction, cases: list[Fraction]) -> None:
        """No score is below 0 or above the test's maximum, and rounding moves it by half a step at most."""
        score = score_of_test(weight, cases, all_or_nothing=False)
        assert 0 <= score <= rounded(weight)
        assert abs(Fraction(score) - weight * sum(cases) / len(cases)) <= Fraction(1, 20_000) + Fraction(1, 10**9)

    @given(weights, st.lists(shares, min_size=1, max_size=8), st.data())
    def test_do_not_depend_on_the_order_of_cases(
        self, weight: Fraction, cases: list[Fraction], data: st.DataObject
    ) -> None:
        """Cases may finish in any order."""
        other = data.draw(st.permutations(cases))
        assert score_of_test(weight, cases, all_or_nothing=False) == score_of_test(weight, other, all_or_nothing=False)

    @given(weights, st.lists(shares, min_size=1, max_size=8))
    def test_all_or_nothing(self, weight: Fraction, cases: list[Fraction]) -> None:
        """An all-or-nothing test earns its weight if every case is full, and 0 otherwise."""
        score = score_of_test(weight, cases, all_or_nothing=True)
        assert score == (rounded(weight) if min(cases) == 1 else 0.0)

    @pytest.mark.parametrize("share", [Fraction(-1, 10), Fraction(11, 10)])
    def test_refuse_an_impossible_share(self, share: Fraction) -> None:
        """A case cannot earn less than nothing or more than itself."""
        with pytest.raises(ValueError, match="from 0 to 1"):
            score_of_test(Fraction(4), [share], all_or_nothing=False)

    def test_of_thirds(self) -> None:
        """Two of three cases of a 4-point test earn 2.6667, shown as 2.67."""
        score = score_of_test(Fraction(4), [Fraction(1), Fraction(1), Fraction(0)], all_or_nothing=False)
        assert score == 2.6667
        assert shown(score) == "2.67"


class TestShareOfCase:
    @given(st.lists(shares, min_size=1, max_size=12))
    def test_is_the_mean_of_its_subtests(self, subtests: list[Fraction]) -> None:
        """Every subtest is worth the same."""
        assert share_of_case(subtests) * len(subtests) == sum(subtests)


class TestExactWeight:
    @pytest.mark.parametrize(
        ("value", "expected"),
        [(4, Fraction(4)), (0.1, Fraction(1, 10)), (2.5, Fraction(5, 2)), (0.0001, Fraction(1, 10_000))],
    )
    def test_is_the_number_as_written(self, value: float, expected: Fraction) -> None:
        """0.1 is one tenth, not the nearest binary fraction."""
        assert exact_weight(value) == expected

    @pytest.mark.parametrize(
        ("value", "says"),
        [
            (float("nan"), "finite"),
            (float("inf"), "finite"),
            (-1, "negative"),
            ("4", "must be a number, not str"),
            (None, "must be a number"),
            (True, "must be a number, not bool"),
            (1 / 3, "at most four decimals"),
        ],
    )
    def test_refuses(self, value: object, says: str) -> None:
        """What is no sensible number of points is refused in words."""
        with pytest.raises(ValueError, match=says):
            exact_weight(value)


class TestShown:
    @pytest.mark.parametrize(
        ("mark", "text"), [(20.0, "20"), (0.0, "0"), (2.5, "2.5"), (1.3333, "1.33"), (100.0, "100")]
    )
    def test_has_no_needless_zeros(self, mark: float, text: str) -> None:
        """People read 20, not 20.0000."""
        assert shown(mark) == text
