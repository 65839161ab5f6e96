"""The drawing of a wrong matrix."""

import xml.etree.ElementTree as ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from softmark.feedback.picture import can_be_drawn, difference, inline, marked, standalone
from softmark.records.verdict import Picture

SVG = "{http://www.w3.org/2000/svg}"
numbers = st.none() | st.floats(allow_nan=False, allow_infinity=False)
rows = st.lists(st.lists(numbers, max_size=34).map(tuple), max_size=34).map(tuple)


def square(size: int, value: float | None = 1.0) -> tuple[tuple[float | None, ...], ...]:
    return ((value,) * size,) * size


def count(svg: str, tag: str) -> int:
    return sum(1 for _ in ElementTree.fromstring(svg).iter(SVG + tag))


class TestDrawing:
    def test_shows_three_panels(self) -> None:
        """Expected, got and difference, every number a cell."""
        svg = inline(Picture(expected=square(3), got=square(3, 2.0)))
        assert count(svg, "rect") == 27
        texts = [element.text for element in ElementTree.fromstring(svg).iter(SVG + "text")]
        assert [name for name in ("expected", "got", "difference") if name in texts] == [
            "expected",
            "got",
            "difference",
        ]

    def test_marks_what_is_wrong(self) -> None:
        """A wrong number has a dot in both panels that show it, a right one none; colour is not needed."""
        picture = Picture(expected=((1.0, 2.0),), got=((1.0, 2.5),))
        assert count(inline(picture), "circle") == 2
        assert "A dot marks a wrong number (1)." in inline(picture)

    def test_writes_the_numbers_of_a_small_matrix(self) -> None:
        """Up to six columns the numbers stand in the cells; beyond, they are in the tips alone."""
        assert ">0.123<" in inline(Picture(expected=square(6, 0.1234), got=square(6)))
        large = inline(Picture(expected=square(16, 0.1234), got=square(16)))
        assert ">0.123<" not in large
        assert ": 0.123</title>" in large

    def test_adapts_to_light_and_dark(self) -> None:
        """Words take the colour of the page; a file of its own follows the reader's setting."""
        picture = Picture(expected=square(2), got=square(2))
        assert 'fill="currentColor"' in inline(picture)
        assert "<style>" not in inline(picture)
        assert "prefers-color-scheme:dark" in standalone(picture)

    @pytest.mark.parametrize(
        ("size", "drawn"), [(0, False), (1, True), (32, True), (33, False)], ids=lambda value: str(value)
    )
    def test_up_to_32_by_32(self, size: int, drawn: bool) -> None:
        """A larger matrix is not drawn: nobody could read it."""
        picture = Picture(expected=square(size), got=square(size))
        assert can_be_drawn(picture) is drawn
        assert bool(inline(picture)) is drawn

    def test_escapes_its_caption(self) -> None:
        """A caption is text, not an element."""
        svg = inline(Picture(expected=square(1), got=square(1), caption="</title><script>x</script>"))
        assert "<script" not in svg
        ElementTree.fromstring(svg)

    @given(rows, rows)
    def test_is_always_valid_xml(self, expected: tuple[tuple[float, ...]], got: tuple[tuple[float, ...]]) -> None:
        """Ragged, empty, huge and missing numbers make a picture or none, but never a broken one."""
        picture = Picture(expected=expected, got=got)
        for svg in (inline(picture), standalone(picture)):
            if svg:
                ElementTree.fromstring(svg)
                assert "nan" not in svg
                assert "inf" not in svg


class TestDifference:
    def test_is_got_minus_expected(self) -> None:
        """Where one of the two is no number, neither is the difference; where both are none, nothing differs."""
        picture = Picture(expected=((1.0, None, None),), got=((3.0, 1.0, None),))
        assert difference(picture) == [[2.0, None, 0.0]]
        assert marked(picture) == [[True, True, False]]

    def test_leaves_rounding_unmarked(self) -> None:
        """Beside a real mistake, the last digits of a right number are no second one."""
        picture = Picture(expected=((1.0, 2.0),), got=((1.0 + 1e-15, 3.0),))
        assert marked(picture) == [[False, True]]

    def test_leaves_rounding_unmarked_beside_what_is_no_number(self) -> None:
        """Where the worst answers are NaN, a right number with other last digits is no mistake either."""
        picture = Picture(expected=((1.0, 2.0, 3.0),), got=((1.0 + 1e-15, None, 3.1),))
        assert marked(picture) == [[False, True, True]]

    @pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
    def test_marks_by_the_worst_error(self, size: float) -> None:
        """A small error is marked, unless it is rounding beside the worst one, however large the numbers are."""
        got = tuple(1e3 * size + size * error for error in (0.0, 1e-4, 2e-3, 1.0))
        assert marked(Picture(expected=((1e3 * size,) * 4,), got=(got,))) == [[False, False, True, True]]

    def test_of_a_missing_row(self) -> None:
        """A row that did not come at all is wrong in each of its numbers."""
        assert marked(Picture(expected=((1.0, 2.0),), got=())) == [[True, True]]
