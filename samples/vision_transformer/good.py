"""A sample submission: everything right, with einsum for patches, a convolution for the embedding, F.interpolate."""

import torch
import torch.nn.functional as F
from torch import nn


def patches(images, p):
    N, C, H, W = images.shape
    if H % p != 0 or W % p != 0:
        raise ValueError("the picture cannot be cut into such patches")
    cut = images.view(N, C, H // p, p, W // p, p)
    return torch.einsum("nchiwj->nhwcij", cut).reshape(N, -1, C * p * p)


def unpatch(rows, p, grid):
    h, w = grid
    if rows.shape[1] != h * w or rows.shape[2] % p**2 != 0:
        raise ValueError("the patches do not fit")
    cut = rows.view(len(rows), h, w, -1, p, p)
    return torch.einsum("nhwcij->nchiwj", cut).flatten(4, 5).flatten(2, 3)


class PatchEmbedding(nn.Module):
    def __init__(self, channels, size, p, d_model):
        super().__init__()
        self.size = tuple(size)
        self.proj = nn.Conv2d(channels, d_model, p, stride=p)
        self.class_token = nn.Parameter(torch.randn(d_model) / 50)
        self.positions = nn.Parameter(torch.randn(1 + size[0] // p * (size[1] // p), d_model) / 50)

    def forward(self, images):
        if images.shape[-2:] != self.size:
            raise ValueError(f"pictures have to be of size {self.size}")
        tokens = self.proj(images).flatten(2).transpose(1, 2)
        first = self.class_token.expand(tokens.shape[0], 1, -1)
        return torch.cat([first, tokens], dim=1) + self.positions


def image_attention(query, features, W_q, W_x, v):
    N, C, h, w = features.shape
    from_places = torch.einsum("ac,nchw->nhwa", W_x, features)
    scores = torch.tanh((query @ W_q.T)[:, None, None] + from_places) @ v
    weights = scores.flatten(1).softmax(dim=1).view(N, h, w)
    return torch.einsum("nhw,nchw->nc", weights, features), weights


class VisionTransformer(nn.Module):
    def __init__(self, channels, size, p, d_model, n_heads, d_ff, n_layers, n_classes):
        super().__init__()
        self.embed = PatchEmbedding(channels, size, p, d_model)
        make = lambda: nn.TransformerEncoderLayer(
            d_model, n_heads, d_ff, dropout=0, activation="gelu", batch_first=True, norm_first=True
        )
        self.blocks = nn.ModuleList([make() for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_classes)

    def forward(self, images):
        X = self.embed(images)
        for block in self.blocks:
            X = block(X)
        return self.head(self.norm(X[:, 0]))


def resize_positions(table, old, new):
    if len(table) != 1 + old[0] * old[1]:
        raise ValueError("the table does not fit the old grid")
    grid = table[1:].view(1, *old, -1).permute(0, 3, 1, 2)
    grid = F.interpolate(grid, size=new, mode="bilinear", align_corners=False)
    return torch.cat([table[:1], grid.permute(0, 2, 3, 1).reshape(-1, table.shape[1])])


def similarity(X):
    if X.dim() == 1:
        raise ValueError("tokens are rows of a matrix")
    return X @ X.mT
