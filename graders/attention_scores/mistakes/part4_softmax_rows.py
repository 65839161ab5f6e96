"""Wrong solutions of part 4: the softmax of every row."""

import math

import torch

from reference import attention_scores as ref
from softmark import mistake


@mistake(
    ref.softmax_rows,
    says="Your columns sum to 1 instead of your rows.",
    hint="Each query spreads its attention over the keys: normalise along the last axis.",
    id="S13",
)
def softmax_columns(S):
    E = torch.exp(S - S.amax(dim=-2, keepdim=True))
    return E / E.sum(dim=-2, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="You normalise along the first axis, which is the batch as soon as there is one.",
    hint="Count the axis from the end: the keys are the last one.",
    id="S14",
)
def softmax_first_axis(S):
    E = torch.exp(S - S.amax(dim=0, keepdim=True))
    return E / E.sum(dim=0, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="You normalise along axis 1, which is the axis of the keys only as long as there is no batch.",
    hint="Count the axis from the end: the keys are the last one.",
)
def softmax_second_axis(S):
    E = torch.exp(S - S.amax(dim=1, keepdim=True))
    return E / E.sum(dim=1, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="The weights of a whole matrix sum to 1, so each row gets only a share of that.",
    hint="Every row must sum to 1 by itself.",
    id="S15",
)
def softmax_whole_matrix(S):
    E = torch.exp(S - S.amax(dim=(-2, -1), keepdim=True))
    return E / E.sum(dim=(-2, -1), keepdim=True)


@mistake(
    ref.softmax_rows,
    says="Large scores overflow: exp(1000) is inf, and inf / inf is NaN.",
    hint="Softmax does not change if you subtract the same number from a whole row; choose it so that exp is safe.",
    id="S17",
)
def softmax_overflow(S):
    E = torch.exp(S)
    return E / E.sum(dim=-1, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="You subtract the largest score of the whole tensor: rows with small scores underflow to 0 / 0.",
    hint="Each row has its own largest score.",
    id="S18",
)
def softmax_global_max(S):
    E = torch.exp(S - S.max())
    return E / E.sum(dim=-1, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="You subtract the largest score of the whole tensor: rows with small scores underflow to 0.",
    hint="Each row has its own maximum: amax over the last axis, keepdim=True.",
)
def softmax_global_max_guarded(S):
    E = torch.exp(S - S.max())
    return E / E.sum(dim=-1, keepdim=True).clamp(min=1e-12)


@mistake(
    ref.softmax_rows,
    says="You subtract the largest score of each column, but normalise rows.",
    hint="Take the largest score along the same axis as the sum: the keys.",
    id="S19",
)
def softmax_column_max(S):
    E = torch.exp(S - S.amax(dim=-2, keepdim=True))
    return E / E.sum(dim=-1, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="You cut large scores off, so that different large scores get equal weights.",
    hint="Subtracting a number per row keeps the differences between scores; clamping does not.",
)
def softmax_clamped(S):
    E = torch.exp(S.clamp(-80, 80))
    return E / E.sum(dim=-1, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="You replace the NaN of an overflow by 0, and the largest scores lose their weight.",
    hint="Avoid the overflow instead of covering it up.",
)
def softmax_nan_to_zero(S):
    E = torch.exp(S)
    return torch.nan_to_num(E / E.sum(dim=-1, keepdim=True), nan=0.0)


@mistake(
    ref.softmax_rows,
    says="You divide the scores by their sum; the exponential is missing.",
    hint="Weights are exp(S_ij) over the sum of such terms.",
)
def softmax_without_exp(S):
    return S / S.sum(dim=-1, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="You return exp(S - max) without dividing by the row's sum.",
    hint="Rows must sum to 1.",
)
def softmax_unnormalised(S):
    return torch.exp(S - S.amax(dim=-1, keepdim=True))


@mistake(
    ref.softmax_rows,
    says="You return the logarithms of the weights.",
    hint="That is log_softmax; weights are between 0 and 1.",
)
def softmax_logarithm(S):
    S = S - S.amax(dim=-1, keepdim=True)
    return S - torch.log(torch.exp(S).sum(dim=-1, keepdim=True))


@mistake(
    ref.softmax_rows,
    says="You use a sigmoid on every score by itself.",
    hint="The keys of a row compete: their weights sum to 1.",
)
def softmax_sigmoid(S):
    return torch.sigmoid(S)


@mistake(
    ref.softmax_rows,
    says="You use powers of 2 instead of powers of e.",
    hint="exp is the exponential function of base e.",
)
def softmax_base_two(S):
    E = torch.exp2(S - S.amax(dim=-1, keepdim=True))
    return E / E.sum(dim=-1, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="Your sign is flipped: the smallest score gets the largest weight.",
    hint="A larger score must give a larger weight.",
)
def softmax_flipped_sign(S):
    E = torch.exp(S.amin(dim=-1, keepdim=True) - S)
    return E / E.sum(dim=-1, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="You give all weight to the largest score of a row.",
    hint="Softmax is soft: use exp, not a comparison.",
)
def softmax_one_hot(S):
    E = (S.amax(dim=-1, keepdim=True) == S).to(S.dtype)
    return E / E.sum(dim=-1, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="There is an extra 1 in your denominator.",
    hint="The denominator is the sum over the keys of the row and nothing else.",
)
def softmax_plus_one(S):
    E = torch.exp(S - S.amax(dim=-1, keepdim=True))
    return E / (1 + E.sum(dim=-1, keepdim=True))


@mistake(
    ref.softmax_rows,
    says="You apply the softmax twice.",
    hint="Once is enough: the weights must not go through exp again.",
)
def softmax_twice(S):
    return torch.softmax(torch.softmax(S, dim=-1), dim=-1)


@mistake(
    ref.softmax_rows,
    says="You scale the scores again inside the softmax.",
    hint="S is scaled already; this part takes the scores as they are.",
)
def softmax_scaled_again(S):
    return torch.softmax(S / math.sqrt(S.shape[-1]), dim=-1)


@mistake(
    ref.softmax_rows,
    says="You compute in float64 and return float64 although the scores are float32.",
    hint="Results keep the dtype of the input; subtracting the row's maximum makes float32 sufficient.",
)
def softmax_in_float64(S):
    return torch.softmax(S.double(), dim=-1)


@mistake(
    ref.softmax_rows,
    says="You subtract the maximum in place: the caller's scores are changed.",
    hint="Make a new tensor; operators such as -= write into their input.",
    id="S34",
)
def softmax_in_place(S):
    S -= S.amax(dim=-1, keepdim=True)
    E = torch.exp(S)
    return E / E.sum(dim=-1, keepdim=True)
