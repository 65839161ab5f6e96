"""Named mistakes: multi-head attention, its mask."""

import math

import torch

from graders.multi_head.pieces import attention, block, mix, project, scores
from reference import multi_head as ref
from softmark import mistake


@mistake(
    ref.multi_head_attention,
    id="M01",
    says="You read the mask the other way round: you block what it allows.",
    hint="True means may look; it is the False places that get no weight.",
)
def attention_inverts_mask(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(scores(Q, K), None if mask is None else ~mask, torch.finfo(Q.dtype).min), V)


@mistake(
    ref.multi_head_attention,
    says="You read the mask the other way round, and a row in which everything is allowed becomes NaN.",
    hint="True means may look; it is the False places that get no weight.",
)
def attention_inverts_mask_to_nan(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    return attention(X_q, X_kv, W_Q, W_K, W_V, n_heads, None if mask is None else ~mask)


@mistake(
    ref.multi_head_attention,
    says="You ignore the mask.",
    hint="Blocked keys must have no influence at all on the result.",
)
def attention_ignores_mask(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    return attention(X_q, X_kv, W_Q, W_K, W_V, n_heads, None)


@mistake(
    ref.multi_head_attention,
    id="M02",
    says="You multiply the scores with the mask: a blocked key gets the score 0 and with it some weight.",
    hint="exp(0) is 1; think of the score whose exponential is 0.",
)
def attention_multiplies_scores_with_mask(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(scores(Q, K), mask, 0.0), V)


@mistake(
    ref.multi_head_attention,
    id="M03",
    says="You apply the mask after the softmax, so the rows of weights sum to less than 1.",
    hint="The blocked keys must be out before the row is normalised.",
)
def attention_masks_after_softmax(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return ref.merge_heads(block(torch.softmax(scores(Q, K), dim=-1), mask, 0.0) @ V)


@mistake(
    ref.multi_head_attention,
    id="M05",
    says="You fill blocked scores with -10, which is not low enough: they still get some weight.",
    hint="The fill has to lie below every score that can occur.",
)
def attention_fills_minus_10(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(scores(Q, K), mask, -10.0), V)


@mistake(
    ref.multi_head_attention,
    says="You fill blocked scores with -100, so a query with scores below that looks there all the same.",
    hint="The fill has to lie below every score that can occur.",
)
def attention_fills_minus_100(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(scores(Q, K), mask, -100.0), V)


@mistake(
    ref.multi_head_attention,
    says="You read the mask the other way round: you block what it allows.",
    hint="True means may look.",
)
def attention_inverts_mask_to_zero(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    A = torch.softmax(block(scores(Q, K), None if mask is None else ~mask), dim=-1)
    return ref.merge_heads(torch.nan_to_num(A, nan=0.0) @ V)


@mistake(
    ref.multi_head_attention,
    says="You give the mask its head axis in place 1, which is right for exactly one batch dimension.",
    hint="Count axes from the end: the heads stand in front of queries and keys.",
)
def attention_mask_head_axis_in_place_one(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    S = scores(Q, K)
    return mix(S if mask is None else S.masked_fill(~mask.unsqueeze(1), -math.inf), V)


@mistake(
    ref.multi_head_attention,
    id="M07",
    says="You fill blocked scores with a large positive number, so only the blocked keys are looked at.",
    hint="Check the sign of the fill.",
)
def attention_fills_positive(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(scores(Q, K), mask, 1e9), V)


@mistake(
    ref.multi_head_attention,
    id="M21",
    says="You add the boolean mask to the scores, where True counts as 1: nothing is blocked.",
    hint="A mask that is added must be 0 where looking is allowed and -∞ where it is not.",
)
def attention_adds_boolean_mask(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(scores(Q, K) + (0 if mask is None else mask.unsqueeze(-3)), V)


@mistake(
    ref.multi_head_attention,
    id="M15",
    says="You apply the mask transposed: queries are blocked where keys should be.",
    hint="Rows of the mask are queries, columns are keys, as in the score matrix.",
)
def attention_transposes_mask(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    lowest = torch.finfo(Q.dtype).min
    return mix(block(scores(Q, K), None if mask is None else mask.transpose(-1, -2), lowest), V)


@mistake(
    ref.multi_head_attention,
    id="M18",
    says="Your mask has no head axis, so its batch axis meets the heads: head i gets the mask of example i.",
    hint="The mask needs an axis of length 1 where the scores have the heads.",
)
def attention_mask_without_head_axis(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    S = scores(Q, K)
    return mix(S if mask is None else S.masked_fill(~mask, -math.inf), V)


@mistake(
    ref.multi_head_attention,
    id="M17",
    says="You repeat the mask in the wrong order for the folded heads, so examples get others' masks.",
    hint="Where the batch index is the slower one, the copies of one mask must stand next to each other.",
)
def attention_tiles_mask(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    S = scores(Q, K)
    if mask is None:
        return mix(S, V)
    folded = mask.expand(*S.shape[:-3], *S.shape[-2:]).reshape(-1, *S.shape[-2:])
    tiled = folded.repeat(n_heads, 1, 1).reshape(S.shape)
    return mix(S.masked_fill(~tiled, -math.inf), V)


@mistake(
    ref.multi_head_attention,
    says="Only your first head obeys the mask.",
    hint="The mask holds for every head.",
)
def attention_masks_first_head_only(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    S = scores(Q, K)
    return mix(torch.cat([block(S[..., :1, :, :], mask), S[..., 1:, :, :]], dim=-3), V)


@mistake(
    ref.multi_head_attention,
    says="You use the mask of the first example for the whole batch.",
    hint="A mask with batch dimensions has a matrix for every example.",
)
def attention_uses_first_mask(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    while mask is not None and mask.dim() > 2:
        mask = mask[0]
    return attention(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask)


@mistake(
    ref.multi_head_attention,
    id="M10",
    says="You block the diagonal on top of the mask: no token may look at itself.",
    hint="Self-attention includes the token itself; only the mask decides who may look where.",
)
def attention_blocks_diagonal(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    S = block(scores(Q, K), mask)
    own = torch.eye(*S.shape[-2:], dtype=torch.bool)
    return mix(S.masked_fill(own, torch.finfo(S.dtype).min), V)


@mistake(
    ref.multi_head_attention,
    id="M31",
    says="You block the future although no mask asks for it.",
    hint="Without a mask every query may look at every key.",
)
def attention_always_causal(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    past = torch.ones(X_q.shape[-2], X_kv.shape[-2], dtype=torch.bool).tril()
    return attention(X_q, X_kv, W_Q, W_K, W_V, n_heads, past if mask is None else mask & past)


@mistake(
    ref.multi_head_attention,
    id="M26",
    says="You invert the mask in place, so the caller's mask is changed and the next call gets the opposite.",
    hint="Make a new tensor from the mask and leave the one you were given as it is.",
)
def attention_inverts_mask_in_place(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    S = scores(Q, K)
    if mask is not None:
        S = S.masked_fill(mask.logical_not_().unsqueeze(-3), -math.inf)
    return mix(S, V)
