"""Other right patch embeddings."""

import torch
from torch import nn

from reference import vision_transformer as ref
from softmark import equivalent


@equivalent(ref.PatchEmbedding)
class EmbeddingByConvolution(nn.Module):
    def __init__(self, channels, size, p, d_model):
        super().__init__()
        self.rows, self.columns = size
        self.proj = nn.Conv2d(channels, d_model, p, p)
        self.class_token = nn.Parameter(0.02 * torch.randn(d_model))
        self.positions = nn.Parameter(0.02 * torch.randn(1 + self.rows * self.columns // p**2, d_model))

    def forward(self, images):
        N, _, H, W = images.shape
        if (self.rows, self.columns) != (H, W):
            raise ValueError("another size")
        X = self.proj(images).flatten(2).transpose(1, 2) + self.positions[1:]
        first = (self.class_token + self.positions[0]).repeat(N, 1)
        return torch.cat([first[:, None], X], dim=1)


@equivalent(ref.PatchEmbedding)
class EmbeddingOfNamedParameters(nn.Module):
    def __init__(self, channels, size, p, d_model):
        super().__init__()
        self.grid = size[0] // p, size[1] // p
        self.proj = nn.Module()
        self.proj.weight = nn.Parameter(torch.randn(d_model, channels, p, p) / p)
        self.proj.bias = nn.Parameter(torch.zeros(d_model))
        self.class_token = nn.Parameter(torch.zeros(d_model))
        self.positions = nn.Parameter(torch.zeros(self.grid[0] * self.grid[1] + 1, d_model))

    def forward(self, images):
        D, C, p, _ = self.proj.weight.shape
        h, w = self.grid
        if images.shape[-2] != h * p or images.shape[-1] != w * p:
            raise ValueError("another size")
        cut = images.reshape(-1, C, h, p, w, p)
        tokens = torch.einsum("nchiwj,dcij->nhwd", cut, self.proj.weight) + self.proj.bias
        first = self.class_token.reshape(1, 1, D).expand(tokens.shape[0], 1, D)
        return self.positions + torch.cat((first, tokens.reshape(-1, h * w, D)), 1)


@equivalent(ref.PatchEmbedding.forward)
def embed_into_a_new_tensor(self, images):
    if list(images.shape[2:]) != list(self.size):
        raise ValueError("another size")
    rows = ref.patches(images, self.p)
    X = rows.new_empty(len(rows), 1 + rows.shape[1], len(self.class_token))
    X[:, 0] = self.class_token
    X[:, 1:] = nn.functional.linear(rows, self.proj.weight.view(len(self.class_token), -1), self.proj.bias)
    return X + self.positions[None]
