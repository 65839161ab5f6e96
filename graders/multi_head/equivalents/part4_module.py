"""Other right ways to write the module, or its forward pass."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from reference import multi_head as ref
from softmark import equivalent


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
