"""Named mistakes: splitting the width into heads. Each is one wrong idea, with the words a student gets for it."""

import torch

from reference import multi_head as ref
from softmark import mistake


@mistake(
    ref.split_heads,
    id="H01",
    says="You reshape straight to (…, n_heads, T, d_head), so your heads hold pieces of different tokens.",
    hint="Cut every row into (n_heads, d_head) first, then move the head axis in front of the tokens.",
)
def split_by_view(X, n_heads):
    *batch, T, D = X.shape
    if D % n_heads != 0:
        raise ValueError("the width does not divide")
    return X.reshape(*batch, n_heads, T, D // n_heads)


@mistake(
    ref.split_heads,
    id="H05",
    says="Your heads take every n_heads-th feature: you cut a row as (d_head, n_heads).",
    hint="A head is a block of neighbouring features, so the head index is the slower one of the two.",
)
def split_interleaved(X, n_heads):
    D = X.shape[-1]
    if D % n_heads != 0:
        raise ValueError("the width does not divide")
    return X.unflatten(-1, (D // n_heads, n_heads)).movedim(-1, -3)


@mistake(
    ref.split_heads,
    id="H14",
    says="You round d_head down and drop the features that are left over when the width does not divide.",
    hint="Look at the remainder before you divide, and refuse a width that leaves one.",
)
def split_drops_the_rest(X, n_heads):
    d_head = X.shape[-1] // n_heads
    return X[..., : n_heads * d_head].unflatten(-1, (n_heads, d_head)).transpose(-3, -2)


@mistake(
    ref.split_heads,
    says="You let reshape fail on a width that does not divide: that is a RuntimeError, no ValueError.",
    hint="Check the remainder yourself, before you reshape, and raise the exception that the handout names.",
)
def split_lets_reshape_fail(X, n_heads):
    return X.reshape(*X.shape[:-1], n_heads, -1).transpose(-3, -2)


@mistake(
    ref.split_heads,
    says="You check the width with assert, which raises an AssertionError and is switched off by python -O.",
    hint="An argument that cannot be used is reported with the exception that the handout names.",
)
def split_asserts(X, n_heads):
    assert X.shape[-1] % n_heads == 0, "the width does not divide"
    return X.unflatten(-1, (n_heads, X.shape[-1] // n_heads)).transpose(-3, -2)


@mistake(
    ref.split_heads,
    id="H23",
    says="Your head axis stands behind the tokens, as (…, T, n_heads, d_head).",
    hint="One step is missing after the cut: the head axis has to change places with the token axis.",
)
def split_keeps_tokens_first(X, n_heads):
    D = X.shape[-1]
    if D % n_heads != 0:
        raise ValueError("the width does not divide")
    return X.unflatten(-1, (n_heads, D // n_heads))


@mistake(
    ref.split_heads,
    says="Your head axis is the very first one, in front of the batch.",
    hint="The batch dimensions stay in front; the head axis stands directly before the tokens.",
)
def split_heads_before_batch(X, n_heads):
    D = X.shape[-1]
    if D % n_heads != 0:
        raise ValueError("the width does not divide")
    return X.unflatten(-1, (n_heads, D // n_heads)).movedim(-2, 0)


@mistake(
    ref.split_heads,
    id="H22",
    says="You take n_heads as the width of a head, so you get D / n_heads heads of that width.",
    hint="n_heads counts the heads; their width follows from it.",
)
def split_takes_count_for_width(X, n_heads):
    if X.shape[-1] % n_heads != 0:
        raise ValueError("the width does not divide")
    return X.unflatten(-1, (X.shape[-1] // n_heads, n_heads)).transpose(-3, -2)


@mistake(
    ref.split_heads,
    says="Each of your heads is transposed: (d_head, T) where (T, d_head) is asked.",
    hint="Tokens are rows inside a head too; only the head axis moves.",
)
def split_transposes_heads(X, n_heads):
    D = X.shape[-1]
    if D % n_heads != 0:
        raise ValueError("the width does not divide")
    return X.unflatten(-1, (n_heads, D // n_heads)).movedim(-3, -1)


@mistake(
    ref.split_heads,
    id="H15",
    says="Every one of your heads gets the full width instead of its own block of it.",
    hint="The heads share the width: together they have D features, not each.",
)
def split_repeats_full_width(X, n_heads):
    if X.shape[-1] % n_heads != 0:
        raise ValueError("the width does not divide")
    return torch.stack([X] * n_heads, dim=-3)


@mistake(
    ref.split_heads,
    says="You count axes from the front, which is right for exactly one batch dimension.",
    hint="Name the axes from the end, then it does not matter how many batch dimensions there are.",
)
def split_counts_axes_from_front(X, n_heads):
    D = X.shape[-1]
    if D % n_heads != 0:
        raise ValueError("the width does not divide")
    return X.unflatten(-1, (n_heads, D // n_heads)).transpose(1, 2)


@mistake(
    ref.split_heads,
    id="H26",
    says="You press all batch dimensions into one, so the result always has four axes.",
    hint="What stands before the tokens in the input must stand before the heads in the result.",
)
def split_flattens_batch(X, n_heads):
    T, D = X.shape[-2:]
    if D % n_heads != 0:
        raise ValueError("the width does not divide")
    return X.reshape(-1, T, n_heads, D // n_heads).transpose(1, 2)


@mistake(
    ref.split_heads,
    id="H13",
    says="You cut the sequence into n_heads stretches of tokens instead of cutting the features.",
    hint="Every head sees all tokens; what is shared out is the last axis.",
)
def split_cuts_tokens(X, n_heads):
    *batch, T, D = X.shape
    if D % n_heads != 0:
        raise ValueError("the width does not divide")
    return X.reshape(*batch, n_heads, T // n_heads, D)


@mistake(
    ref.split_heads,
    says="You copy into a new float32 tensor, so the dtype of the input is lost.",
    hint="Rearranging needs no new tensor; if you make one, make it with the dtype and device of the input.",
)
def split_into_float32(X, n_heads):
    *batch, T, D = X.shape
    if D % n_heads != 0:
        raise ValueError("the width does not divide")
    H = torch.zeros(*batch, n_heads, T, D // n_heads)
    H[...] = X.unflatten(-1, (n_heads, D // n_heads)).transpose(-3, -2)
    return H


@mistake(
    ref.split_heads,
    says="You cut the result off from the input, so no gradient flows back through the heads.",
    hint="Stay with operations on the tensor; detach, .data, numpy and torch.tensor lose the gradient.",
)
def split_detaches(X, n_heads):
    D = X.shape[-1]
    if D % n_heads != 0:
        raise ValueError("the width does not divide")
    return X.detach().unflatten(-1, (n_heads, D // n_heads)).transpose(-3, -2)
