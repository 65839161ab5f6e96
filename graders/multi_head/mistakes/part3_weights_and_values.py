"""Named mistakes: multi-head attention, its softmax, what is mixed with the weights, and who asks whom."""

import torch

from graders.multi_head.pieces import attention, block, mix, project, scores
from reference import multi_head as ref
from softmark import mistake


@mistake(
    ref.multi_head_attention,
    id="S13",
    says="Your softmax runs over the queries: the columns of the weights sum to 1, the rows do not.",
    hint="Each query shares out one unit of attention among the keys, which are the last axis.",
)
def attention_softmax_over_queries(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    A = torch.softmax(block(scores(Q, K), mask), dim=-2).nan_to_num(0.0)
    return ref.merge_heads(A @ V)


@mistake(
    ref.multi_head_attention,
    id="S14",
    says="Your softmax runs over the heads, so the heads compete with each other.",
    hint="Each head has weights of its own that sum to 1 over the keys.",
)
def attention_softmax_over_heads(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    A = torch.softmax(block(scores(Q, K), mask), dim=-3).nan_to_num(0.0)
    return ref.merge_heads(A @ V)


@mistake(
    ref.multi_head_attention,
    says="Your softmax runs along axis 1, which is that of the queries or the heads, depending on the batch.",
    hint="Count axes from the end: the keys are the last one.",
)
def attention_softmax_on_axis_one(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return ref.merge_heads(torch.softmax(block(scores(Q, K), mask), dim=1) @ V)


@mistake(
    ref.multi_head_attention,
    id="S15",
    says="Your softmax runs over the whole score matrix at once, so all rows together sum to 1.",
    hint="Each query has weights of its own, so each row is normalised on its own.",
)
def attention_softmax_over_all(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    S = block(scores(Q, K), mask)
    return ref.merge_heads(torch.softmax(S.flatten(-2), dim=-1).reshape(S.shape) @ V)


@mistake(
    ref.multi_head_attention,
    id="S38",
    says="You use the scores as weights: the softmax is missing.",
    hint="Weights are positive and sum to 1 in every row.",
)
def attention_without_softmax(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return ref.merge_heads(block(scores(Q, K), mask, 0.0) @ V)


@mistake(
    ref.multi_head_attention,
    id="S22",
    says="You mix the keys instead of the values; W_V has no influence on your result.",
    hint="Keys say where to look; what is collected there are the values.",
)
def attention_mixes_keys(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, _ = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(scores(Q, K), mask), K)


@mistake(
    ref.multi_head_attention,
    id="S25",
    says="You multiply the values with the transposed weights: your row i uses column i.",
    hint="Row i of the weights belongs to query i, and so does row i of the result.",
)
def attention_transposes_attention(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    A = torch.softmax(block(scores(Q, K), mask), dim=-1)
    return ref.merge_heads(A.transpose(-1, -2) @ V)


@mistake(
    ref.multi_head_attention,
    id="S39",
    says="You compare queries with queries: your keys have no influence on the weights.",
    hint="A score is the dot product of one query and one key.",
)
def attention_compares_queries(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, _, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(scores(Q, Q), mask), V)


@mistake(
    ref.multi_head_attention,
    says="You use W_K for the queries and W_Q for the keys.",
    hint="Q = X W_Q and K = X W_K; exchanging them transposes the scores of self-attention.",
)
def attention_exchanges_w_q_and_w_k(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    return attention(X_q, X_kv, W_K, W_Q, W_V, n_heads, mask)


@mistake(
    ref.multi_head_attention,
    says="You take keys and values from the tokens that ask, so X_kv has no influence on your result.",
    hint="In cross-attention the queries come from one sequence, keys and values from the other.",
)
def attention_ignores_x_kv(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    mask = mask if mask is not None and mask.shape[-1] in (1, X_q.shape[-2]) else None
    return attention(X_q, X_q, W_Q, W_K, W_V, n_heads, mask)


@mistake(
    ref.multi_head_attention,
    says="You ask from the wrong side: your queries come from X_kv, your keys and values from X_q.",
    hint="The result has one row for every token of X_q, so the queries are made from X_q.",
)
def attention_asks_from_other_side(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    mask = None if mask is None else mask.transpose(-1, -2)
    return attention(X_kv, X_q, W_Q, W_K, W_V, n_heads, mask)


@mistake(
    ref.multi_head_attention,
    says="You compute the softmax in float32, so the dtype of the input is lost.",
    hint="Leave out the conversion, or keep the dtype you were given.",
)
def attention_in_float32(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(scores(Q, K), mask).float(), V.float())
