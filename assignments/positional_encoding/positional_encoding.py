"""Positional encodings: telling attention where a token stands.

This file is handed in. Replace every `raise NotImplementedError(...)` by your own code and keep the names and the
arguments as they are; README.md says what each part asks for. To check your work, type in this folder:

    softmark check

Attention looks at its tokens as a set: shuffle the rows of X and the outputs are shuffled the same way,
nothing else changes. So the order has to be written into the tokens. The lectures add a vector to each one,

    x'_t = x_t + p_t,

and name the choices: p_t may be fixed (sines and cosines) or learned, and a position may be absolute or
relative to the token that asks. Here is one of each.

Letters: n tokens, d features; t = 0, 1, 2, … a position; i = 0, 1, 2, … a pair of columns, one sine and one
cosine; ω_i = 1 / 10000^(2i/d) the frequency of that pair.
"""

import torch
import torch.nn as nn

# ------------------------------------------------------------------------------------------------------------
# Part 1: angles
# ------------------------------------------------------------------------------------------------------------


def angles(n: int, d: int) -> torch.Tensor:
    """Compute the angle t / 10000^(2i/d) of every position t (rows) and every pair of columns i (columns).

    n: number of positions, t = 0, …, n-1
    d: the width of a token, even or odd
    returns (n, ⌈d/2⌉), float64 (float32 will do): an odd d has one column more than d // 2; its exponent is 2i/d too
    """
    raise NotImplementedError("part 1: angles")


# ------------------------------------------------------------------------------------------------------------
# Part 2: sinusoidal
# ------------------------------------------------------------------------------------------------------------


def sinusoidal(n: int, d: int) -> torch.Tensor:
    """Compute the fixed table P, sines and cosines interleaved; its row t is p_t.

    P[t, 2i] = sin(t / 10000^(2i/d))    and    P[t, 2i+1] = cos(t / 10000^(2i/d))

    returns (n, d), float64 (float32 will do): an odd d drops the last cosine, so its last column is a sine
    """
    raise NotImplementedError("part 2: sinusoidal")


# ------------------------------------------------------------------------------------------------------------
# Part 3: add_positions
# ------------------------------------------------------------------------------------------------------------


def add_positions(X: torch.Tensor) -> torch.Tensor:
    """Add the sinusoidal positions: x'_t = x_t + p_t, the same for every sequence of a batch.

    X: (…, n, d), with none, one or two batch dimensions
    returns (…, n, d), with the dtype and on the device of X; X itself is not changed
    """
    raise NotImplementedError("part 3: add_positions")


# ------------------------------------------------------------------------------------------------------------
# Part 4: shift_matrix
# ------------------------------------------------------------------------------------------------------------


def shift_matrix(k: int, d: int) -> torch.Tensor:
    """Return the matrix M_k with p_{t+k} = p_t M_k for every position t, where p_t is a row of the sinusoidal table.

    k: how far to shift: any integer, so 0 and negative ones too
    d: the width, even; an odd d raises ValueError, because a sine that lost its cosine cannot be shifted
    returns (d, d), float64 (float32 will do)
    """
    raise NotImplementedError("part 4: shift_matrix")


# ------------------------------------------------------------------------------------------------------------
# Part 5: LearnedPositions
# ------------------------------------------------------------------------------------------------------------


class LearnedPositions(nn.Module):
    """x'_t = x_t + p_t with a learned p_t: row t of a table that is a parameter.

    Its only parameter is `table`, (max_len, d). What the table holds before training is up to you.
    """

    def __init__(self, max_len: int, d: int) -> None:
        """Make the parameter `self.table` of shape (max_len, d)."""
        super().__init__()
        raise NotImplementedError("part 5: LearnedPositions.__init__")

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Add the first n rows of the table.

        X: (…, n, d), with none, one or two batch dimensions and n ≤ max_len; a longer X raises ValueError
        returns (…, n, d), with the dtype of X; X itself is not changed
        """
        raise NotImplementedError("part 5: LearnedPositions.forward")


# ------------------------------------------------------------------------------------------------------------
# Part 6: relative_bias
# ------------------------------------------------------------------------------------------------------------


def relative_bias(n: int, m: int, table: torch.Tensor) -> torch.Tensor:
    """Return a bias B for the scores of n queries and m keys: B[i, j] depends only on how far key j is from query i.

    The offset is key minus query, j - i, clipped to the range -L, …, L.

    table: (…, 2L+1), its last axis holds the biases of the offsets -L, …, 0, …, L in this order; … are heads
    returns (…, n, m), with the dtype and on the device of table
    """
    raise NotImplementedError("part 6: relative_bias")
