"""Other right ways to write multi-head attention."""

import math

import torch
import torch.nn.functional as F

from reference import multi_head as ref
from softmark import equivalent


@equivalent(ref.multi_head_attention)
def attention_by_the_library(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = (ref.split_heads(Y, n_heads) for Y in (X_q @ W_Q, X_kv @ W_K, X_kv @ W_V))
    if mask is not None:
        mask = mask[..., None, :, :]
    return ref.merge_heads(F.scaled_dot_product_attention(Q, K, V, attn_mask=mask))


@equivalent(ref.multi_head_attention)
def attention_by_einsum(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    if any(W.shape[-1] % n_heads for W in (W_Q, W_K, W_V)):
        raise ValueError("the width does not divide")
    w_q, w_k, w_v = (W.reshape(W.shape[0], n_heads, -1) for W in (W_Q, W_K, W_V))
    q = torch.einsum("...mi,ihd->...hmd", X_q, w_q)
    k = torch.einsum("...ni,ihd->...hnd", X_kv, w_k)
    v = torch.einsum("...ni,ihd->...hnd", X_kv, w_v)
    s = torch.einsum("...hmd,...hnd->...hmn", q, k) * q.shape[-1] ** -0.5
    if mask is not None:
        s = torch.where(mask.unsqueeze(-3), s, float("-inf"))
    return torch.einsum("...hmn,...hnd->...mhd", s.softmax(-1), v).flatten(-2)


@equivalent(ref.multi_head_attention)
def attention_with_large_finite_fill(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q = ref.split_heads(X_q @ W_Q / math.sqrt(W_Q.shape[-1] // n_heads), n_heads)
    K = ref.split_heads(X_kv @ W_K, n_heads)
    V = ref.split_heads(X_kv @ W_V, n_heads)
    S = Q.matmul(K.mT)
    if mask is not None:
        S = S.masked_fill(mask.unsqueeze(-3).logical_not(), -1e9)
    return ref.merge_heads(F.softmax(S, dim=-1).matmul(V))


@equivalent(ref.multi_head_attention)
def attention_with_additive_mask(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = (ref.split_heads(Y, n_heads) for Y in (X_q @ W_Q, X_kv @ W_K, X_kv @ W_V))
    S = Q @ K.transpose(-2, -1) / K.shape[-1] ** 0.5
    if mask is not None:
        bias = torch.zeros_like(mask, dtype=S.dtype).masked_fill(~mask, float("-inf"))
        S = S + bias.unsqueeze(-3)
    return ref.merge_heads(torch.softmax(S, dim=-1) @ V)


@equivalent(ref.multi_head_attention)
def attention_with_added_finite_bias(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = (ref.split_heads(Y, n_heads) for Y in (X_q @ W_Q, X_kv @ W_K, X_kv @ W_V))
    S = Q @ K.transpose(-2, -1) / K.shape[-1] ** 0.5
    if mask is not None:
        S = S + (1.0 - mask.to(S.dtype)).unsqueeze(-3) * -1e9
    return ref.merge_heads(torch.softmax(S, dim=-1) @ V)


@equivalent(ref.multi_head_attention)
def attention_with_softmax_by_hand(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = (ref.split_heads(Y, n_heads) for Y in (X_q @ W_Q, X_kv @ W_K, X_kv @ W_V))
    S = Q @ K.transpose(-2, -1) / K.shape[-1] ** 0.5
    allowed = torch.ones_like(S, dtype=torch.bool) if mask is None else mask.unsqueeze(-3).expand_as(S)
    S = S.masked_fill(~allowed, torch.finfo(S.dtype).min)
    E = torch.exp(S - S.max(dim=-1, keepdim=True).values) * allowed
    return ref.merge_heads((E / E.sum(dim=-1, keepdim=True)) @ V)


@equivalent(ref.multi_head_attention)
def attention_with_log_weights(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = (ref.split_heads(Y, n_heads) for Y in (X_q @ W_Q, X_kv @ W_K, X_kv @ W_V))
    S = Q @ K.transpose(-2, -1) / K.shape[-1] ** 0.5
    if mask is not None:
        S = S.masked_fill(~mask.unsqueeze(-3), -math.inf)
    return ref.merge_heads(torch.exp(S - S.logsumexp(dim=-1, keepdim=True)) @ V)


@equivalent(ref.multi_head_attention)
def attention_with_heads_in_the_batch(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = (ref.split_heads(Y, n_heads) for Y in (X_q @ W_Q, X_kv @ W_K, X_kv @ W_V))
    *lead, m, _ = Q.shape
    q, k, v = (Y.reshape(-1, *Y.shape[-2:]) for Y in (Q, K, V))
    S = torch.bmm(q, k.transpose(1, 2)) / k.shape[-1] ** 0.5
    if mask is not None:
        full = mask.unsqueeze(-3).expand(*lead, m, k.shape[-2]).reshape(S.shape)
        S = S.masked_fill(~full, -math.inf)
    H = torch.bmm(S.softmax(dim=-1), v)
    return ref.merge_heads(H.reshape(*lead, m, -1))


@equivalent(ref.multi_head_attention)
def attention_with_fused_key_value_weights(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    width = W_K.shape[-1]
    KV = X_kv @ torch.cat([W_K, W_V], dim=-1)
    Q = ref.split_heads(X_q @ W_Q, n_heads)
    K = ref.split_heads(KV[..., :width], n_heads)
    V = ref.split_heads(KV[..., width:], n_heads)
    S = Q @ K.transpose(-2, -1) / K.shape[-1] ** 0.5
    if mask is not None:
        S.masked_fill_(~mask.unsqueeze(-3), -math.inf)
    return ref.merge_heads(torch.softmax(S, dim=-1) @ V)


@equivalent(ref.multi_head_attention)
def attention_with_a_weight_per_head(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    W_q, W_k, W_v = (ref.split_heads(W, n_heads) for W in (W_Q, W_K, W_V))
    Q, K, V = X_q.unsqueeze(-3) @ W_q, X_kv.unsqueeze(-3) @ W_k, X_kv.unsqueeze(-3) @ W_v
    S = Q @ K.transpose(-2, -1) / K.shape[-1] ** 0.5
    if mask is not None:
        S = S.masked_fill(~mask.unsqueeze(-3), -math.inf)
    return ref.merge_heads(torch.softmax(S, dim=-1) @ V)


@equivalent(ref.multi_head_attention)
def attention_mapped_over_heads(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    def one_head(Q, K, V):
        S = Q @ K.transpose(-2, -1) / math.sqrt(K.shape[-1])
        if mask is not None:
            S = S.masked_fill(~mask, -math.inf)
        return torch.softmax(S, dim=-1) @ V

    every_head = torch.vmap(one_head, in_dims=-3, out_dims=-3)
    Q, K, V = (ref.split_heads(Y, n_heads) for Y in (X_q @ W_Q, X_kv @ W_K, X_kv @ W_V))
    return ref.merge_heads(every_head(Q, K, V))


@equivalent(ref.multi_head_attention)
def attention_example_by_example(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    if X_q.dim() > 2:
        if mask is None:
            mask = X_q.new_ones(1, 1, dtype=torch.bool)
        mask = mask.expand(*X_q.shape[:-2], *mask.shape[-2:])
        examples = zip(X_q, X_kv, mask, strict=True)
        return torch.stack(
            [ref.multi_head_attention(q, kv, W_Q, W_K, W_V, n_heads, allowed) for q, kv, allowed in examples]
        )
    Q, K, V = (ref.split_heads(Y, n_heads) for Y in (X_q @ W_Q, X_kv @ W_K, X_kv @ W_V))
    S = Q @ K.transpose(-2, -1) / K.shape[-1] ** 0.5
    if mask is not None:
        S = S.masked_fill(~mask, -math.inf)
    return ref.merge_heads(torch.softmax(S, dim=-1) @ V)
