"""Wrong shift matrices."""

import torch

from reference import positional_encoding as ref
from softmark import mistake


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
