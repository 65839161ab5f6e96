"""Cuts the matrix with the worst number out of an answer and out of the expected value, for a picture."""

from __future__ import annotations

import math

import torch

from softmark.records.verdict import Picture, PictureRows

LARGEST = 32
"""The most rows and columns of a matrix that is drawn."""


def picture_of(got: torch.Tensor, true: torch.Tensor, index: tuple[int, ...]) -> Picture | None:
    """Return the matrix with the worst number, if it is small enough for a picture."""
    if got.is_complex() or got.dim() == 0:
        return None
    leading = index[:-2]
    pair = [matrix[leading] if leading else matrix for matrix in (true, got)]
    pair = [matrix.unsqueeze(0) if matrix.dim() == 1 else matrix for matrix in pair]
    if max(pair[0].shape) > LARGEST:
        return None
    caption = f"at [{', '.join(map(str, leading))}, :, :]" if leading else ""
    return Picture(_rows(pair[0]), _rows(pair[1]), caption)


def _rows(matrix: torch.Tensor) -> PictureRows:
    """Return the numbers of a matrix. Those that are not finite become None, because JSON cannot hold them."""
    rows = matrix.double().tolist()
    if bool(torch.isfinite(matrix).all()):
        return tuple(map(tuple, rows))
    return tuple(tuple(x if math.isfinite(x) else None for x in row) for row in rows)
