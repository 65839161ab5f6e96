"""Named mistakes: multi-head attention, what becomes of its heads."""

import torch

from graders.multi_head.pieces import attention, block, mix, project, scores
from reference import multi_head as ref
from softmark import mistake


@mistake(
    ref.multi_head_attention,
    id="H03",
    says="You split and merge by reshape alone: it comes out in the right shape, but heads mix the tokens.",
    hint="Both ways the head axis and the token axis must change places; your parts 1 and 2 do that.",
)
def attention_by_view(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    *batch, m, _ = X_q.shape
    n = X_kv.shape[-2]
    Q = (X_q @ W_Q).reshape(*batch, n_heads, m, -1)
    K = (X_kv @ W_K).reshape(*batch, n_heads, n, -1)
    V = (X_kv @ W_V).reshape(*batch, n_heads, n, -1)
    return (torch.softmax(block(scores(Q, K), mask), dim=-1) @ V).reshape(*batch, m, -1)


@mistake(
    ref.multi_head_attention,
    id="H09",
    says="You cut the tokens into heads before the projection, so each head reads only its own columns of X.",
    hint="Every head projects the whole width; the split comes after the projection.",
)
def attention_splits_before_projecting(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    def own_blocks(X, W):
        rows = torch.arange(X.shape[-1]).unsqueeze(-1) * n_heads // X.shape[-1]
        columns = torch.arange(W.shape[-1]) * n_heads // W.shape[-1]
        return X @ (W * (rows == columns))

    Q = ref.split_heads(own_blocks(X_q, W_Q), n_heads)
    K = ref.split_heads(own_blocks(X_kv, W_K), n_heads)
    V = ref.split_heads(own_blocks(X_kv, W_V), n_heads)
    return mix(block(scores(Q, K), mask), V)


@mistake(
    ref.multi_head_attention,
    id="H10",
    says="You use the weights the other way round, as X Wᵀ, which only fits when they are square.",
    hint="In this homework a weight is (in, out); the transposed form belongs to nn.Linear.",
)
def attention_transposes_weights(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    return attention(X_q, X_kv, W_Q.T, W_K.T, W_V.T, n_heads, mask)


@mistake(
    ref.multi_head_attention,
    id="H18",
    says="You average the heads instead of concatenating them.",
    hint="The result has a block of d_v columns for every head.",
)
def attention_averages_heads(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return (torch.softmax(block(scores(Q, K), mask), dim=-1) @ V).mean(dim=-3)


@mistake(
    ref.multi_head_attention,
    says="You return the heads unmerged, as (…, n_heads, m, d_v).",
    hint="The last step of the formula is missing: the concatenation.",
)
def attention_leaves_heads_apart(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return torch.softmax(block(scores(Q, K), mask), dim=-1) @ V


@mistake(
    ref.multi_head_attention,
    id="H19",
    says="All your heads look the same way: you use the weights of head 0 for every head.",
    hint="Every head has its own block of columns in W_Q and W_K, so it has scores of its own.",
)
def attention_shares_first_heads_weights(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(scores(Q[..., :1, :, :], K[..., :1, :, :]), mask), V)


@mistake(
    ref.multi_head_attention,
    id="H29",
    says="Your scores are summed over the heads, so all heads share one set of weights.",
    hint="The letter of the head axis must appear in the result of the product of queries and keys.",
)
def attention_sums_scores_over_heads(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(scores(Q, K).sum(dim=-3, keepdim=True), mask), V)


@mistake(
    ref.multi_head_attention,
    id="H06",
    says="You fold the heads into the batch in one order and unfold them in the other: examples mix.",
    hint="One example must not change the output of another one; check the order of the folded axes.",
)
def attention_unfolds_in_other_order(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    H = torch.softmax(block(scores(Q, K), mask), dim=-1) @ V
    batch = H.shape[:-3]
    if batch:
        H = H.flatten(0, -3).unflatten(0, (n_heads, *batch)).movedim(0, -3)
    return ref.merge_heads(H)


@mistake(
    ref.multi_head_attention,
    says="You return the weights along with the output.",
    hint="The function returns one tensor, the output.",
)
def attention_returns_weights_too(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    A = torch.softmax(block(scores(Q, K), mask), dim=-1)
    return ref.merge_heads(A @ V), A
