"""Wrong positional encodings that students write, each with the sentence that names it."""

import torch
import torch.nn as nn

from reference import positional_encoding as ref
from softmark.verdict import mistake


def positions(n):
    """The positions 0 … n-1 as a column."""
    return torch.arange(n, dtype=torch.float64)[:, None]  # (n, 1)


def pairs(d):
    """The index i of every pair of columns, the lone sine of an odd width included."""
    return torch.arange((d + 1) // 2, dtype=torch.float64)  # (⌈d/2⌉,)


def frequencies(d):
    """ω_i of every pair."""
    return 10000 ** (-2 * pairs(d) / d)  # (⌈d/2⌉,)


def interleave(even, odd, d):
    """A table whose even and odd columns are given; what does not fit into d columns is dropped."""
    P = torch.empty(even.shape[0], d, dtype=even.dtype)
    P[:, 0::2] = even[:, : (d + 1) // 2]
    P[:, 1::2] = odd[:, : d // 2]
    return P


def rotations(angle, d):
    """A (d, d) matrix with one 2 × 2 block per pair on its diagonal, which adds `angle` to the pair's angle."""
    M = torch.zeros(d, d, dtype=angle.dtype)
    for i in range(d // 2):
        c, s = torch.cos(angle[i]), torch.sin(angle[i])
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.stack([torch.stack([c, -s]), torch.stack([s, c])])
    return M


def refuse_odd(d):
    """The part of shift_matrix that most wrong ones get right."""
    if d % 2:
        raise ValueError("the width must be even")


def offsets(n, m):
    """Key minus query, unclipped."""
    return torch.arange(m) - torch.arange(n)[:, None]  # (n, m)


def refuse_long(X, table):
    """The part of LearnedPositions that most wrong ones get right."""
    if X.shape[-2] > table.shape[0]:
        raise ValueError("the sequence is longer than the table")


# Part 1: angles


@mistake(
    ref.angles,
    id="P01",
    says="Your exponent is doubled: you used 2i where i already counts columns, which makes 4i/d.",
    hint="Write down the exponents for d = 6: they should be 0, 2/6 and 4/6.",
)
def exponent_doubled(n, d):
    return positions(n) / 10000 ** (4 * pairs(d) / d)


@mistake(
    ref.angles,
    id="P02",
    says="Your exponent is i/d: half of what it should be.",
    hint="i counts pairs, not columns; compare your exponent of the second pair with the formula.",
)
def exponent_halved(n, d):
    return positions(n) / 10000 ** (pairs(d) / d)


@mistake(
    ref.angles,
    id="P07",
    says="Your base is 1000 instead of 10000.",
    hint="Count the zeros of the base.",
)
def base_1000(n, d):
    return positions(n) / 1000 ** (2 * pairs(d) / d)


@mistake(
    ref.angles,
    says="Your base is 100000 instead of 10000.",
    hint="Count the zeros of the base.",
)
def base_100000(n, d):
    return positions(n) / 100000 ** (2 * pairs(d) / d)


@mistake(
    ref.angles,
    says="Your frequencies are powers of e, not of 10000: the logarithm of the base is missing.",
    hint="If you write the power with exp, the exponent must contain the natural logarithm of 10000.",
)
def base_e(n, d):
    return positions(n) * torch.exp(-2 * pairs(d) / d)


@mistake(
    ref.angles,
    says="You took the logarithm of 10000 to base 10, but exp undoes the natural one.",
    hint="log10 and exp do not belong together.",
)
def common_logarithm(n, d):
    return positions(n) * torch.exp(-4.0 * 2 * pairs(d) / d)


@mistake(
    ref.angles,
    says="Your exponent has the wrong sign: you multiply by 10000^(2i/d) instead of dividing by it.",
    hint="The angles of later pairs should grow more and more slowly with t; look at yours.",
)
def exponent_sign(n, d):
    return positions(n) * 10000 ** (2 * pairs(d) / d)


@mistake(
    ref.angles,
    id="P09",
    says="All your columns share one frequency: an integer division made every exponent 0.",
    hint="Look for // in your exponent, and at which of * and // Python does first.",
)
def exponent_integer_division(n, d):
    return positions(n) / 10000 ** (2 * pairs(d) // d)


@mistake(
    ref.angles,
    says="Parentheses are missing in your exponent: you compute (t / 10000²) · i / d.",
    hint="** binds tighter than * and /, so the whole exponent needs parentheses.",
)
def exponent_without_parentheses(n, d):
    return positions(n) / 10000**2 * pairs(d) / d


@mistake(
    ref.angles,
    id="P10",
    says="Your exponent is divided by d-2 instead of d, so your last pair reaches 10000 exactly.",
    hint="For d = 6 the last exponent is 4/6, not 1.",
)
def exponent_over_d_minus_2(n, d):
    return positions(n) / 10000 ** (2 * pairs(d) / (d - 2))


@mistake(
    ref.angles,
    says="You space the exponents evenly from 0 to 1, so your last pair reaches 10000 exactly.",
    hint="The last exponent is 2i/d for the last i, which is less than 1.",
)
def exponents_up_to_one(n, d):
    return positions(n) / 10000 ** torch.linspace(0, 1, (d + 1) // 2, dtype=torch.float64)


@mistake(
    ref.angles,
    says="Your exponent is divided by d-1 instead of d.",
    hint="For d = 6 the exponents are 0, 2/6 and 4/6.",
)
def exponent_over_d_minus_1(n, d):
    return positions(n) / 10000 ** (2 * pairs(d) / (d - 1))


@mistake(
    ref.angles,
    says="Your exponent is divided by the number of positions n instead of the width d.",
    hint="A frequency must not depend on how many positions the table has.",
)
def exponent_over_n(n, d):
    return positions(n) / 10000 ** (2 * pairs(d) / n)


@mistake(
    ref.angles,
    says="You multiply 10000 by the exponent 2i/d instead of raising it to that power.",
    hint="The first pair should divide t by 1.",
)
def product_for_power(n, d):
    return positions(n) / (10000 * 2 * pairs(d) / d + (pairs(d) == 0))


@mistake(
    ref.angles,
    id="P06",
    says="You count positions from 1; the first position is 0.",
    hint="The first row of your table should be all zeros.",
)
def positions_from_one(n, d):
    return (positions(n) + 1) * frequencies(d)


@mistake(
    ref.angles,
    says="You count pairs from 1, so every column has the frequency of the next one.",
    hint="The first pair has i = 0, and its angle is t itself.",
)
def pairs_from_one(n, d):
    return positions(n) / 10000 ** (2 * (pairs(d) + 1) / d)


@mistake(
    ref.angles,
    id="P17",
    says="Your positions run backwards: row 0 is the last position.",
    hint="Row t of the table belongs to position t.",
)
def positions_backwards(n, d):
    return (n - 1 - positions(n)) * frequencies(d)


@mistake(
    ref.angles,
    says="You divide the position by n, so the same position gets another angle in a longer table.",
    hint="Position 3 has the same angles whether the table has 10 rows or 20.",
)
def positions_divided_by_n(n, d):
    return positions(n) / n * frequencies(d)


@mistake(
    ref.angles,
    says="Your angles are multiplied by 2π.",
    hint="The formula gives the angle in radians as it stands.",
)
def times_two_pi(n, d):
    return 2 * torch.pi * positions(n) * frequencies(d)


@mistake(
    ref.angles,
    says="Your table lies on its side: positions are rows and pairs are columns.",
    hint="Which of your two vectors did you turn into a column?",
)
def table_transposed(n, d):
    return (positions(n) * frequencies(d)).T.contiguous()


@mistake(
    ref.angles,
    id="P03",
    says="You made one column per feature; there is one angle per pair of features, ⌈d/2⌉ in all.",
    hint="A sine and its cosine share one angle, so i runs over pairs.",
)
def one_column_per_feature(n, d):
    return positions(n) / 10000 ** (torch.arange(d, dtype=torch.float64) / d)


@mistake(
    ref.angles,
    id="P11",
    says="An odd width loses a column: the last sine needs an angle too, although its cosine is dropped.",
    hint="Round d/2 up, not down, and check with d = 5.",
)
def odd_width_rounded_down(n, d):
    return (positions(n) * frequencies(d))[:, : d // 2]


@mistake(
    ref.angles,
    says="For an odd width your exponent is divided by the next even number instead of d.",
    hint="For d = 5 the second exponent is 2/5.",
)
def odd_width_made_even(n, d):
    return positions(n) / 10000 ** (2 * pairs(d) / (d + d % 2))


# Part 2: sinusoidal


@mistake(
    ref.sinusoidal,
    id="P05",
    says="Your sines and cosines are in two halves, side by side; they must alternate: sin, cos, sin, cos.",
    hint="Columns 2i and 2i+1 hold the sine and the cosine of the same angle.",
)
def halves(n, d):
    A = ref.angles(n, d)
    return torch.cat([torch.sin(A), torch.cos(A[:, : d // 2])], dim=1)


@mistake(
    ref.sinusoidal,
    says="Your sines and cosines have changed places: even columns hold the sine.",
    hint="Row 0 should read 0, 1, 0, 1, …",
)
def sine_and_cosine_swapped(n, d):
    A = ref.angles(n, d)
    return interleave(torch.cos(A), torch.sin(A), d)


@mistake(
    ref.sinusoidal,
    id="P03",
    says="Your cosines use their own odd column number as exponent; a cosine shares the angle of its sine.",
    hint="In every pair sin² + cos² should be 1.",
)
def own_exponent_for_cosines(n, d):
    A = positions(n) / 10000 ** (torch.arange(d, dtype=torch.float64) / d)
    return interleave(torch.sin(A[:, 0::2]), torch.cos(A[:, 1::2]), d)


@mistake(
    ref.sinusoidal,
    id="P01",
    says="Your frequencies fall twice as fast as they should: you used the column number 2i as if it were i.",
    hint="Column 2 belongs to pair i = 1, so its exponent is 2/d.",
)
def column_number_for_pair(n, d):
    A = positions(n) / 10000 ** (4 * pairs(d) / d)
    return interleave(torch.sin(A), torch.cos(A), d)


@mistake(
    ref.sinusoidal,
    says="Both columns of a pair hold the sine; the second one should be the cosine.",
    hint="Row 0 should read 0, 1, 0, 1, …",
)
def sines_only(n, d):
    A = ref.angles(n, d)
    return interleave(torch.sin(A), torch.sin(A), d)


@mistake(
    ref.sinusoidal,
    says="Both columns of a pair hold the cosine; the first one should be the sine.",
    hint="Row 0 should read 0, 1, 0, 1, …",
)
def cosines_only(n, d):
    A = ref.angles(n, d)
    return interleave(torch.cos(A), torch.cos(A), d)


@mistake(
    ref.sinusoidal,
    says="You return the angles themselves, interleaved: the sine and the cosine are missing.",
    hint="Every entry of the table lies between -1 and 1.",
)
def angles_only(n, d):
    A = ref.angles(n, d)
    return interleave(A, A, d)


@mistake(
    ref.sinusoidal,
    says="Your angles were taken for degrees and converted; they are in radians already.",
    hint="torch.sin and torch.cos expect radians.",
)
def degrees(n, d):
    A = torch.deg2rad(ref.angles(n, d))
    return interleave(torch.sin(A), torch.cos(A), d)


@mistake(
    ref.sinusoidal,
    id="P06",
    says="Your table starts with position 1; its first row must be position 0.",
    hint="Row 0 should read 0, 1, 0, 1, …",
)
def table_from_one(n, d):
    A = ref.angles(n + 1, d)[1:]
    return interleave(torch.sin(A), torch.cos(A), d)


@mistake(
    ref.sinusoidal,
    id="P17",
    says="The rows of your table run backwards: row 0 is the last position.",
    hint="Row t of the table belongs to position t.",
)
def rows_backwards(n, d):
    A = ref.angles(n, d).flip(0)
    return interleave(torch.sin(A), torch.cos(A), d)


@mistake(
    ref.sinusoidal,
    says="You stacked sines and cosines along the first axis, so flattening mixed up the positions.",
    hint="Sine and cosine of one angle must be neighbours before you flatten: which axis has to be new?",
)
def stacked_on_the_wrong_axis(n, d):
    A = ref.angles(n, d)
    return torch.stack([torch.sin(A), torch.cos(A)]).reshape(n, -1)[:, :d]


@mistake(
    ref.sinusoidal,
    says="Your table lies on its side: positions are rows and features are columns.",
    hint="The shape must be (n, d).",
)
def sideways(n, d):
    A = ref.angles(n, d)
    return interleave(torch.sin(A), torch.cos(A), d).T.contiguous()


@mistake(
    ref.sinusoidal,
    says="Your table is divided by √d; positions are added as they are.",
    hint="Every sine and cosine keeps its size.",
)
def table_scaled(n, d):
    A = ref.angles(n, d)
    return interleave(torch.sin(A), torch.cos(A), d) / d**0.5


@mistake(
    ref.sinusoidal,
    id="P11",
    says="For an odd width you dropped the last pair whole; only its cosine goes, the sine stays.",
    hint="With d = 5 the columns are sin, cos, sin, cos, sin.",
)
def odd_width_without_last_sine(n, d):
    A = ref.angles(n, d)
    return interleave(torch.sin(A), torch.cos(A), d)[:, : d - d % 2]


@mistake(
    ref.sinusoidal,
    says="For an odd width you kept the last cosine: your table has d+1 columns.",
    hint="The shape must be (n, d) for an odd d as well.",
)
def odd_width_with_last_cosine(n, d):
    A = ref.angles(n, d)
    return interleave(torch.sin(A), torch.cos(A), d + d % 2)


@mistake(
    ref.sinusoidal,
    says="For an odd width your last column is a cosine; the cosine is what is dropped, the sine stays.",
    hint="With d = 5 the columns are sin, cos, sin, cos, sin.",
)
def odd_width_ends_with_cosine(n, d):
    A = ref.angles(n, d)
    P = interleave(torch.sin(A), torch.cos(A), d)
    if d % 2:
        P[:, -1] = torch.cos(A[:, -1])
    return P


@mistake(
    ref.sinusoidal,
    says="For an odd width your last column is all zeros: it was never filled.",
    hint="An odd d has one more sine than cosines.",
)
def odd_width_last_column_empty(n, d):
    A = ref.angles(n, d)
    P = interleave(torch.sin(A), torch.cos(A), d)
    if d % 2:
        P[:, -1] = 0
    return P


# Part 3: add_positions


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


# Part 4: shift_matrix


@mistake(
    ref.shift_matrix,
    says="Your matrix is transposed: it shifts columns M p_t, or shifts rows backwards.",
    hint="p_t is a row and stands on the left of M_k; multiply it out for d = 2.",
)
def shifts_columns(k, d):
    refuse_odd(d)
    return rotations(-k * ref.angles(2, d)[1], d)


@mistake(
    ref.shift_matrix,
    says="Your matrix is made for sines and cosines in two halves; here they alternate.",
    hint="Column 2i and column 2i+1 form a pair, so the 2 × 2 blocks lie on the diagonal.",
)
def shifts_halves(k, d):
    refuse_odd(d)
    b = k * ref.angles(2, d)[1]
    c, s = torch.diag(torch.cos(b)), torch.diag(torch.sin(b))
    return torch.cat([torch.cat([c, -s], dim=1), torch.cat([s, c], dim=1)])


@mistake(
    ref.shift_matrix,
    says="All your blocks turn by the angle k; every pair has its own frequency.",
    hint="The block of pair i turns by k times its ω_i.",
)
def one_frequency(k, d):
    refuse_odd(d)
    return rotations(torch.full((d // 2,), float(k), dtype=torch.float64), d)


@mistake(
    ref.shift_matrix,
    says="You ignore the sign of k: a shift to the left must differ from one to the right.",
    hint="Try k = -1 on the row of position 3: it should give position 2.",
)
def sign_of_k_lost(k, d):
    refuse_odd(d)
    return rotations(abs(k) * ref.angles(2, d)[1], d)


@mistake(
    ref.shift_matrix,
    says="A minus sign is missing: cos(a+b) = cos a cos b - sin a sin b.",
    hint="Shifting by k and then by -k should give the identity.",
)
def minus_missing(k, d):
    refuse_odd(d)
    M = rotations(k * ref.angles(2, d)[1], d)
    M[0::2, 1::2] = -M[0::2, 1::2]
    return M


@mistake(
    ref.shift_matrix,
    says="Your matrix has the cosines on its diagonal, but the sines beside them are missing.",
    hint="Both addition theorems have two terms.",
)
def sines_missing(k, d):
    refuse_odd(d)
    return torch.diag(torch.cos(k * ref.angles(2, d)[1]).repeat_interleave(2))


@mistake(
    ref.shift_matrix,
    says="You ignore how far to shift: your matrix is always M_1.",
    hint="Every angle in M_k is multiplied by k.",
)
def always_one(k, d):
    refuse_odd(d)
    return rotations(ref.angles(2, d)[1], d)


@mistake(
    ref.shift_matrix,
    says="You multiplied the entries of M_1 by k; the angle is what is multiplied.",
    hint="Shifting twice by 1 is M_1 times M_1, not 2 M_1.",
)
def entries_times_k(k, d):
    refuse_odd(d)
    return k * rotations(ref.angles(2, d)[1], d)


@mistake(
    ref.shift_matrix,
    says="You shift by k+1 instead of k.",
    hint="Shifting by 0 should give the identity.",
)
def one_too_far(k, d):
    refuse_odd(d)
    return rotations((k + 1) * ref.angles(2, d)[1], d)


@mistake(
    ref.shift_matrix,
    says="Your blocks hold sine and cosine of k in each other's place.",
    hint="Shifting by 0 should give the identity.",
)
def cosine_and_sine_exchanged(k, d):
    refuse_odd(d)
    b = k * ref.angles(2, d)[1]
    return rotations(torch.pi / 2 - b, d)


@mistake(
    ref.shift_matrix,
    says="Your blocks come in reverse order: the first pair has the highest frequency.",
    hint="Pair 0 is in columns 0 and 1 and has ω_0 = 1.",
)
def frequencies_reversed(k, d):
    refuse_odd(d)
    return rotations(k * ref.angles(2, d)[1].flip(0), d)


@mistake(
    ref.shift_matrix,
    says="You moved the rows of a table; M_k multiplies one row of it and gives another row.",
    hint="M_k is (d, d): it mixes features, and knows nothing of n.",
)
def moves_rows(k, d):
    refuse_odd(d)
    return torch.roll(torch.eye(d, dtype=torch.float64), k, dims=1)


@mistake(
    ref.shift_matrix,
    says="An odd width must raise ValueError: you return a matrix as if the last cosine were there.",
    hint="Check d before you compute, and say in the message what is wrong with it.",
)
def odd_width_accepted(k, d):
    M = torch.zeros(d, d, dtype=torch.float64)
    even = d - d % 2
    M[:even, :even] = rotations(k * ref.angles(2, d)[1], even)
    if d % 2:
        M[-1, -1] = torch.cos(k * ref.angles(2, d)[1, -1])
    return M


# Part 5: LearnedPositions


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


# Part 6: relative_bias


@mistake(
    ref.relative_bias,
    id="P33",
    says="Your offset is query minus key; it is key minus query, so your pattern is mirrored.",
    hint="The key one place to the right of its query has offset +1.",
)
def query_minus_key(n, m, table):
    L = table.shape[-1] // 2
    return table[..., (-offsets(n, m)).clamp(-L, L) + L]


@mistake(
    ref.relative_bias,
    id="P34",
    says="Offsets beyond the table wrap around, so far keys get the bias of near ones; they must be clipped.",
    hint="A negative index counts from the end; limit the offset before you look it up.",
)
def offsets_wrap_around(n, m, table):
    size = table.shape[-1]
    return table[..., (offsets(n, m) + size // 2) % size]


@mistake(
    ref.relative_bias,
    says="You clip offsets at L only; keys far to the left wrap around to the other end of the table.",
    hint="Offsets are clipped at -L as well as at L.",
)
def clipped_on_the_right_only(n, m, table):
    L = table.shape[-1] // 2
    entry = (offsets(n, m) + L).clamp(max=2 * L)
    return table[..., entry % table.shape[-1]]


@mistake(
    ref.relative_bias,
    says="You clip offsets at -L only; keys far to the right wrap around to the other end of the table.",
    hint="Offsets are clipped at L as well as at -L.",
)
def clipped_on_the_left_only(n, m, table):
    L = table.shape[-1] // 2
    entry = (offsets(n, m) + L).clamp(min=0)
    return table[..., entry % table.shape[-1]]


@mistake(
    ref.relative_bias,
    says="You clip one step too early, at L-1: the two ends of the table are never used.",
    hint="A table of 7 entries has L = 3, and offset 3 has an entry of its own.",
)
def clipped_too_early(n, m, table):
    L = table.shape[-1] // 2
    return table[..., offsets(n, m).clamp(-(L - 1), L - 1) + L]


@mistake(
    ref.relative_bias,
    says="You clip at L-1 on the right: the last entry of the table is never used.",
    hint="A table of 7 entries has L = 3, and offset 3 has an entry of its own.",
)
def clipped_too_early_on_the_right(n, m, table):
    L = table.shape[-1] // 2
    return table[..., offsets(n, m).clamp(-L, L - 1) + L]


@mistake(
    ref.relative_bias,
    says="You clip at L-1 on the right: the last entry of the table is never used.",
    hint="A table of 7 entries has L = 3, and offset 3 has an entry of its own.",
)
def selected_too_early_on_the_right(n, m, table):
    L = table.shape[-1] // 2
    entry = offsets(n, m).clamp(-L, L - 1) + L
    return table.index_select(-1, entry.flatten()).unflatten(-1, (n, m))  # no index -1 where L is 0


@mistake(
    ref.relative_bias,
    says="You take L from the first axis of the table, which is the axis of the heads as soon as there are any.",
    hint="The table is (…, 2L+1): count axes from the end.",
)
def L_from_first_axis(n, m, table):
    L = len(table) // 2
    return table[..., offsets(n, m).clamp(-L, L) + L]


@mistake(
    ref.relative_bias,
    says="Your L is one too large: offset 0 is the entry in the middle of the table.",
    hint="A table of 7 entries has L = 3 and its middle at index 3.",
)
def L_one_too_large(n, m, table):
    L = (table.shape[-1] + 1) // 2
    return table[..., offsets(n, m).clamp(-L, L) + L]


@mistake(
    ref.relative_bias,
    says="You clip the table's index at L, so every key to the right of its query gets the bias of offset 0.",
    hint="Clip the offset to -L … L first, and shift it to an index afterwards.",
)
def index_clipped_at_L(n, m, table):
    L = table.shape[-1] // 2
    return table[..., (offsets(n, m) + L).clamp(0, L)]


@mistake(
    ref.relative_bias,
    says="You use the offset as an index without shifting it: offset 0 is the middle of the table.",
    hint="The first entry of the table belongs to offset -L.",
)
def middle_forgotten(n, m, table):
    L = table.shape[-1] // 2
    return table[..., offsets(n, m).clamp(-L, L) % table.shape[-1]]


@mistake(
    ref.relative_bias,
    says="Your entries are one off: offset 0 is the entry in the middle of the table.",
    hint="A table of 7 entries has its middle at index 3.",
)
def one_entry_off(n, m, table):
    L = table.shape[-1] // 2
    return table[..., (offsets(n, m).clamp(-L, L) + L + 1).clamp(max=2 * L)]


@mistake(
    ref.relative_bias,
    says="You use the distance without its sign, so left and right get the same bias.",
    hint="The table has entries of its own for negative offsets.",
)
def sign_of_offset_lost(n, m, table):
    L = table.shape[-1] // 2
    return table[..., offsets(n, m).abs().clamp(max=L) + L]


@mistake(
    ref.relative_bias,
    says="Your bias lies on its side: queries are rows and keys are columns.",
    hint="The shape must end with n, m.",
)
def keys_as_rows(n, m, table):
    L = table.shape[-1] // 2
    return table[..., offsets(n, m).clamp(-L, L) + L].transpose(-1, -2).contiguous()


@mistake(
    ref.relative_bias,
    says="Keys too far away get a bias of 0; they get the bias at that end of the table.",
    hint="Clipping changes the offset, it does not switch the bias off.",
)
def far_keys_get_nothing(n, m, table):
    L = table.shape[-1] // 2
    offset = offsets(n, m).to(table.device)
    return table[..., offset.clamp(-L, L) + L] * (offset.abs() <= L)


@mistake(
    ref.relative_bias,
    says="Keys too far away are masked with -∞; they get the bias at that end of the table.",
    hint="Clipping changes the offset, it does not forbid the key.",
)
def far_keys_masked(n, m, table):
    L = table.shape[-1] // 2
    offset = offsets(n, m).to(table.device)
    return table[..., offset.clamp(-L, L) + L].masked_fill(offset.abs() > L, float("-inf"))


@mistake(
    ref.relative_bias,
    says="Your bias depends on the key's own position; it should depend on its distance from the query.",
    hint="Along a diagonal of the bias all numbers are the same.",
)
def position_of_the_key(n, m, table):
    L = table.shape[-1] // 2
    return table[..., torch.arange(m).clamp(max=L).expand(n, m) + L]


@mistake(
    ref.relative_bias,
    says="The offset is counted from the last query and the last key; it is j - i with both counted from 0.",
    hint="B[0, 0] is the bias of offset 0, also when there are more keys than queries.",
)
def aligned_at_the_end(n, m, table):
    L = table.shape[-1] // 2
    return table[..., (offsets(n, m) + n - m).clamp(-L, L) + L]


@mistake(
    ref.relative_bias,
    says="All heads got the biases of the first head.",
    hint="Offsets index the last axis of the table; all axes before it stay.",
)
def first_head_only(n, m, table):
    L = table.shape[-1] // 2
    first = table[(0,) * (table.dim() - 1)]
    B = first[offsets(n, m).clamp(-L, L) + L]
    return B.expand(*table.shape[:-1], n, m).clone()


@mistake(
    ref.relative_bias,
    says="Your heads come last; they stay in front: (…, n, m).",
    hint="Scores are (…, heads, n, m), and the bias is added to them.",
)
def heads_last(n, m, table):
    L = table.shape[-1] // 2
    B = table[..., offsets(n, m).clamp(-L, L) + L]
    return B.movedim((-2, -1), (0, 1)).contiguous()


@mistake(
    ref.relative_bias,
    says="The table learns nothing: your bias is cut off from it.",
    hint="Look for .item(), torch.tensor, detach or numpy.",
)
def bias_detached(n, m, table):
    L = table.shape[-1] // 2
    return table.detach()[..., offsets(n, m).clamp(-L, L) + L]


@mistake(
    ref.relative_bias,
    says="Your bias is always float32; it keeps the dtype of the table.",
    hint="If you fill a tensor yourself, make it with the table's dtype.",
)
def always_float32(n, m, table):
    L = table.shape[-1] // 2
    return table[..., offsets(n, m).clamp(-L, L) + L].float()
