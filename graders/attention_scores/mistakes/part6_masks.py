"""Wrong solutions of part 6, attention: what is done with the mask, and where there is none."""

import torch

from reference import attention_scores as ref
from softmark import mistake


@mistake(
    ref.attention,
    says="You leave the mask out.",
    hint="If there is a mask, use your part 5.",
)
def attention_ignores_mask(Q, K, V, mask=None):
    A = ref.softmax_rows(ref.scores(Q, K))
    return A @ V, A


@mistake(
    ref.attention,
    says="You ask `if mask`, and a mask of many values is neither true nor false.",
    hint="What you want to know is whether there is a mask: compare with None.",
    id="M23",
)
def attention_if_mask(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.masked_softmax(S, mask) if mask else ref.softmax_rows(S)
    return A @ V, A


@mistake(
    ref.attention,
    says="You pass on the mask the wrong way round.",
    hint="True means that the query may look at the key, here and in part 5.",
    id="M01",
)
def attention_inverted_mask(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, ~mask)
    return A @ V, A


@mistake(
    ref.attention,
    says="You mask the weights after the softmax, so rows with a blocked key sum to less than 1.",
    hint="Mask before the softmax.",
    id="M03",
)
def attention_mask_after_softmax(Q, K, V, mask=None):
    A = ref.softmax_rows(ref.scores(Q, K))
    if mask is not None:
        A = A.masked_fill(~mask, 0.0)
    return A @ V, A


@mistake(
    ref.attention,
    says="You multiply the scores by the mask, so blocked keys have the score 0 and keep a weight.",
    hint="Use your part 5.",
    id="M02",
)
def attention_mask_times_scores(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S if mask is None else S * mask)
    return A @ V, A


@mistake(
    ref.attention,
    says="You add the boolean mask to the scores.",
    hint="Adding True adds 1 and blocks nothing: use your part 5.",
    id="M22",
)
def attention_mask_added(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S if mask is None else S + mask)
    return A @ V, A


@mistake(
    ref.attention,
    says="You hide the future even when no mask is given.",
    hint="Without a mask every query may look at every key, in cross-attention above all.",
    id="M31",
)
def attention_always_causal(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    i = torch.arange(S.shape[-2], device=S.device)[:, None]
    past = torch.arange(S.shape[-1], device=S.device) <= i
    A = ref.masked_softmax(S, past if mask is None else mask & past)
    return A @ V, A


@mistake(
    ref.attention,
    says="You take a causal mask where none is given.",
    hint="mask=None means that every query may look at every key.",
)
def attention_causal_by_default(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.masked_softmax(S, ref.causal_mask(S.shape[-1]) if mask is None else mask)
    return A @ V, A


@mistake(
    ref.attention,
    says="You hide the keys behind position i from query i where no mask is given.",
    hint="mask=None means that every query may look at every key.",
)
def attention_triangle_by_default(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    past = torch.ones(S.shape[-2:], dtype=torch.bool, device=S.device).tril()
    A = ref.masked_softmax(S, past if mask is None else mask)
    return A @ V, A


@mistake(
    ref.attention,
    says="Your weights are masked, but the output is computed from unmasked ones.",
    hint="The output is A V with the very weights you return.",
)
def attention_output_unmasked(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    return ref.softmax_rows(S) @ V, A


@mistake(
    ref.attention,
    says="Your output is masked, but the weights you return are not.",
    hint="Return the weights that the output was computed with.",
)
def attention_weights_unmasked(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    return A @ V, ref.softmax_rows(S)


@mistake(
    ref.attention,
    says="A query that may look nowhere gets the average of the values as its output.",
    hint="The handout gives the rule: weights and output are exactly 0 then.",
)
def attention_blocked_query_average(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    if mask is None:
        A = ref.softmax_rows(S)
        return A @ V, A
    A = ref.masked_softmax(S, mask)
    nowhere = ~mask.any(dim=-1, keepdim=True)
    return torch.where(nowhere, V.mean(dim=-2, keepdim=True), A @ V), A
