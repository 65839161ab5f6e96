"""Other right solutions: multi-head attention. Each replaces one function and must keep all marks."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from reference import multi_head as ref
from softmark.verdict import equivalent

# --- part 1: split_heads --------------------------------------------------------------------------


@equivalent(ref.split_heads)
def split_by_chunk_and_stack(X, n_heads):
    if X.shape[-1] % n_heads:
        raise ValueError(f"{n_heads} heads do not divide a width of {X.shape[-1]}")
    return torch.stack(X.chunk(n_heads, dim=-1), dim=-3)


@equivalent(ref.split_heads)
def split_by_unflatten_and_movedim(X, n_heads):
    d_head, rest = divmod(X.size(-1), n_heads)
    if rest != 0:
        raise ValueError("the width must be a multiple of n_heads")
    return X.unflatten(-1, (n_heads, d_head)).movedim(-2, -3).contiguous()


@equivalent(ref.split_heads)
def split_by_view_and_permute(X, n_heads):
    T, D = X.shape[-2], X.shape[-1]
    d_head = D // n_heads
    if d_head * n_heads != D:
        raise ValueError("the heads must share the width evenly")
    flat = X.contiguous().view(-1, T, n_heads, d_head)
    return flat.permute(0, 2, 1, 3).reshape(*X.shape[:-2], n_heads, T, d_head)


@equivalent(ref.split_heads)
def split_by_einsum(X, n_heads):
    try:
        cut = X.unflatten(-1, (n_heads, -1))
    except RuntimeError as error:
        raise ValueError("the width does not divide") from error
    return torch.einsum("...thd->...htd", cut)


@equivalent(ref.split_heads)
def split_by_index(X, n_heads):
    D = X.shape[-1]
    if D % n_heads:
        raise ValueError("the width does not divide")
    columns = torch.arange(D, device=X.device).reshape(n_heads, D // n_heads)
    return X[..., columns].swapaxes(-3, -2)


# --- part 2: merge_heads --------------------------------------------------------------------------


@equivalent(ref.merge_heads)
def merge_by_unbind_and_cat(H):
    return torch.cat(H.unbind(dim=-3), dim=-1)


@equivalent(ref.merge_heads)
def merge_by_movedim_and_flatten(H):
    return H.movedim(-3, -2).flatten(start_dim=-2)


@equivalent(ref.merge_heads)
def merge_by_permute_and_view(H):
    h, T, d = H.shape[-3:]
    flat = H.reshape(-1, h, T, d).permute(0, 2, 1, 3).contiguous()
    return flat.view(*H.shape[:-3], T, h * d)


@equivalent(ref.merge_heads)
def merge_by_iterating_over_views(H):
    return torch.cat(list(H.movedim(-3, 0)), dim=-1)


# --- part 3: multi_head_attention -----------------------------------------------------------------


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


# --- part 4: the module ---------------------------------------------------------------------------


@equivalent(ref.MultiHeadAttention.forward)
def module_by_linear_and_the_library(self, X_q, X_kv=None, mask=None):
    if X_kv is None:
        Q, K, V = F.linear(X_q, self.in_proj_weight, self.in_proj_bias).chunk(3, dim=-1)
    else:
        D = X_q.shape[-1]
        Q = F.linear(X_q, self.in_proj_weight[:D], self.in_proj_bias[:D])
        K, V = F.linear(X_kv, self.in_proj_weight[D:], self.in_proj_bias[D:]).chunk(2, dim=-1)
    Q, K, V = (ref.split_heads(Y, self.n_heads) for Y in (Q, K, V))
    mask = None if mask is None else mask.unsqueeze(-3)
    return self.out_proj(ref.merge_heads(F.scaled_dot_product_attention(Q, K, V, attn_mask=mask)))


@equivalent(ref.MultiHeadAttention.forward)
def module_without_key_bias(self, X_q, X_kv=None, mask=None):
    X_kv = X_q if X_kv is None else X_kv
    W_q, W_k, W_v = self.in_proj_weight.chunk(3)
    b_q, _, b_v = self.in_proj_bias.chunk(3)
    Q = ref.split_heads(X_q @ W_q.T + b_q, self.n_heads)
    K = ref.split_heads(X_kv @ W_k.T, self.n_heads)
    V = ref.split_heads(X_kv @ W_v.T + b_v, self.n_heads)
    S = Q @ K.transpose(-1, -2) / math.sqrt(K.shape[-1])
    if mask is not None:
        S = S.masked_fill(~mask.unsqueeze(-3), -math.inf)
    return self.out_proj(ref.merge_heads(torch.softmax(S, dim=-1) @ V))


@equivalent(ref.MultiHeadAttention.forward)
def module_with_biases_as_a_row_of_weights(self, X_q, X_kv=None, mask=None):
    X_kv = X_q if X_kv is None else X_kv
    W = torch.cat([self.in_proj_weight, self.in_proj_bias.unsqueeze(-1)], dim=-1)
    W_Q, W_K, W_V = (block.T for block in W.chunk(3))
    with_one_q, with_one_kv = F.pad(X_q, (0, 1), value=1.0), F.pad(X_kv, (0, 1), value=1.0)
    H = ref.multi_head_attention(with_one_q, with_one_kv, W_Q, W_K, W_V, self.n_heads, mask)
    return self.out_proj(H)


@equivalent(ref.MultiHeadAttention.forward)
def module_with_output_blocks_per_head(self, X_q, X_kv=None, mask=None):
    X_kv = X_q if X_kv is None else X_kv
    d_head = X_q.shape[-1] // self.n_heads
    W = self.in_proj_weight.unflatten(0, (3, self.n_heads, d_head))
    b = self.in_proj_bias.unflatten(0, (3, self.n_heads, 1, d_head))
    Q = torch.einsum("...mi,hdi->...hmd", X_q, W[0]) + b[0]
    K = torch.einsum("...ni,hdi->...hnd", X_kv, W[1]) + b[1]
    V = torch.einsum("...ni,hdi->...hnd", X_kv, W[2]) + b[2]
    S = torch.einsum("...hmd,...hnd->...hmn", Q, K) / math.sqrt(d_head)
    if mask is not None:
        S = S.masked_fill(~mask.unsqueeze(-3), -math.inf)
    H = torch.softmax(S, dim=-1) @ V
    W_o = self.out_proj.weight.unflatten(1, (self.n_heads, d_head))
    return torch.einsum("...hmd,ohd->...mo", H, W_o) + self.out_proj.bias


@equivalent(ref.MultiHeadAttention)
class ModuleWithItsOwnPieces(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        if d_model % n_heads:
            raise ValueError(f"{n_heads} heads do not divide a width of {d_model}")
        self.heads, self.width = n_heads, d_model
        self.register_parameter("in_proj_weight", nn.Parameter(torch.randn(3 * d_model, d_model) * 0.02))
        self.register_parameter("in_proj_bias", nn.Parameter(torch.zeros(3 * d_model)))
        self.out_proj = nn.modules.linear.NonDynamicallyQuantizableLinear(d_model, d_model)

    def apart(self, X, block):
        rows = slice(block * self.width, (block + 1) * self.width)
        Y = F.linear(X, self.in_proj_weight[rows], self.in_proj_bias[rows])
        return Y.unflatten(-1, (self.heads, self.width // self.heads)).transpose(-2, -3)

    def forward(self, X_q, X_kv=None, mask=None):
        source = X_q if X_kv is None else X_kv
        Q, K, V = self.apart(X_q, 0), self.apart(source, 1), self.apart(source, 2)
        S = torch.matmul(Q, K.mT).div(math.sqrt(self.width // self.heads))
        if mask is not None:
            S = S + torch.where(mask, 0.0, -math.inf).to(S.dtype).unsqueeze(-3)
        return self.out_proj(S.softmax(dim=-1).matmul(V).transpose(-2, -3).flatten(-2))


@equivalent(ref.MultiHeadAttention)
class ModuleWithOneLinearPerRoleMadeOnTheFly(nn.Module):
    def __init__(self, d_model, n_heads):
        if d_model % n_heads:
            raise ValueError("the width does not divide")
        super().__init__()
        self.n_heads = n_heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * d_model, d_model))
        self.in_proj_bias = nn.Parameter(torch.empty(3 * d_model))
        self.out_proj = nn.Linear(d_model, d_model)
        nn.init.normal_(self.in_proj_weight, std=d_model**-0.5)
        nn.init.zeros_(self.in_proj_bias)

    def forward(self, X_q, X_kv=None, mask=None):
        if X_kv is None:
            X_kv = X_q
        weights = zip(self.in_proj_weight.chunk(3), self.in_proj_bias.chunk(3), strict=True)
        Q, K, V = (
            ref.split_heads(F.linear(X, W, b), self.n_heads)
            for X, (W, b) in zip((X_q, X_kv, X_kv), weights, strict=True)
        )
        S = Q @ K.transpose(-1, -2) / math.sqrt(Q.shape[-1])
        if mask is not None:
            S = S.masked_fill(mask.unsqueeze(-3) == 0, torch.finfo(S.dtype).min)
        return self.out_proj(ref.merge_heads(torch.softmax(S, dim=-1) @ V))
