"""Other right TransformerBlock modules."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from graders.transformer_block.block_by_hand import heads
from reference import transformer_block as ref
from softmark import equivalent


def new_norm(width):
    norm = nn.Module()
    norm.weight = nn.Parameter(torch.ones(width))
    norm.bias = nn.Parameter(torch.zeros(width))
    return norm


@equivalent(ref.TransformerBlock)
class BlockOfModules(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm_first=False):
        super().__init__()
        self.n_heads, self.norm_first = n_heads, norm_first
        self.self_attn = nn.Module()
        self.self_attn.in_proj_weight = nn.Parameter(torch.randn(3 * d_model, d_model) / d_model**0.5)
        self.self_attn.in_proj_bias = nn.Parameter(torch.zeros(3 * d_model))
        self.self_attn.out_proj = nn.Linear(d_model, d_model)
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = new_norm(d_model), new_norm(d_model)

    def normalise(self, norm, X):
        return ref.layer_norm(X, norm.weight, norm.bias, ref.EPS)

    def attend(self, X, mask):
        Q, K, V = F.linear(X, self.self_attn.in_proj_weight, self.self_attn.in_proj_bias).chunk(3, dim=-1)
        Q, K, V = heads(Q, self.n_heads), heads(K, self.n_heads), heads(V, self.n_heads)
        bias = None
        if mask is not None:
            bias = torch.zeros(mask.shape, dtype=X.dtype, device=X.device).masked_fill(~mask, -torch.inf).unsqueeze(-3)
        H = F.scaled_dot_product_attention(Q, K, V, attn_mask=bias)
        return self.self_attn.out_proj(H.transpose(-3, -2).flatten(-2))

    def think(self, X):
        return self.linear2(torch.relu(self.linear1(X)))

    def forward(self, X, mask=None):
        if self.norm_first:
            X = X + self.attend(self.normalise(self.norm1, X), mask)
            return X + self.think(self.normalise(self.norm2, X))
        X = self.normalise(self.norm1, X + self.attend(X, mask))
        return self.normalise(self.norm2, X + self.think(X))


@equivalent(ref.TransformerBlock)
class BlockAroundTorchAttention(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm_first=False):
        super().__init__()
        self.n_heads = n_heads
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = new_norm(d_model), new_norm(d_model)
        self.norm_first = norm_first

    def attend(self, X, mask):
        *batch, T, D = X.shape
        if mask is not None:
            mask = ~mask.expand(*batch, T, T).reshape(-1, T, T).repeat_interleave(self.n_heads, dim=0)
        flat = X.reshape(-1, T, D)
        return self.self_attn(flat, flat, flat, attn_mask=mask, need_weights=False)[0].reshape(X.shape)

    def forward(self, X, mask=None):
        def normalise(norm, Z):
            return ref.layer_norm(Z, norm.weight, norm.bias, 1e-5)

        def leave(norm, Z):
            return Z

        before, after = (normalise, leave) if self.norm_first else (leave, normalise)
        X = after(self.norm1, X + self.attend(before(self.norm1, X), mask))
        H = self.linear1(before(self.norm2, X)).relu()
        return after(self.norm2, X + self.linear2(H))


@equivalent(ref.TransformerBlock)
class BlockWithNamedParameters(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm_first=False):
        super().__init__()
        self.n_heads, self.norm_first = n_heads, norm_first
        self.self_attn = nn.Module()
        self.self_attn.in_proj_weight = nn.Parameter(torch.empty(3 * d_model, d_model))
        self.self_attn.in_proj_bias = nn.Parameter(torch.zeros(3 * d_model))
        nn.init.xavier_uniform_(self.self_attn.in_proj_weight)
        self.self_attn.out_proj = nn.Linear(d_model, d_model)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        for name in ("norm1", "norm2"):
            norm = nn.Module()
            norm.register_parameter("weight", nn.Parameter(torch.full((d_model,), 1.0)))
            norm.register_parameter("bias", nn.Parameter(torch.zeros(d_model)))
            self.add_module(name, norm)

    def forward(self, X, mask=None):
        w = dict(self.named_parameters())
        p = {"W_O": w["self_attn.out_proj.weight"].T, "b_O": w["self_attn.out_proj.bias"]}
        for role, W, b in zip(
            "QKV", w["self_attn.in_proj_weight"].chunk(3), w["self_attn.in_proj_bias"].chunk(3), strict=True
        ):
            p[f"W_{role}"], p[f"b_{role}"] = W.T, b
        for i in (1, 2):
            p[f"W{i}"], p[f"b{i}"] = w[f"linear{i}.weight"].T, w[f"linear{i}.bias"]
            p[f"gain{i}"], p[f"bias{i}"] = w[f"norm{i}.weight"], w[f"norm{i}.bias"]
        run = ref.pre_norm_block if self.norm_first else ref.post_norm_block
        return run(X, p, self.n_heads, mask)
