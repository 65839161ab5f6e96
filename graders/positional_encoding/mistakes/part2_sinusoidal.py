"""Wrong sinusoidal tables."""

import torch

from graders.positional_encoding.pieces import pairs, positions
from reference import positional_encoding as ref
from softmark import mistake


def interleave(even, odd, d):
    """A table whose even and odd columns are given; what does not fit into d columns is dropped."""
    P = torch.empty(even.shape[0], d, dtype=even.dtype)
    P[:, 0::2] = even[:, : (d + 1) // 2]
    P[:, 1::2] = odd[:, : d // 2]
    return P


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
