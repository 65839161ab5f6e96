"""Draws a wrong matrix: expected beside got beside difference, as SVG.

Colours run from blue over a middle grey to orange, which colour-blind eyes keep apart, and every cell has a
thin border, so that the picture reads on a white page and on a black one. A wrong number has a dot in its
corner as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import zip_longest
from xml.sax.saxutils import escape

from softmark.feedback.escape import one_line
from softmark.records.verdict import Picture

LARGEST = 32
PANEL = 190
GAP = 26
TOP = 22
BOTTOM = 24
LARGEST_CELL = 38.0
NUMBERS_FROM = 30.0

LOW, MIDDLE, HIGH = (33, 102, 172), (214, 214, 214), (217, 95, 2)
NO_NUMBER = "#8c8c8c"
_SHADES = 256
"""Steps from the middle colour to an end: more than can be told apart, few enough to mix each once."""
DARK_TEXT, LIGHT_TEXT = "#111111", "#ffffff"

ADAPTS = "<style>svg{color:#1f2328}@media(prefers-color-scheme:dark){svg{color:#e6edf3}}</style>"


def inline(picture: Picture) -> str:
    """Return an svg element in the text colour of its page; the empty text if the matrix is too large."""
    return _svg(picture, style="")


def standalone(picture: Picture) -> str:
    """Return an svg file that follows the reader's light or dark setting by itself."""
    return _svg(picture, style=ADAPTS)


def can_be_drawn(picture: Picture) -> bool:
    """Return True for a matrix of at most 32 rows and columns."""
    rows, columns = size(picture)
    return 0 < rows <= LARGEST and 0 < columns <= LARGEST


@lru_cache(maxsize=64)
def _svg(picture: Picture, style: str) -> str:
    """Return the picture. It is kept: in a class many make the same mistake, and drawing one takes 10 ms."""
    if not can_be_drawn(picture):
        return ""
    rows, columns = size(picture)
    cell = min(PANEL / columns, LARGEST_CELL)
    width, height = 3 * PANEL + 2 * GAP, TOP + BOTTOM + math.ceil(cell * rows)
    wrong, off = marked(picture), difference(picture)
    scale = largest((*picture.expected, *picture.got))
    right = [[False] * len(row) for row in wrong]
    panels = (
        _panel("expected", picture.expected, 0, cell, scale, right),
        _panel("got", picture.got, PANEL + GAP, cell, scale, wrong),
        _panel("difference", off, 2 * (PANEL + GAP), cell, largest(off), wrong),
    )
    count = sum(map(sum, wrong))
    caption = " ".join((f"A dot marks a wrong number ({count}).", one_line(picture.caption))).strip()
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" ',
            f'height="{height}" role="img" font-family="system-ui, sans-serif" font-size="12" ',
            'fill="currentColor">',
            style,
            f"<title>A {rows} by {columns} matrix: expected, got and difference. {escape(caption)}</title>",
            *(piece for panel in panels for piece in panel),
            f'<text x="0" y="{height - 6}" opacity="0.75" font-size="11">{escape(caption)}</text>',
            "</svg>",
        ]
    )


def _panel(name: str, matrix: Matrix, left: float, cell: float, scale: float, dots: list[list[bool]]) -> Iterable[str]:
    """Yield the squares of a matrix, then the numbers and dots on them. A class has many pictures, so this is fast."""
    yield f'<text x="{left}" y="13">{name}</text><g stroke="#808080" stroke-width="0.5">'
    lefts = [left + j * cell for j in range(max(map(len, matrix), default=0))]
    starts = [f'<rect x="{x:.1f}" y="' for x in lefts]
    extent = f'" width="{cell:.1f}" height="{cell:.1f}" fill="'
    on_top = []
    size_of_dot = min(max(cell / 10, 0.8), 2.5)
    for i, row in enumerate(matrix):
        top = TOP + i * cell
        middle = f"{top:.1f}{extent}"
        for j, number in enumerate(row):
            fill, written = _fill(number, scale), _written(number)
            yield f'{starts[j]}{middle}{fill}"><title>[{i}, {j}]: {written}</title></rect>'
            if cell >= NUMBERS_FROM:
                on_top.append(
                    f'<text x="{lefts[j] + cell / 2:.1f}" y="{top + cell / 2 + 4:.1f}" font-size="10" '
                    f'text-anchor="middle" fill="{_text_on(fill)}">{written}</text>'
                )
            if dots[i][j]:
                on_top.append(
                    f'<circle cx="{lefts[j] + 2 * size_of_dot:.1f}" cy="{top + 2 * size_of_dot:.1f}" '
                    f'r="{size_of_dot:.1f}" fill="{_text_on(fill)}"/>'
                )
    yield "</g>"
    yield from on_top


def _fill(number: float | None, scale: float) -> str:
    if number is None:
        return NO_NUMBER
    share = 0.0 if scale == 0 else max(-1.0, min(1.0, number / scale))
    return _mixed(round(share * _SHADES))


@cache
def _mixed(shade: int) -> str:
    """Return the colour between the middle (0) and one of the ends."""
    end = HIGH if shade > 0 else LOW
    mixed = (round(m + (e - m) * abs(shade) / _SHADES) for m, e in zip(MIDDLE, end, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


@cache
def _text_on(fill: str) -> str:
    red, green, blue = (int(fill[i : i + 2], 16) for i in (1, 3, 5))
    return DARK_TEXT if 0.299 * red + 0.587 * green + 0.114 * blue > 130 else LIGHT_TEXT


def _written(number: float | None) -> str:
    return "NaN/∞" if number is None else f"{number:.3g}"


WORTH_A_MARK = 1e-3
"""A number is marked if it is off by at least this share of the worst one: rounding beside a mistake is not."""
ROUNDING = 1e-5
"""The same, of the largest number that is expected, where the worst ones are NaN or infinite."""

Row = Sequence[float | None]
Matrix = Sequence[Row]


def difference(picture: Picture) -> list[list[float | None]]:
    """Return got - expected; None where only one of the two is a number, 0 where neither is."""
    return [
        [_minus(got, wanted) for got, wanted in zip_longest(row_got, row_expected)]
        for row_got, row_expected in zip_longest(picture.got, picture.expected, fillvalue=())
    ]


def marked(picture: Picture) -> list[list[bool]]:
    """Return True for each wrong number, in the shape of the larger of the two matrices."""
    off = difference(picture)
    broken = any(number is None for row in off for number in row)
    enough = max(WORTH_A_MARK * largest(off), ROUNDING * largest(picture.expected) if broken else 0.0)
    return [[number is None or abs(number) > enough for number in row] for row in off]


def largest(matrix: Matrix) -> float:
    """Return the largest absolute value in it; 0 if there is no number."""
    return max((abs(number) for row in matrix for number in row if number is not None), default=0.0)


def size(picture: Picture) -> tuple[int, int]:
    """Return the rows and columns of the larger of the two matrices."""
    rows = (*picture.expected, *picture.got)
    return max(len(picture.expected), len(picture.got)), max((len(row) for row in rows), default=0)


def _minus(got: float | None, expected: float | None) -> float | None:
    if got is None and expected is None:
        return 0.0
    if got is None or expected is None or not math.isfinite(got - expected):
        return None
    return got - expected
