"""Positional encodings: telling attention where a token stands.

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
    # BEGIN SOLUTION
    t = torch.arange(n, dtype=torch.float64)                     # (n,)
    i = torch.arange((d + 1) // 2, dtype=torch.float64)          # (⌈d/2⌉,)
    omega = 1 / 10000 ** (2 * i / d)                             # (⌈d/2⌉,)    one frequency per pair
    return t[:, None] * omega                                    # (n, ⌈d/2⌉)
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 2: sinusoidal
# ------------------------------------------------------------------------------------------------------------


def sinusoidal(n: int, d: int) -> torch.Tensor:
    """Compute the fixed table P, sines and cosines interleaved; its row t is p_t.

    P[t, 2i] = sin(t / 10000^(2i/d))    and    P[t, 2i+1] = cos(t / 10000^(2i/d))

    returns (n, d), float64 (float32 will do): an odd d drops the last cosine, so its last column is a sine
    """
    # BEGIN SOLUTION
    A = angles(n, d)                                             # (n, ⌈d/2⌉)
    P = torch.empty(n, d, dtype=A.dtype)                         # (n, d)
    P[:, 0::2] = torch.sin(A)                                    # (n, ⌈d/2⌉)  columns 0, 2, 4, …
    P[:, 1::2] = torch.cos(A[:, : d // 2])                       # (n, ⌊d/2⌋)  columns 1, 3, 5, …
    return P
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 3: add_positions
# ------------------------------------------------------------------------------------------------------------


def add_positions(X: torch.Tensor) -> torch.Tensor:
    """Add the sinusoidal positions: x'_t = x_t + p_t, the same for every sequence of a batch.

    X: (…, n, d), with none, one or two batch dimensions
    returns (…, n, d), with the dtype and on the device of X; X itself is not changed
    """
    # BEGIN SOLUTION
    n, d = X.shape[-2:]
    P = sinusoidal(n, d)                                         # (n, d)      float64, on the CPU
    P = P.to(dtype=X.dtype, device=X.device)                     # (n, d)      rounded once, and last
    return X + P                                                 # (…, n, d)   P is broadcast over the batch
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 4: shift_matrix
# ------------------------------------------------------------------------------------------------------------


def shift_matrix(k: int, d: int) -> torch.Tensor:
    """Return the matrix M_k with p_{t+k} = p_t M_k for every position t, where p_t is a row of the sinusoidal table.

    k: how far to shift: any integer, so 0 and negative ones too
    d: the width, even; an odd d raises ValueError, because a sine that lost its cosine cannot be shifted
    returns (d, d), float64 (float32 will do)
    """
    # BEGIN SOLUTION
    if d % 2 == 1:
        raise ValueError(f"the width is {d}, but only an even width pairs every sine with a cosine")
    omega = angles(2, d)[1]                                      # (d/2,)      position 1 has the angles ω_i
    c = torch.diag(torch.cos(k * omega))                         # (d/2, d/2)
    s = torch.diag(torch.sin(k * omega))                         # (d/2, d/2)
    M = torch.empty(d, d, dtype=omega.dtype)                     # (d, d)      2 × 2 blocks on the diagonal
    M[0::2, 0::2], M[1::2, 0::2] = c, s                          # sin(a+b) =   sin(a) cos(b) + cos(a) sin(b)
    M[0::2, 1::2], M[1::2, 1::2] = -s, c                         # cos(a+b) = - sin(a) sin(b) + cos(a) cos(b)
    return M
    # END SOLUTION


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
        # BEGIN SOLUTION
        self.table = nn.Parameter(0.02 * torch.randn(max_len, d))  # (max_len, d)
        # END SOLUTION

    def forward(self, X: torch.Tensor) -> torch.Tensor:
        """Add the first n rows of the table.

        X: (…, n, d), with none, one or two batch dimensions and n ≤ max_len; a longer X raises ValueError
        returns (…, n, d), with the dtype of X; X itself is not changed
        """
        # BEGIN SOLUTION
        n = X.shape[-2]
        max_len = self.table.shape[0]
        if n > max_len:
            raise ValueError(f"{n} tokens, but the table has rows for {max_len} positions only")
        P = self.table[:n].to(X.dtype)                           # (n, d)
        return X + P                                             # (…, n, d)
        # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 6: relative_bias
# ------------------------------------------------------------------------------------------------------------


def relative_bias(n: int, m: int, table: torch.Tensor) -> torch.Tensor:
    """Return a bias B for the scores of n queries and m keys: B[i, j] depends only on how far key j is from query i.

    The offset is key minus query, j - i, clipped to the range -L, …, L.

    table: (…, 2L+1), its last axis holds the biases of the offsets -L, …, 0, …, L in this order; … are heads
    returns (…, n, m), with the dtype and on the device of table
    """
    # BEGIN SOLUTION
    L = table.shape[-1] // 2
    i = torch.arange(n, device=table.device)                     # (n,)        queries
    j = torch.arange(m, device=table.device)                     # (m,)        keys
    offset = j - i[:, None]                                      # (n, m)      key minus query
    entry = offset.clamp(-L, L) + L                              # (n, m)      offset -L is entry 0
    return table[..., entry]                                     # (…, n, m)
    # END SOLUTION
