"""Named mistakes: multi-head attention. Each is one wrong idea, with the words a student gets for it."""

import math

import torch
from torch import nn

from reference import multi_head as ref
from softmark.verdict import mistake

# --- what the variants share: the right pieces, so that each variant shows its one wrong line -----


def project(X_q, X_kv, W_Q, W_K, W_V, n_heads):
    """Q, K and V of every head, as the solution makes them."""
    Q = ref.split_heads(X_q @ W_Q, n_heads)
    K = ref.split_heads(X_kv @ W_K, n_heads)
    V = ref.split_heads(X_kv @ W_V, n_heads)
    return Q, K, V


def scores(Q, K):
    """Q Kᵀ / √d_k."""
    return Q @ K.transpose(-1, -2) / math.sqrt(K.shape[-1])


def block(S, mask, fill=-math.inf):
    """The scores with the blocked keys filled."""
    return S if mask is None else S.masked_fill(~mask.unsqueeze(-3), fill)


def mix(S, V):
    """softmax(S) V, heads concatenated."""
    return ref.merge_heads(torch.softmax(S, dim=-1) @ V)


def attention(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask):
    """Part 3 as it should be."""
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(scores(Q, K), mask), V)


def packed(module, X_q, X_kv):
    """Q, K and V of the module of part 4, full width."""
    X_kv = X_q if X_kv is None else X_kv
    W_q, W_k, W_v = module.in_proj_weight.chunk(3)
    b_q, b_k, b_v = module.in_proj_bias.chunk(3)
    return X_q @ W_q.T + b_q, X_kv @ W_k.T + b_k, X_kv @ W_v.T + b_v


def attend(Q, K, V, n_heads, mask):
    """Right attention of full-width Q, K, V, heads concatenated."""
    Q, K, V = ref.split_heads(Q, n_heads), ref.split_heads(K, n_heads), ref.split_heads(V, n_heads)
    return mix(block(scores(Q, K), mask), V)


# --- part 1: split_heads --------------------------------------------------------------------------


@mistake(
    ref.split_heads,
    id="H01",
    says="You reshape straight to (…, n_heads, T, d_head), so your heads hold pieces of different tokens.",
    hint="Cut every row into (n_heads, d_head) first, then move the head axis in front of the tokens.",
)
def split_by_view(X, n_heads):
    *batch, T, D = X.shape
    if D % n_heads != 0:
        raise ValueError("the width does not divide")
    return X.reshape(*batch, n_heads, T, D // n_heads)


@mistake(
    ref.split_heads,
    id="H05",
    says="Your heads take every n_heads-th feature: you cut a row as (d_head, n_heads).",
    hint="A head is a block of neighbouring features, so the head index is the slower one of the two.",
)
def split_interleaved(X, n_heads):
    D = X.shape[-1]
    if D % n_heads != 0:
        raise ValueError("the width does not divide")
    return X.unflatten(-1, (D // n_heads, n_heads)).movedim(-1, -3)


@mistake(
    ref.split_heads,
    id="H14",
    says="You round d_head down and drop the features that are left over when the width does not divide.",
    hint="Look at the remainder before you divide, and refuse a width that leaves one.",
)
def split_drops_the_rest(X, n_heads):
    d_head = X.shape[-1] // n_heads
    return X[..., : n_heads * d_head].unflatten(-1, (n_heads, d_head)).transpose(-3, -2)


@mistake(
    ref.split_heads,
    says="You let reshape fail on a width that does not divide: that is a RuntimeError, no ValueError.",
    hint="Check the remainder yourself, before you reshape, and raise the exception that the handout names.",
)
def split_lets_reshape_fail(X, n_heads):
    return X.reshape(*X.shape[:-1], n_heads, -1).transpose(-3, -2)


@mistake(
    ref.split_heads,
    says="You check the width with assert, which raises an AssertionError and is switched off by python -O.",
    hint="An argument that cannot be used is reported with the exception that the handout names.",
)
def split_asserts(X, n_heads):
    assert X.shape[-1] % n_heads == 0, "the width does not divide"
    return X.unflatten(-1, (n_heads, X.shape[-1] // n_heads)).transpose(-3, -2)


@mistake(
    ref.split_heads,
    id="H23",
    says="Your head axis stands behind the tokens, as (…, T, n_heads, d_head).",
    hint="One step is missing after the cut: the head axis has to change places with the token axis.",
)
def split_keeps_tokens_first(X, n_heads):
    D = X.shape[-1]
    if D % n_heads != 0:
        raise ValueError("the width does not divide")
    return X.unflatten(-1, (n_heads, D // n_heads))


@mistake(
    ref.split_heads,
    says="Your head axis is the very first one, in front of the batch.",
    hint="The batch dimensions stay in front; the head axis stands directly before the tokens.",
)
def split_heads_before_batch(X, n_heads):
    D = X.shape[-1]
    if D % n_heads != 0:
        raise ValueError("the width does not divide")
    return X.unflatten(-1, (n_heads, D // n_heads)).movedim(-2, 0)


@mistake(
    ref.split_heads,
    id="H22",
    says="You take n_heads as the width of a head, so you get D / n_heads heads of that width.",
    hint="n_heads counts the heads; their width follows from it.",
)
def split_takes_count_for_width(X, n_heads):
    if X.shape[-1] % n_heads != 0:
        raise ValueError("the width does not divide")
    return X.unflatten(-1, (X.shape[-1] // n_heads, n_heads)).transpose(-3, -2)


@mistake(
    ref.split_heads,
    says="Each of your heads is transposed: (d_head, T) where (T, d_head) is asked.",
    hint="Tokens are rows inside a head too; only the head axis moves.",
)
def split_transposes_heads(X, n_heads):
    D = X.shape[-1]
    if D % n_heads != 0:
        raise ValueError("the width does not divide")
    return X.unflatten(-1, (n_heads, D // n_heads)).movedim(-3, -1)


@mistake(
    ref.split_heads,
    id="H15",
    says="Every one of your heads gets the full width instead of its own block of it.",
    hint="The heads share the width: together they have D features, not each.",
)
def split_repeats_full_width(X, n_heads):
    if X.shape[-1] % n_heads != 0:
        raise ValueError("the width does not divide")
    return torch.stack([X] * n_heads, dim=-3)


@mistake(
    ref.split_heads,
    says="You count axes from the front, which is right for exactly one batch dimension.",
    hint="Name the axes from the end, then it does not matter how many batch dimensions there are.",
)
def split_counts_axes_from_front(X, n_heads):
    D = X.shape[-1]
    if D % n_heads != 0:
        raise ValueError("the width does not divide")
    return X.unflatten(-1, (n_heads, D // n_heads)).transpose(1, 2)


@mistake(
    ref.split_heads,
    id="H26",
    says="You press all batch dimensions into one, so the result always has four axes.",
    hint="What stands before the tokens in the input must stand before the heads in the result.",
)
def split_flattens_batch(X, n_heads):
    T, D = X.shape[-2:]
    if D % n_heads != 0:
        raise ValueError("the width does not divide")
    return X.reshape(-1, T, n_heads, D // n_heads).transpose(1, 2)


@mistake(
    ref.split_heads,
    id="H13",
    says="You cut the sequence into n_heads stretches of tokens instead of cutting the features.",
    hint="Every head sees all tokens; what is shared out is the last axis.",
)
def split_cuts_tokens(X, n_heads):
    *batch, T, D = X.shape
    if D % n_heads != 0:
        raise ValueError("the width does not divide")
    return X.reshape(*batch, n_heads, T // n_heads, D)


@mistake(
    ref.split_heads,
    says="You copy into a new float32 tensor, so the dtype of the input is lost.",
    hint="Rearranging needs no new tensor; if you make one, make it with the dtype and device of the input.",
)
def split_into_float32(X, n_heads):
    *batch, T, D = X.shape
    if D % n_heads != 0:
        raise ValueError("the width does not divide")
    H = torch.zeros(*batch, n_heads, T, D // n_heads)
    H[...] = X.unflatten(-1, (n_heads, D // n_heads)).transpose(-3, -2)
    return H


@mistake(
    ref.split_heads,
    says="You cut the result off from the input, so no gradient flows back through the heads.",
    hint="Stay with operations on the tensor; detach, .data, numpy and torch.tensor lose the gradient.",
)
def split_detaches(X, n_heads):
    D = X.shape[-1]
    if D % n_heads != 0:
        raise ValueError("the width does not divide")
    return X.detach().unflatten(-1, (n_heads, D // n_heads)).transpose(-3, -2)


# --- part 2: merge_heads --------------------------------------------------------------------------


@mistake(
    ref.merge_heads,
    id="H02",
    says="You reshape without moving the head axis back first, so a row holds features of different tokens.",
    hint="The tokens must stand before the heads again when you join the last two axes.",
)
def merge_by_view(H):
    *batch, n_heads, T, d_head = H.shape
    return H.reshape(*batch, T, n_heads * d_head)


@mistake(
    ref.merge_heads,
    id="H05",
    says="You merge as (d_head, n_heads): the features of the heads alternate instead of standing in blocks.",
    hint="All features of head 0 come first, then all of head 1, so the head index is the slower one.",
)
def merge_interleaved(H):
    return H.movedim(-3, -1).flatten(-2)


@mistake(
    ref.merge_heads,
    id="H18",
    says="You average the heads, so the result has the width of a single head.",
    hint="Concatenating keeps what every head found; nothing is added up.",
)
def merge_averages(H):
    return H.mean(dim=-3)


@mistake(
    ref.merge_heads,
    says="You add the heads up, so the result has the width of a single head.",
    hint="Concatenating keeps what every head found; nothing is added up.",
)
def merge_sums(H):
    return H.sum(dim=-3)


@mistake(
    ref.merge_heads,
    says="You exchange the tokens with the features of a head instead of with the heads.",
    hint="Write down every shape: before the last two axes are joined it is (…, T, n_heads, d_head).",
)
def merge_swaps_wrong_axes(H):
    *batch, n_heads, T, d_head = H.shape
    return H.transpose(-1, -2).reshape(*batch, T, n_heads * d_head)


@mistake(
    ref.merge_heads,
    says="You move the head axis but do not join it with the features: there is one axis too many.",
    hint="The last two axes, heads and features, become one.",
)
def merge_keeps_head_axis(H):
    return H.transpose(-3, -2)


@mistake(
    ref.merge_heads,
    says="You put the heads one below the other, as more tokens, instead of side by side.",
    hint="The number of tokens stays; it is the width that grows.",
)
def merge_along_tokens(H):
    return H.flatten(-3, -2)


@mistake(
    ref.merge_heads,
    says="Only the last head is in your result.",
    hint="If you go through the heads one by one, look at what is left of the earlier ones at the end.",
)
def merge_keeps_last_head(H):
    return H[..., -1, :, :]


@mistake(
    ref.merge_heads,
    says="Every block of your result is the first head.",
    hint="Block i of the width belongs to head i.",
)
def merge_repeats_first_head(H):
    return torch.cat([H[..., 0, :, :]] * H.shape[-3], dim=-1)


@mistake(
    ref.merge_heads,
    says="You concatenate the heads from the last to the first.",
    hint="Head 0 comes first.",
)
def merge_reversed(H):
    return torch.cat(H.unbind(-3)[::-1], dim=-1)


@mistake(
    ref.merge_heads,
    says="You count axes from the front, which is right for exactly one batch dimension.",
    hint="Name the axes from the end, then it does not matter how many batch dimensions there are.",
)
def merge_counts_axes_from_front(H):
    return H.transpose(1, 2).flatten(-2)


@mistake(
    ref.merge_heads,
    id="H26",
    says="You press all batch dimensions into one, so the result always has three axes.",
    hint="What stands before the heads in the input must stand before the tokens in the result.",
)
def merge_flattens_batch(H):
    n_heads, T, d_head = H.shape[-3:]
    return H.transpose(-3, -2).reshape(-1, T, n_heads * d_head)


@mistake(
    ref.merge_heads,
    says="You copy into a new float32 tensor, so the dtype of the input is lost.",
    hint="Rearranging needs no new tensor; if you make one, make it with the dtype and device of the input.",
)
def merge_into_float32(H):
    *batch, n_heads, T, d_head = H.shape
    Y = torch.zeros(*batch, T, n_heads * d_head)
    Y[...] = H.transpose(-3, -2).flatten(-2)
    return Y


@mistake(
    ref.merge_heads,
    says="You cut the result off from the input, so no gradient flows back into the heads.",
    hint="Stay with operations on the tensor; detach, .data, numpy and torch.tensor lose the gradient.",
)
def merge_detaches(H):
    return H.detach().transpose(-3, -2).flatten(-2)


# --- part 3: multi_head_attention, the heads ------------------------------------------------------


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


# --- part 3: scores, weights, values --------------------------------------------------------------


@mistake(
    ref.multi_head_attention,
    id="S01",
    says="Your scores are not scaled: they are √d_k times too large.",
    hint="Divide by the square root of the width of a key of one head.",
)
def attention_without_scale(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(Q @ K.transpose(-1, -2), mask), V)


@mistake(
    ref.multi_head_attention,
    id="S02",
    says="You divide the scores by d_k itself, without the square root.",
    hint="One of the lectures leaves the root out; the handout says which form is meant.",
)
def attention_over_d_k(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(Q @ K.transpose(-1, -2) / K.shape[-1], mask), V)


@mistake(
    ref.multi_head_attention,
    id="S03",
    says="You scale with the width of all heads together, so your scores are √n_heads too small.",
    hint="d_k is the width of a key inside one head: take it after the split.",
)
def attention_scales_by_all_heads(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(Q @ K.transpose(-1, -2) / math.sqrt(W_K.shape[-1]), mask), V)


@mistake(
    ref.multi_head_attention,
    says="You scale with the width of the tokens that ask, not with the width of a key.",
    hint="The scale belongs to the vectors whose dot product is taken, after projection and split.",
)
def attention_scales_by_token_width(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(Q @ K.transpose(-1, -2) / math.sqrt(X_q.shape[-1]), mask), V)


@mistake(
    ref.multi_head_attention,
    says="You scale with D_q / n_heads, as if a key were as wide as a head's share of a token.",
    hint="W_K decides how wide a key is: read the width after projection and split.",
)
def attention_scales_by_share_of_token(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(Q @ K.transpose(-1, -2) / math.sqrt(X_q.shape[-1] // n_heads), mask), V)


@mistake(
    ref.multi_head_attention,
    says="You scale with D_kv / n_heads, as if a key were as wide as a head's share of a token.",
    hint="W_K decides how wide a key is: read the width after projection and split.",
)
def attention_scales_by_share_of_asked_token(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(Q @ K.transpose(-1, -2) / math.sqrt(X_kv.shape[-1] // n_heads), mask), V)


@mistake(
    ref.multi_head_attention,
    id="S05",
    says="You multiply the scores by √d_k where they are to be divided by it.",
    hint="Wide keys make large dot products; the scale has to make them smaller.",
)
def attention_multiplies_by_scale(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(Q @ K.transpose(-1, -2) * math.sqrt(K.shape[-1]), mask), V)


@mistake(
    ref.multi_head_attention,
    id="S06",
    says="You scale after the softmax, so your rows of weights do not sum to 1.",
    hint="The scale belongs to the scores, inside the softmax.",
)
def attention_scales_after_softmax(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(Q @ K.transpose(-1, -2), mask), V) / math.sqrt(K.shape[-1])


@mistake(
    ref.multi_head_attention,
    id="S07",
    says="You scale with the number of keys instead of the width of a key.",
    hint="Look at which axis of K you read the size from.",
)
def attention_scales_by_length(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(Q @ K.transpose(-1, -2) / math.sqrt(K.shape[-2]), mask), V)


@mistake(
    ref.multi_head_attention,
    says="You scale with the number of heads instead of the width of a key.",
    hint="Look at which axis of K you read the size from.",
)
def attention_scales_by_heads(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(Q @ K.transpose(-1, -2) / math.sqrt(n_heads), mask), V)


@mistake(
    ref.multi_head_attention,
    id="S29",
    says="You scale with the width of a value instead of the width of a key.",
    hint="d_k and d_v may differ; the scale belongs to the dot product of query and key.",
)
def attention_scales_by_value_width(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(Q @ K.transpose(-1, -2) / math.sqrt(V.shape[-1]), mask), V)


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
    id="S34",
    says="You scale X_q in place, which changes the tensor that the caller gave you.",
    hint="Operations whose name ends in an underscore, and /= too, work on the caller's tensor.",
)
def attention_scales_input_in_place(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    X_q.data.div_(math.sqrt(K.shape[-1]))
    return mix(block(scores(Q, K), mask), V)


@mistake(
    ref.multi_head_attention,
    says="You compute the softmax in float32, so the dtype of the input is lost.",
    hint="Leave out the conversion, or keep the dtype you were given.",
)
def attention_in_float32(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    return mix(block(scores(Q, K), mask).float(), V.float())


# --- part 3: masks --------------------------------------------------------------------------------


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


# --- part 4: the module, parameters ---------------------------------------------------------------


@mistake(
    ref.MultiHeadAttention.__init__,
    id="H14",
    says="Your module takes a d_model that its heads do not divide.",
    hint="Check it where the module is made, so that nobody finds out only when it is called.",
)
def module_without_check(self, d_model, n_heads):
    nn.Module.__init__(self)
    self.n_heads = n_heads
    self.in_proj_weight = nn.Parameter(torch.randn(3 * d_model, d_model))
    self.in_proj_bias = nn.Parameter(torch.zeros(3 * d_model))
    self.out_proj = nn.Linear(d_model, d_model)


@mistake(
    ref.MultiHeadAttention,
    says="You keep four separate linear layers, so PyTorch's packed weights find no place in your module.",
    hint="Queries, keys and values share one weight and one bias; the handout lists names and shapes.",
)
class ModuleWithFourLayers(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("the width does not divide")
        self.n_heads = n_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, X_q, X_kv=None, mask=None):
        X_kv = X_q if X_kv is None else X_kv
        Q, K, V = self.q_proj(X_q), self.k_proj(X_kv), self.v_proj(X_kv)
        return self.out_proj(attend(Q, K, V, self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention,
    says="Your output projection has no bias.",
    hint="The handout lists four parameters; out_proj has two of them.",
)
class ModuleWithoutOutputBias(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("the width does not divide")
        self.n_heads = n_heads
        self.in_proj_weight = nn.Parameter(torch.randn(3 * d_model, d_model))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * d_model))
        self.out_proj = nn.Linear(d_model, d_model, bias=False)

    def forward(self, X_q, X_kv=None, mask=None):
        return self.out_proj(attend(*packed(self, X_q, X_kv), self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention,
    says="Your in_proj_weight is (in, out); PyTorch keeps it the other way round, as (3D, D).",
    hint="This part follows PyTorch's layout, unlike parts 1 to 3.",
)
class ModuleWithInOutLayout(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("the width does not divide")
        self.n_heads = n_heads
        self.in_proj_weight = nn.Parameter(torch.randn(d_model, 3 * d_model))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * d_model))
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, X_q, X_kv=None, mask=None):
        X_kv = X_q if X_kv is None else X_kv
        Q = (X_q @ self.in_proj_weight + self.in_proj_bias).chunk(3, dim=-1)[0]
        K, V = (X_kv @ self.in_proj_weight + self.in_proj_bias).chunk(3, dim=-1)[1:]
        return self.out_proj(attend(Q, K, V, self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention,
    id="H33",
    says="Your packed weight is a plain tensor, so the module does not know it as a parameter.",
    hint="Only an nn.Parameter or a submodule is found by parameters() and load_state_dict.",
)
class ModuleWithPlainTensors(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("the width does not divide")
        self.n_heads = n_heads
        self.in_proj_weight = torch.randn(3 * d_model, d_model)
        self.in_proj_bias = torch.zeros(3 * d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, X_q, X_kv=None, mask=None):
        return self.out_proj(attend(*packed(self, X_q, X_kv), self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention,
    says="Your module has parameters that nn.MultiheadAttention does not have.",
    hint="The handout lists four parameters and there are no others.",
)
class ModuleWithExtraParameter(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads != 0:
            raise ValueError("the width does not divide")
        self.n_heads = n_heads
        self.in_proj_weight = nn.Parameter(torch.randn(3 * d_model, d_model))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * d_model))
        self.out_proj = nn.Linear(d_model, d_model)
        self.scale = nn.Parameter(torch.tensor(float(d_model // n_heads)).rsqrt())

    def forward(self, X_q, X_kv=None, mask=None):
        return self.out_proj(attend(*packed(self, X_q, X_kv), self.n_heads, mask))


# --- part 4: the module, forward ------------------------------------------------------------------


@mistake(
    ref.MultiHeadAttention.forward,
    id="H11",
    says="You unpack in_proj_weight as keys, queries, values.",
    hint="The handout gives the order of the three blocks.",
)
def module_unpacks_k_q_v(self, X_q, X_kv=None, mask=None):
    X_kv = X_q if X_kv is None else X_kv
    W_k, W_q, W_v = self.in_proj_weight.chunk(3)
    b_k, b_q, b_v = self.in_proj_bias.chunk(3)
    H = attend(X_q @ W_q.T + b_q, X_kv @ W_k.T + b_k, X_kv @ W_v.T + b_v, self.n_heads, mask)
    return self.out_proj(H)


@mistake(
    ref.MultiHeadAttention.forward,
    says="You unpack in_proj_weight as queries, values, keys.",
    hint="The handout gives the order of the three blocks.",
)
def module_unpacks_q_v_k(self, X_q, X_kv=None, mask=None):
    X_kv = X_q if X_kv is None else X_kv
    W_q, W_v, W_k = self.in_proj_weight.chunk(3)
    b_q, b_v, b_k = self.in_proj_bias.chunk(3)
    H = attend(X_q @ W_q.T + b_q, X_kv @ W_k.T + b_k, X_kv @ W_v.T + b_v, self.n_heads, mask)
    return self.out_proj(H)


@mistake(
    ref.MultiHeadAttention.forward,
    says="You unpack in_proj_weight head by head, as (n_heads, 3, d_head).",
    hint="The three blocks Q, K, V are the slowest index; the heads come inside each of them.",
)
def module_unpacks_head_by_head(self, X_q, X_kv=None, mask=None):
    X_kv = X_q if X_kv is None else X_kv
    W_q, W_k, W_v = self.in_proj_weight.unflatten(0, (self.n_heads, 3, -1)).transpose(0, 1).flatten(1, 2)
    b_q, b_k, b_v = self.in_proj_bias.unflatten(0, (self.n_heads, 3, -1)).transpose(0, 1).flatten(1)
    H = attend(X_q @ W_q.T + b_q, X_kv @ W_k.T + b_k, X_kv @ W_v.T + b_v, self.n_heads, mask)
    return self.out_proj(H)


@mistake(
    ref.MultiHeadAttention.forward,
    says="You multiply with the blocks of in_proj_weight without transposing them.",
    hint="PyTorch keeps a weight as (out, in), and your tokens are rows.",
)
def module_does_not_transpose_in_proj(self, X_q, X_kv=None, mask=None):
    X_kv = X_q if X_kv is None else X_kv
    W_q, W_k, W_v = self.in_proj_weight.chunk(3)
    b_q, b_k, b_v = self.in_proj_bias.chunk(3)
    H = attend(X_q @ W_q + b_q, X_kv @ W_k + b_k, X_kv @ W_v + b_v, self.n_heads, mask)
    return self.out_proj(H)


@mistake(
    ref.MultiHeadAttention.forward,
    says="You multiply with out_proj.weight without transposing it.",
    hint="PyTorch keeps a weight as (out, in); calling the layer does it right.",
)
def module_does_not_transpose_out_proj(self, X_q, X_kv=None, mask=None):
    H = attend(*packed(self, X_q, X_kv), self.n_heads, mask)
    return H @ self.out_proj.weight + self.out_proj.bias


@mistake(
    ref.MultiHeadAttention.forward,
    says="You leave out in_proj_bias.",
    hint="Queries, keys and values each get their own third of it.",
)
def module_without_input_biases(self, X_q, X_kv=None, mask=None):
    X_kv = X_q if X_kv is None else X_kv
    W_q, W_k, W_v = self.in_proj_weight.chunk(3)
    return self.out_proj(attend(X_q @ W_q.T, X_kv @ W_k.T, X_kv @ W_v.T, self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention.forward,
    id="S31",
    says="Your queries get no bias.",
    hint="The first third of in_proj_bias belongs to them.",
)
def module_without_query_bias(self, X_q, X_kv=None, mask=None):
    Q, K, V = packed(self, X_q, X_kv)
    return self.out_proj(attend(Q - self.in_proj_bias.chunk(3)[0], K, V, self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your values get no bias.",
    hint="The last third of in_proj_bias belongs to them.",
)
def module_without_value_bias(self, X_q, X_kv=None, mask=None):
    Q, K, V = packed(self, X_q, X_kv)
    return self.out_proj(attend(Q, K, V - self.in_proj_bias.chunk(3)[2], self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention.forward,
    says="You leave out the bias of the output projection.",
    hint="out_proj has a weight and a bias.",
)
def module_without_output_bias(self, X_q, X_kv=None, mask=None):
    return attend(*packed(self, X_q, X_kv), self.n_heads, mask) @ self.out_proj.weight.T


@mistake(
    ref.MultiHeadAttention.forward,
    says="You return the concatenated heads: the output projection is missing.",
    hint="This part has one more step than part 3.",
)
def module_without_output_projection(self, X_q, X_kv=None, mask=None):
    return attend(*packed(self, X_q, X_kv), self.n_heads, mask)


@mistake(
    ref.MultiHeadAttention.forward,
    id="H17",
    says="You project every head on its own with the same block of out_proj and add up.",
    hint="Concatenate first; then one projection of the full width mixes all heads.",
)
def module_projects_each_head(self, X_q, X_kv=None, mask=None):
    H = ref.split_heads(attend(*packed(self, X_q, X_kv), self.n_heads, mask), self.n_heads)
    W_o = self.out_proj.weight[:, : H.shape[-1]]
    return (H @ W_o.T).sum(dim=-3) + self.out_proj.bias


@mistake(
    ref.MultiHeadAttention.forward,
    id="H05",
    says="You put the heads together as (d_head, n_heads) before the output projection.",
    hint="out_proj expects all features of head 0 first, then those of head 1.",
)
def module_merges_interleaved(self, X_q, X_kv=None, mask=None):
    H = attend(*packed(self, X_q, X_kv), self.n_heads, mask)
    return self.out_proj(H.unflatten(-1, (self.n_heads, -1)).transpose(-1, -2).flatten(-2))


@mistake(
    ref.MultiHeadAttention.forward,
    id="S01",
    says="Your module does not scale the scores.",
    hint="Divide by the square root of the width of a key of one head.",
)
def module_without_scale(self, X_q, X_kv=None, mask=None):
    Q, K, V = packed(self, X_q, X_kv)
    d_k = K.shape[-1] // self.n_heads
    return self.out_proj(attend(Q * math.sqrt(d_k), K, V, self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention.forward,
    id="S03",
    says="Your module scales by √d_model; the width of a key is d_model / n_heads.",
    hint="d_k is the width of a key inside one head: take it after the split.",
)
def module_scales_by_d_model(self, X_q, X_kv=None, mask=None):
    Q, K, V = packed(self, X_q, X_kv)
    return self.out_proj(attend(Q / math.sqrt(self.n_heads), K, V, self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module always attends to X_q itself; X_kv has no influence.",
    hint="Only when X_kv is None do keys and values come from X_q.",
)
def module_ignores_x_kv(self, X_q, X_kv=None, mask=None):
    mask = mask if mask is not None and mask.shape[-1] in (1, X_q.shape[-2]) else None
    return self.out_proj(attend(*packed(self, X_q, None), self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention.forward,
    id="M01",
    says="Your module takes the mask as PyTorch's module does, True = blocked.",
    hint="In this course True means may look, in this part too.",
)
def module_inverts_mask(self, X_q, X_kv=None, mask=None):
    Q, K, V = (ref.split_heads(Y, self.n_heads) for Y in packed(self, X_q, X_kv))
    allowed = None if mask is None else ~mask
    return self.out_proj(mix(block(scores(Q, K), allowed, torch.finfo(Q.dtype).min), V))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module takes the mask as PyTorch's module does, True = blocked, and some rows become NaN.",
    hint="In this course True means may look, in this part too.",
)
def module_inverts_mask_to_nan(self, X_q, X_kv=None, mask=None):
    Q, K, V = (ref.split_heads(Y, self.n_heads) for Y in packed(self, X_q, X_kv))
    return self.out_proj(mix(block(scores(Q, K), None if mask is None else ~mask), V))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module always attends to X_q itself; X_kv has no influence, and its mask does not fit.",
    hint="Only when X_kv is None do keys and values come from X_q.",
)
def module_replaces_x_kv(self, X_q, X_kv=None, mask=None):
    return self.out_proj(attend(*packed(self, X_q, None), self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module takes the mask as PyTorch's module does, True = blocked.",
    hint="In this course True means may look, as in scaled_dot_product_attention.",
)
def module_inverts_mask_to_zero(self, X_q, X_kv=None, mask=None):
    Q, K, V = (ref.split_heads(Y, self.n_heads) for Y in packed(self, X_q, X_kv))
    A = torch.softmax(block(scores(Q, K), None if mask is None else ~mask), dim=-1)
    return self.out_proj(ref.merge_heads(torch.nan_to_num(A, nan=0.0) @ V))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module is always causal, and ignores the mask.",
    hint="mask=None means that every query may look at every key; look for is_causal.",
)
def module_always_causal(self, X_q, X_kv=None, mask=None):
    Q, K, V = packed(self, X_q, X_kv)
    past = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool, device=Q.device).tril()
    return self.out_proj(attend(Q, K, V, self.n_heads, past))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module is causal where no mask is given.",
    hint="mask=None means that every query may look at every key; look for is_causal.",
)
def module_causal_by_default(self, X_q, X_kv=None, mask=None):
    Q, K, V = packed(self, X_q, X_kv)
    past = torch.ones(Q.shape[-2], K.shape[-2], dtype=torch.bool, device=Q.device).tril()
    return self.out_proj(attend(Q, K, V, self.n_heads, past if mask is None else mask))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module multiplies the scores with the mask: a blocked key gets the score 0 and with it some weight.",
    hint="exp(0) is 1; a blocked score has to go to -∞.",
)
def module_multiplies_scores_with_mask(self, X_q, X_kv=None, mask=None):
    Q, K, V = (ref.split_heads(Y, self.n_heads) for Y in packed(self, X_q, X_kv))
    S = scores(Q, K)
    return self.out_proj(mix(S if mask is None else S * mask.unsqueeze(-3), V))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module applies the mask after the softmax, so the rows of weights sum to less than 1.",
    hint="Block before the softmax, so that the allowed keys share the whole attention.",
)
def module_masks_after_softmax(self, X_q, X_kv=None, mask=None):
    Q, K, V = (ref.split_heads(Y, self.n_heads) for Y in packed(self, X_q, X_kv))
    A = torch.softmax(scores(Q, K), dim=-1)
    return self.out_proj(ref.merge_heads((A if mask is None else A * mask.unsqueeze(-3)) @ V))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module ignores the mask.",
    hint="Blocked keys must have no influence at all on the result.",
)
def module_ignores_mask(self, X_q, X_kv=None, mask=None):
    return self.out_proj(attend(*packed(self, X_q, X_kv), self.n_heads, None))


@mistake(
    ref.MultiHeadAttention.forward,
    id="M18",
    says="Your module's mask has no head axis: head i gets the mask of example i.",
    hint="The mask needs an axis of length 1 where the scores have the heads.",
)
def module_mask_without_head_axis(self, X_q, X_kv=None, mask=None):
    Q, K, V = (ref.split_heads(Y, self.n_heads) for Y in packed(self, X_q, X_kv))
    S = scores(Q, K)
    return self.out_proj(mix(S if mask is None else S.masked_fill(~mask, -math.inf), V))


@mistake(
    ref.MultiHeadAttention.forward,
    says="You add X_q to the result: the residual connection belongs to the block around this layer.",
    hint="Return what the output projection gives, nothing else.",
)
def module_adds_residual(self, X_q, X_kv=None, mask=None):
    return X_q + self.out_proj(attend(*packed(self, X_q, X_kv), self.n_heads, mask))


@mistake(
    ref.MultiHeadAttention.forward,
    says="You return a tuple as nn.MultiheadAttention does; here it is the output alone.",
    hint="The handout says what forward returns.",
)
def module_returns_tuple(self, X_q, X_kv=None, mask=None):
    return self.out_proj(attend(*packed(self, X_q, X_kv), self.n_heads, mask)), None


@mistake(
    ref.MultiHeadAttention.forward,
    id="S41",
    says="Your module scales its own weights in place, so the second call gives another result.",
    hint="A forward pass leaves the parameters as they are; scale what you compute from them.",
)
def module_scales_weights_in_place(self, X_q, X_kv=None, mask=None):
    result = self.out_proj(attend(*packed(self, X_q, X_kv), self.n_heads, mask))
    self.in_proj_weight.data.mul_(0.5)
    return result


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module uses .data of its packed weight, so no gradient reaches in_proj_weight.",
    hint="Use the parameters themselves; the optimiser needs their gradients.",
)
def module_detaches_weights(self, X_q, X_kv=None, mask=None):
    X_kv = X_q if X_kv is None else X_kv
    W_q, W_k, W_v = self.in_proj_weight.data.chunk(3)
    b_q, b_k, b_v = self.in_proj_bias.chunk(3)
    H = attend(X_q @ W_q.T + b_q, X_kv @ W_k.T + b_k, X_kv @ W_v.T + b_v, self.n_heads, mask)
    return self.out_proj(H)


# --- part 5: right numbers, one head or one token at a time ---------------------------------------


@mistake(
    ref.multi_head_attention,
    says="You go through the heads one by one.",
    hint="A matrix product works on all heads at once when the heads are an axis of their own.",
)
def attention_loops_over_heads(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    if W_Q.shape[-1] % n_heads != 0:
        raise ValueError("the width does not divide")
    heads = []
    for W_q, W_k, W_v in zip(*(W.chunk(n_heads, dim=-1) for W in (W_Q, W_K, W_V)), strict=True):
        S = scores(X_q @ W_q, X_kv @ W_k)
        S = S if mask is None else S.masked_fill(~mask, -math.inf)
        heads.append(torch.softmax(S, dim=-1) @ (X_kv @ W_v))
    return torch.cat(heads, dim=-1)


@mistake(
    ref.multi_head_attention,
    says="You go through the queries one by one.",
    hint="A matrix product works on all queries at once: they are rows of one matrix.",
)
def attention_loops_over_queries(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    if mask is not None:
        mask = mask.expand(*mask.shape[:-2], Q.shape[-2], K.shape[-2])
    rows = []
    for i in range(Q.shape[-2]):
        S = scores(Q[..., i : i + 1, :], K)
        rows.append(mix(block(S, None if mask is None else mask[..., i : i + 1, :]), V))
    return torch.cat(rows, dim=-2)


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module goes through the heads one by one.",
    hint="A matrix product works on all heads at once when the heads are an axis of their own.",
)
def module_loops_over_heads(self, X_q, X_kv=None, mask=None):
    heads = []
    for Q, K, V in zip(*(Y.chunk(self.n_heads, dim=-1) for Y in packed(self, X_q, X_kv)), strict=True):
        S = scores(Q, K)
        S = S if mask is None else S.masked_fill(~mask, -math.inf)
        heads.append(torch.softmax(S, dim=-1) @ V)
    return self.out_proj(torch.cat(heads, dim=-1))


@mistake(
    ref.MultiHeadAttention.forward,
    says="Your module goes through the queries one by one.",
    hint="A matrix product works on all queries at once: they are rows of one matrix.",
)
def module_loops_over_queries(self, X_q, X_kv=None, mask=None):
    Q, K, V = packed(self, X_q, X_kv)
    if mask is not None:
        mask = mask.expand(*mask.shape[:-2], Q.shape[-2], K.shape[-2])
    rows = []
    for i in range(Q.shape[-2]):
        row_mask = None if mask is None else mask[..., i : i + 1, :]
        rows.append(attend(Q[..., i : i + 1, :], K, V, self.n_heads, row_mask))
    return self.out_proj(torch.cat(rows, dim=-2))
