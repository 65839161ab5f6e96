"""Wrong ways to add the positions to the tokens."""

import torch

from reference import positional_encoding as ref
from softmark import mistake


@mistake(
    ref.add_positions,
    id="P13",
    says="You concatenated the positions to X; they are added, so the width stays d.",
    hint="x'_t = x_t + p_t has as many features as x_t.",
)
def concatenated(X):
    P = ref.sinusoidal(*X.shape[-2:]).to(X)
    return torch.cat([X, P.expand_as(X)], dim=-1)


@mistake(
    ref.add_positions,
    id="P14",
    says="You multiplied X by the positions; they are added.",
    hint="With X = 0 the result should be the table itself.",
)
def multiplied(X):
    return X * ref.sinusoidal(*X.shape[-2:]).to(X)


@mistake(
    ref.add_positions,
    id="P15",
    says="You counted positions along the first axis, so all tokens of a sequence share one position.",
    hint="Tokens are the last axis but one, whatever comes before it.",
)
def along_the_batch(X):
    P = ref.sinusoidal(X.shape[0], X.shape[-1]).to(X)  # (first axis, d)
    return X + P.reshape(X.shape[0], *[1] * (X.dim() - 2), X.shape[-1])


@mistake(
    ref.add_positions,
    says="Your positions run on from one sequence of the batch to the next; each sequence starts at 0.",
    hint="The table has n rows, however many sequences there are.",
)
def across_the_batch(X):
    d = X.shape[-1]
    return X + ref.sinusoidal(X.numel() // d, d).to(X).reshape(X.shape)


@mistake(
    ref.add_positions,
    says="You added positions to the first sequence of the batch only.",
    hint="The same table is added to every sequence.",
)
def first_sequence_only(X):
    Y = X.clone()
    first = (0,) * (X.dim() - 2)
    Y[first] = X[first] + ref.sinusoidal(*X.shape[-2:]).to(X)
    return Y


@mistake(
    ref.add_positions,
    says="You exchanged n and d: the features were numbered as if they were tokens.",
    hint="X.shape ends with n, d in this order.",
)
def n_and_d_exchanged(X):
    n, d = X.shape[-2:]
    return X + ref.sinusoidal(d, n).T.to(X)


@mistake(
    ref.add_positions,
    id="P26",
    says="You multiplied X by √d before adding; this homework adds the positions to X as it is.",
    hint="Subtract the table from your result: X should be left.",
)
def tokens_scaled(X):
    return X * X.shape[-1] ** 0.5 + ref.sinusoidal(*X.shape[-2:]).to(X)


@mistake(
    ref.add_positions,
    id="P27",
    says="You added the positions twice.",
    hint="Subtract X from your result: one table should be left.",
)
def added_twice(X):
    return X + 2 * ref.sinusoidal(*X.shape[-2:]).to(X)


@mistake(
    ref.add_positions,
    says="You subtracted the positions.",
    hint="With X = 0 the result should be the table itself, not its negative.",
)
def subtracted(X):
    return X - ref.sinusoidal(*X.shape[-2:]).to(X)


@mistake(
    ref.add_positions,
    says="You return the positions alone: X is missing.",
    hint="x'_t = x_t + p_t has two terms.",
)
def positions_alone(X):
    return ref.sinusoidal(*X.shape[-2:]).to(X).expand(X.shape).clone()


@mistake(
    ref.add_positions,
    id="P06",
    says="You added the table from its row 1 on; token 0 gets position 0.",
    hint="Look at which row the first token receives.",
)
def added_from_one(X):
    n, d = X.shape[-2:]
    return X + ref.sinusoidal(n + 1, d)[1:].to(X)


@mistake(
    ref.add_positions,
    id="P17",
    says="You added the last rows of a longer table instead of its first ones.",
    hint="The first token gets position 0, however long the sequence is.",
)
def last_rows(X):
    n, d = X.shape[-2:]
    return X + ref.sinusoidal(100, d)[-n:].to(X)


@mistake(
    ref.add_positions,
    id="P23",
    says="Every token got the same position, the length of the sequence.",
    hint="Token t gets row t of the table.",
)
def length_as_position(X):
    n, d = X.shape[-2:]
    return X + ref.sinusoidal(n + 1, d)[n].to(X)


@mistake(
    ref.add_positions,
    says="Your result does not keep the dtype of X: the float64 table turned it into float64.",
    hint="Give the table the dtype of X before you add.",
)
def dtype_not_kept(X):
    return X + ref.sinusoidal(*X.shape[-2:]).to(X.device)


@mistake(
    ref.add_positions,
    says="No gradient reaches X: your result is cut off from it.",
    hint="Look for detach, .data, no_grad, numpy or torch.tensor(X).",
)
def detached(X):
    return X.detach() + ref.sinusoidal(*X.shape[-2:]).to(X)


@mistake(
    ref.add_positions,
    says="You added the positions to X itself, so the caller's tensor has changed.",
    hint="x += y and x.add_(y) write into x; make a new tensor.",
)
def added_in_place(X):
    X += ref.sinusoidal(*X.shape[-2:]).to(X)
    return X


@mistake(
    ref.add_positions,
    says="Your table stays on the CPU, so X cannot live on any other device.",
    hint="A tensor knows its own device; give the table the same one.",
)
def table_stays_on_the_cpu(X):
    return X + ref.sinusoidal(*X.shape[-2:]).to(X.dtype)
