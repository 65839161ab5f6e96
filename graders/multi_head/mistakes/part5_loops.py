"""Named mistakes: right numbers, one head or one token at a time."""

import math

import torch

from graders.multi_head.pieces import attend, block, mix, packed, project, scores
from reference import multi_head as ref
from softmark import mistake


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
