"""Wrong solutions of part 5, masked_softmax: which keys are blocked, and what becomes of their scores."""

import math

import torch

from reference import attention_scores as ref
from softmark import mistake


@mistake(
    ref.masked_softmax,
    says="Your mask works the wrong way round: you block what is allowed.",
    hint="True means that the query may look at the key.",
    id="M01",
)
def masked_inverted(S, mask):
    A = torch.softmax(S.masked_fill(mask, torch.finfo(S.dtype).min), dim=-1)
    return A.masked_fill(mask, 0.0)


@mistake(
    ref.masked_softmax,
    says="Your mask works the wrong way round: you block what is allowed.",
    hint="True means that the query may look at the key.",
)
def masked_inverted_by_fill_value(S, mask):
    return torch.softmax(S.masked_fill(mask, -1e30), dim=-1)


@mistake(
    ref.masked_softmax,
    says="Your mask works the wrong way round: you block what is allowed.",
    hint="True means that the query may look at the key.",
)
def masked_inverted_but_for_blocked_rows(S, mask):
    A = torch.softmax(S.masked_fill(mask, -1e30), dim=-1)
    return A * mask.any(dim=-1, keepdim=True)


@mistake(
    ref.masked_softmax,
    says="Your mask works the wrong way round: you block what is allowed.",
    hint="True means that the query may look at the key.",
)
def masked_inverted_nan(S, mask):
    return torch.softmax(S.masked_fill(mask, -math.inf), dim=-1)


@mistake(
    ref.masked_softmax,
    says="You fill the allowed scores, and the product with the mask at the end removes all the others.",
    hint="True means may look: fill where the mask is False.",
)
def masked_inverted_times_mask(S, mask):
    return torch.softmax(S.masked_fill(mask, torch.finfo(S.dtype).min), dim=-1) * mask


@mistake(
    ref.masked_softmax,
    says="You fill the allowed scores, and the product with the mask at the end leaves only zeros and NaN.",
    hint="True means may look: fill where the mask is False.",
)
def masked_inverted_nan_times_mask(S, mask):
    return torch.softmax(S.masked_fill(mask, -math.inf), dim=-1) * mask


@mistake(
    ref.masked_softmax,
    says="You multiply the mask by -inf: 0 · inf is NaN, so every allowed score becomes NaN.",
    hint="Choose between two values (masked_fill, where) instead of multiplying.",
)
def masked_zero_times_inf(S, mask):
    return torch.softmax(S + (~mask) * -math.inf, dim=-1)


@mistake(
    ref.masked_softmax,
    says="You multiply the mask by -inf: 0 · inf is NaN, and your zeros in its place wipe out every row.",
    hint="Choose between two values (masked_fill, where) instead of multiplying.",
)
def masked_zero_times_inf_repaired(S, mask):
    return torch.nan_to_num(torch.softmax(S + (~mask) * -math.inf, dim=-1), nan=0.0)


@mistake(
    ref.masked_softmax,
    says="You ignore the mask.",
    hint="A blocked key must get a weight of exactly 0.",
)
def masked_not_at_all(S, mask):
    return torch.softmax(S, dim=-1)


@mistake(
    ref.masked_softmax,
    says="You set blocked scores to 0, and exp(0) = 1 is a weight like any other.",
    hint="A blocked score must be so low that its exponential vanishes.",
    id="M02",
)
def masked_zero_scores(S, mask):
    return torch.softmax(S * mask, dim=-1)


@mistake(
    ref.masked_softmax,
    says="You apply the mask after the softmax, so your rows no longer sum to 1.",
    hint="Block before you normalise, or normalise again.",
    id="M03",
)
def masked_after_softmax(S, mask):
    return torch.softmax(S, dim=-1).masked_fill(~mask, 0.0)


@mistake(
    ref.masked_softmax,
    says="Blocked scores of -10 still leak: other scores of the row may be lower than that.",
    hint="The value must be lower than any score that can occur.",
    id="M05",
)
def masked_fill_ten(S, mask):
    A = torch.softmax(S.masked_fill(~mask, -10.0), dim=-1)
    return A.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


@mistake(
    ref.masked_softmax,
    says="Blocked scores of -100 still leak: other scores of the row may be lower than that.",
    hint="The value must be lower than any score that can occur.",
)
def masked_fill_hundred(S, mask):
    A = torch.softmax(S.masked_fill(~mask, -100.0), dim=-1)
    return A.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


@mistake(
    ref.masked_softmax,
    says="Blocked scores of -1000 still leak when the allowed scores are lower than that.",
    hint="The lowest number of the dtype, or -inf, is below every score.",
)
def masked_fill_thousand(S, mask):
    A = torch.softmax(S.masked_fill(~mask, -1000.0), dim=-1)
    return A.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


@mistake(
    ref.masked_softmax,
    says="Blocked scores of -10000 still leak when the allowed scores are lower than that.",
    hint="The lowest number of the dtype, or -inf, is below every score.",
    id="M41",
)
def masked_fill_ten_thousand(S, mask):
    A = torch.softmax(S.masked_fill(~mask, -1e4), dim=-1)
    return A.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


@mistake(
    ref.masked_softmax,
    says="You subtract 100 from blocked scores, and a blocked key with a large score keeps a weight.",
    hint="The result must not depend on what the score of a blocked key was.",
)
def masked_minus_hundred(S, mask):
    A = torch.softmax(S - 100.0 * (~mask), dim=-1)
    return A.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


@mistake(
    ref.masked_softmax,
    says="You fill blocked scores with the smallest score of the tensor, which still gives them a weight.",
    hint="The value must be lower than any score that can occur.",
)
def masked_fill_minimum(S, mask):
    A = torch.softmax(torch.where(mask, S, S.min()), dim=-1)
    return A.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


@mistake(
    ref.masked_softmax,
    says="Your fill value is large and positive: blocked keys get all the weight.",
    hint="Look at the sign of the value for blocked scores.",
    id="M07",
)
def masked_fill_positive(S, mask):
    return torch.softmax(S.masked_fill(~mask, 1e9), dim=-1)


@mistake(
    ref.masked_softmax,
    says="You add the mask to the scores: allowed keys get 1 more, and nothing is blocked.",
    hint="Blocked scores need to become very low.",
    id="M21",
)
def masked_added(S, mask):
    return torch.softmax(S + mask, dim=-1)


@mistake(
    ref.masked_softmax,
    says="You let every key be seen that any example of the batch may see.",
    hint="Each example has a mask of its own.",
)
def masked_union_of_batch(S, mask):
    if mask.dim() > 2:
        mask = mask.any(dim=0)
    A = torch.softmax(S.masked_fill(~mask, torch.finfo(S.dtype).min), dim=-1)
    return A.masked_fill(~mask, 0.0)


@mistake(
    ref.masked_softmax,
    says="You use the mask of the first example for the whole batch.",
    hint="Each example has a mask of its own; let it broadcast.",
    id="M17",
)
def masked_first_example(S, mask):
    if mask.dim() > 2:
        mask = mask[0]
    A = torch.softmax(S.masked_fill(~mask, torch.finfo(S.dtype).min), dim=-1)
    return A.masked_fill(~mask, 0.0)


@mistake(
    ref.masked_softmax,
    says="You hide the future as well, although the mask does not ask for it.",
    hint="This part knows only the mask it is given.",
)
def masked_also_causal(S, mask):
    past = torch.arange(S.shape[-1], device=S.device) <= torch.arange(S.shape[-2], device=S.device)[:, None]
    mask = mask & past
    A = torch.softmax(S.masked_fill(~mask, torch.finfo(S.dtype).min), dim=-1)
    return A.masked_fill(~mask, 0.0)
