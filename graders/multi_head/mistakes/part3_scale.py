"""Named mistakes: multi-head attention, the scale of its scores."""

import math

from graders.multi_head.pieces import block, mix, project, scores
from reference import multi_head as ref
from softmark import mistake


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
    id="S34",
    says="You scale X_q in place, which changes the tensor that the caller gave you.",
    hint="Operations whose name ends in an underscore, and /= too, work on the caller's tensor.",
)
def attention_scales_input_in_place(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = project(X_q, X_kv, W_Q, W_K, W_V, n_heads)
    X_q.data.div_(math.sqrt(K.shape[-1]))
    return mix(block(scores(Q, K), mask), V)
