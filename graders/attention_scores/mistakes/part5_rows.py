"""Wrong solutions of part 5, masked_softmax: rows without an allowed key, the maximum and the sum of a row, manners."""

import math

import torch

from reference import attention_scores as ref
from softmark import mistake


@mistake(
    ref.masked_softmax,
    says="A row with no allowed key gives NaN.",
    hint="The handout gives the rule: such a row is exactly 0.",
    id="M27",
)
def masked_nan_row(S, mask):
    return torch.softmax(S.masked_fill(~mask, -math.inf), dim=-1)


@mistake(
    ref.masked_softmax,
    says="A row with no allowed key gives equal weights to all keys.",
    hint="The handout gives the rule: such a row is exactly 0.",
)
def masked_uniform_row(S, mask):
    return torch.softmax(S.masked_fill(~mask, torch.finfo(S.dtype).min), dim=-1)


@mistake(
    ref.masked_softmax,
    says="A row with no allowed key gets the weights it would have without a mask.",
    hint="The handout gives the rule: such a row is exactly 0.",
)
def masked_blocked_row_unmasked(S, mask):
    mask = mask | ~mask.any(dim=-1, keepdim=True)
    return torch.softmax(S.masked_fill(~mask, -math.inf), dim=-1)


@mistake(
    ref.masked_softmax,
    says="A row with no allowed key gives all its weight to the first key.",
    hint="The handout gives the rule: such a row is exactly 0.",
)
def masked_blocked_row_first_key(S, mask):
    first = torch.arange(S.shape[-1], device=S.device) == 0
    mask = mask | (first & ~mask.any(dim=-1, keepdim=True))
    return torch.softmax(S.masked_fill(~mask, -math.inf), dim=-1)


@mistake(
    ref.masked_softmax,
    says="You set a whole row to 0 as soon as one of its keys is blocked.",
    hint="Only a row that has no allowed key at all is 0: any and all are easily confused.",
)
def masked_zero_if_any_blocked(S, mask):
    A = torch.softmax(S.masked_fill(~mask, torch.finfo(S.dtype).min), dim=-1)
    return A.masked_fill(~mask.all(dim=-1, keepdim=True), 0.0)


@mistake(
    ref.masked_softmax,
    says="One row without an allowed key turns your whole matrix into 0.",
    hint="Decide row by row.",
)
def masked_zero_matrix(S, mask):
    A = torch.softmax(S.masked_fill(~mask, torch.finfo(S.dtype).min), dim=-1)
    blocked_row = ~mask.any(dim=-1, keepdim=True)
    return A.masked_fill(blocked_row.any(dim=-2, keepdim=True), 0.0)


@mistake(
    ref.masked_softmax,
    says="The gradient of a row with no allowed key is NaN, although its weights are 0.",
    hint="Do not add -inf to the scores and repair the NaN afterwards; avoid it before the softmax.",
)
def masked_nan_gradient(S, mask):
    bias = torch.zeros_like(S).masked_fill(~mask, -math.inf)
    return torch.nan_to_num(torch.softmax(S + bias, dim=-1), nan=0.0)


@mistake(
    ref.masked_softmax,
    says="You subtract the largest score of the row, blocked keys included: allowed scores far below it vanish.",
    hint="Block first; only allowed keys may decide about the maximum.",
)
def masked_max_of_blocked(S, mask):
    E = torch.exp(S - S.amax(dim=-1, keepdim=True)) * mask
    return torch.nan_to_num(E / E.sum(dim=-1, keepdim=True), nan=0.0)


@mistake(
    ref.masked_softmax,
    says="You subtract the largest score of the row, blocked keys included: rows far below it become 0.",
    hint="Block first; only allowed keys may decide about the maximum.",
)
def masked_max_of_blocked_guarded(S, mask):
    E = torch.exp(S - S.amax(dim=-1, keepdim=True)) * mask
    return E / E.sum(dim=-1, keepdim=True).clamp(min=1e-12)


@mistake(
    ref.masked_softmax,
    says="You normalise the columns instead of the rows.",
    hint="Each query spreads its attention over the keys it may see: the last axis.",
    id="S13",
)
def masked_columns(S, mask):
    A = torch.softmax(S.masked_fill(~mask, torch.finfo(S.dtype).min), dim=-2)
    return A.masked_fill(~mask, 0.0)


@mistake(
    ref.masked_softmax,
    says="Your result has one axis more than S.",
    hint="The result has the shape of S; let the mask broadcast instead of adding an axis.",
    id="M18",
)
def masked_extra_axis(S, mask):
    mask = mask.unsqueeze(0)
    A = torch.softmax(S.unsqueeze(0).masked_fill(~mask, torch.finfo(S.dtype).min), dim=-1)
    return A.masked_fill(~mask, 0.0)


@mistake(
    ref.masked_softmax,
    says="You write into the caller's scores.",
    hint="Make a new tensor: masked_fill without the underscore does not touch its input.",
    id="M26",
)
def masked_in_place(S, mask):
    S.masked_fill_(~mask, torch.finfo(S.dtype).min)
    return torch.softmax(S, dim=-1).masked_fill(~mask, 0.0)


@mistake(
    ref.masked_softmax,
    says="You change the caller's mask.",
    hint="Make a new mask with ~ instead of writing into the one you were given.",
)
def masked_changes_mask(S, mask):
    mask.logical_not_()
    A = torch.softmax(S.masked_fill(mask, torch.finfo(S.dtype).min), dim=-1)
    return A.masked_fill(mask, 0.0)
