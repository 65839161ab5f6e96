"""Lays out expected and got as matrices of numbers in text, or the part of them around the first wrong number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from softmark.feedback.picture import Matrix, marked, size
from softmark.records.verdict import Picture


@dataclass(frozen=True)
class Matrices:
    """Two matrices, or a part of them, with a mark for each wrong number of the second."""

    expected: Matrix
    got: Matrix
    wrong: Sequence[Sequence[bool]]
    rows: int
    columns: int
    place: str = ""
    """The rows and columns that a part of the whole has; empty for the whole."""

    @classmethod
    def of(cls, picture: Picture) -> Matrices:
        """Return the whole matrices of a picture."""
        return cls(picture.expected, picture.got, marked(picture), *size(picture))

    @property
    def tight(self) -> int:
        """The least width of a column: its longest number, a space and a place for the mark."""
        numbers = [number for row in (*self.expected, *self.got) for number in row]
        return 2 + max(map(len, map(in_digits, numbers)), default=0)

    def window(self, rows: int, columns: int) -> Matrices:
        """Return so many rows and columns around the first wrong number."""
        places = [(i, j) for i, row in enumerate(self.wrong) for j, off in enumerate(row) if off]
        i, j = min(places, default=(0, 0))
        top, left = _start(i, rows, self.rows), _start(j, columns, self.columns)
        bottom, right = min(top + rows, self.rows), min(left + columns, self.columns)

        def part(matrix: Matrix) -> Matrix:
            return tuple(tuple(row[left:right]) for row in matrix[top:bottom])

        wrong = [list(row[left:right]) for row in self.wrong[top:bottom]]
        place = (
            f"rows {top} to {bottom - 1} and columns {left} to {right - 1} of a {self.rows} by {self.columns} matrix"
        )
        return Matrices(part(self.expected), part(self.got), wrong, bottom - top, right - left, place)


def in_digits(number: float | None) -> str:
    """Return a number as it is written in a matrix."""
    return "not finite" if number is None else f"{number:.4g}"


def _start(wrong: int, shown: int, whole: int) -> int:
    """Return the first of `shown` places among which a wrong one is, with one right one before it."""
    return max(0, min(wrong - 1, whole - shown))
