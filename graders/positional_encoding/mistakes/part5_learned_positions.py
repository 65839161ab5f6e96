"""Wrong modules of learned positions."""

import torch
import torch.nn as nn

from reference import positional_encoding as ref
from softmark import mistake


def refuse_long(X, table):
    """The part of LearnedPositions that most wrong ones get right."""
    if X.shape[-2] > table.shape[0]:
        raise ValueError("the sequence is longer than the table")


@mistake(
    ref.LearnedPositions.forward,
    id="P23",
    says="Every token gets the same row of the table: you look it up by the length, not by the position.",
    hint="Token t gets row t, so you need n rows and not one.",
)
def row_of_the_length(self, X):
    refuse_long(X, self.table)
    return X + self.table[X.shape[-2] - 1]


@mistake(
    ref.LearnedPositions.forward,
    id="P17",
    says="You add the last n rows of the table; token 0 gets row 0.",
    hint="With n = max_len there is no difference, so look at a shorter sequence.",
)
def last_rows_of_the_table(self, X):
    refuse_long(X, self.table)
    return X + self.table[self.table.shape[0] - X.shape[-2] :]


@mistake(
    ref.LearnedPositions.forward,
    says="You start with row 1 of the table; token 0 gets row 0.",
    hint="Positions count from 0.",
)
def learned_from_one(self, X):
    refuse_long(X, self.table)
    return X + self.table.roll(-1, dims=0)[: X.shape[-2]]


@mistake(
    ref.LearnedPositions.forward,
    id="P15",
    says="You count positions along the first axis, so tokens of one sequence share a row.",
    hint="Tokens are the last axis but one, whatever comes before it.",
)
def learned_along_the_batch(self, X):
    refuse_long(X, self.table)
    rows = torch.arange(X.shape[0]) % self.table.shape[0]
    return X + self.table[rows].reshape(X.shape[0], *[1] * (X.dim() - 2), X.shape[-1])


@mistake(
    ref.LearnedPositions.forward,
    id="P14",
    says="You multiply X by the table; it is added.",
    hint="With X = 0 the result should be the first rows of the table.",
)
def learned_multiplied(self, X):
    refuse_long(X, self.table)
    return X * self.table[: X.shape[-2]]


@mistake(
    ref.LearnedPositions.forward,
    says="You return the rows of the table alone: X is missing.",
    hint="x'_t = x_t + p_t has two terms.",
)
def learned_alone(self, X):
    refuse_long(X, self.table)
    return self.table[: X.shape[-2]].expand(X.shape).clone()


@mistake(
    ref.LearnedPositions.forward,
    says="The table is scaled by √d before it is added; add its rows as they are.",
    hint="Subtract X from your result: the first rows of the table should be left.",
)
def learned_scaled(self, X):
    refuse_long(X, self.table)
    return X + X.shape[-1] ** 0.5 * self.table[: X.shape[-2]]


@mistake(
    ref.LearnedPositions.forward,
    says="Too long a sequence reuses the last row of the table; it must raise ValueError.",
    hint="Compare n with the number of rows before you look anything up.",
)
def last_row_reused(self, X):
    rows = torch.arange(X.shape[-2]).clamp(max=self.table.shape[0] - 1)
    return X + self.table[rows]


@mistake(
    ref.LearnedPositions.forward,
    says="Too long a sequence starts again at row 0 of the table; it must raise ValueError.",
    hint="Compare n with the number of rows before you look anything up.",
)
def starts_again(self, X):
    rows = torch.arange(X.shape[-2]) % self.table.shape[0]
    return X + self.table[rows]


@mistake(
    ref.LearnedPositions.forward,
    says="You leave it to PyTorch to stumble over too long a sequence; it must raise ValueError.",
    hint="A slice beyond the end is silently shorter; compare n with the number of rows yourself.",
)
def length_unchecked(self, X):
    return X + self.table[: X.shape[-2]]


@mistake(
    ref.LearnedPositions.forward,
    says="You refuse a sequence that is as long as the table, but it fits.",
    hint="A table of 9 rows has positions for 9 tokens; is it < or ≤?",
)
def full_length_refused(self, X):
    if X.shape[-2] >= self.table.shape[0]:
        raise ValueError("the sequence is longer than the table")
    return X + self.table[: X.shape[-2]]


@mistake(
    ref.LearnedPositions.forward,
    says="The table learns nothing: its gradient is cut off.",
    hint="Look for detach, .data or no_grad around the table.",
)
def learned_detached(self, X):
    refuse_long(X, self.table)
    return X + self.table.detach()[: X.shape[-2]]


@mistake(
    ref.LearnedPositions,
    id="P18",
    says="Your table is a buffer and not a parameter, so no optimiser will ever change it.",
    hint="Wrap the table in the class that marks a tensor as trainable.",
)
class TableAsBuffer(nn.Module):
    def __init__(self, max_len, d):
        super().__init__()
        self.register_buffer("table", 0.02 * torch.randn(max_len, d))

    def forward(self, X):
        refuse_long(X, self.table)
        return X + self.table[: X.shape[-2]].to(X.dtype)
