"""Wrong positional encodings that students write, each with the sentence that names it: part 1, the angles."""

import torch

from graders.positional_encoding.pieces import pairs, positions
from reference import positional_encoding as ref
from softmark import mistake


def frequencies(d):
    """ω_i of every pair."""
    return 10000 ** (-2 * pairs(d) / d)  # (⌈d/2⌉,)


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
