"""A sample submission: everything is right; the module is made of PyTorch's own pieces where they are allowed."""

import torch
from torch import nn
from torch.nn import functional as F


def self_attention(X, p, n_heads, mask=None):
    def heads(name):
        return (X @ p[f"W_{name}"] + p[f"b_{name}"]).unflatten(-1, (n_heads, -1)).transpose(-2, -3)

    if mask is not None:
        mask = mask.unsqueeze(-3)
    H = F.scaled_dot_product_attention(heads("Q"), heads("K"), heads("V"), mask)
    return H.transpose(-2, -3).flatten(-2) @ p["W_O"] + p["b_O"]


def layer_norm(X, gain, bias, eps):
    var, mean = torch.var_mean(X, dim=-1, correction=0, keepdim=True)
    return (X - mean) * torch.rsqrt(var + eps) * gain + bias


def feed_forward(X, W1, b1, W2, b2):
    return (X @ W1 + b1).clamp(min=0) @ W2 + b2


def network(X, p):
    return feed_forward(X, p["W1"], p["b1"], p["W2"], p["b2"])


def post_norm_block(X, p, n_heads, mask=None):
    X = layer_norm(X + self_attention(X, p, n_heads, mask), p["gain1"], p["bias1"], 1e-5)
    return layer_norm(X + network(X, p), p["gain2"], p["bias2"], 1e-5)


def pre_norm_block(X, p, n_heads, mask=None):
    X = X + self_attention(layer_norm(X, p["gain1"], p["bias1"], 1e-5), p, n_heads, mask)
    return X + network(layer_norm(X, p["gain2"], p["bias2"], 1e-5), p)


class Norm(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d))


class TransformerBlock(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, norm_first=False):
        super().__init__()
        self.n_heads, self.norm_first = n_heads, norm_first
        self.self_attn = nn.MultiheadAttention(d_model, n_heads)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = Norm(d_model), Norm(d_model)

    def forward(self, X, mask=None):
        p = {}
        packed = zip("QKV", self.self_attn.in_proj_weight.chunk(3), self.self_attn.in_proj_bias.chunk(3))
        for name, W, b in packed:
            p[f"W_{name}"], p[f"b_{name}"] = W.T, b
        p["W_O"], p["b_O"] = self.self_attn.out_proj.weight.T, self.self_attn.out_proj.bias
        for k in "12":
            linear, norm = getattr(self, f"linear{k}"), getattr(self, f"norm{k}")
            p[f"W{k}"], p[f"b{k}"], p[f"gain{k}"], p[f"bias{k}"] = linear.weight.T, linear.bias, norm.weight, norm.bias
        return (pre_norm_block if self.norm_first else post_norm_block)(X, p, self.n_heads, mask)


class Transformer(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Parameter(torch.randn(max_len, d_model))
        self.blocks = nn.ModuleList(TransformerBlock(d_model, n_heads, d_ff, norm_first) for _ in range(n_layers))

    def forward(self, tokens):
        T = tokens.shape[-1]
        if T > len(self.positions):
            raise ValueError(f"{T} tokens are more than {len(self.positions)}")
        t = torch.arange(T, device=tokens.device)
        X = self.embed(tokens) + self.positions[:T]
        for block in self.blocks:
            X = block(X, t <= t.unsqueeze(-1))
        return X
