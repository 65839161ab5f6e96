"""Other right vision transformers."""

import torch
import torch.nn.functional as F
from torch import nn

from reference import vision_transformer as ref
from softmark import equivalent


class OwnBlock(nn.Module):
    """A pre-norm block with the parameters of PyTorch's."""

    def __init__(self, d_model, n_heads, d_ff):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d_model, n_heads, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)

    def forward(self, X):
        Z = self.norm1(X)
        X = X + self.self_attn(Z, Z, Z, need_weights=False)[0]
        return X + self.linear2(F.gelu(self.linear1(self.norm2(X))))


@equivalent(ref.VisionTransformer)
class TransformerOfOwnBlocks(nn.Module):
    def __init__(self, channels, size, p, d_model, n_heads, d_ff, n_layers, n_classes):
        super().__init__()
        self.embed = ref.PatchEmbedding(channels, size, p, d_model)
        self.blocks = nn.Sequential(*(OwnBlock(d_model, n_heads, d_ff) for _ in range(n_layers)))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, n_classes)

    def forward(self, images):
        return self.head(self.norm(self.blocks(self.embed(images))[:, 0]))


@equivalent(ref.VisionTransformer)
class TransformerWithTokensFirst(nn.Module):
    def __init__(self, channels, size, p, d_model, n_heads, d_ff, n_layers, n_classes):
        super().__init__()
        self.embed = ref.PatchEmbedding(channels, size, p, d_model)
        options = {"dropout": 0.0, "activation": F.gelu, "norm_first": True}
        self.blocks = nn.ModuleList()
        for _ in range(n_layers):
            self.blocks.append(nn.TransformerEncoderLayer(d_model, n_heads, d_ff, **options))
        self.norm, self.head = nn.LayerNorm(d_model), nn.Linear(d_model, n_classes)

    def forward(self, images):
        X = self.embed(images).transpose(0, 1)
        for block in self.blocks:
            X = block(X)
        return self.head(self.norm(X[0]))


@equivalent(ref.VisionTransformer.forward)
def logits_of_all_tokens(self, images):
    X = self.embed(images)
    for i in range(len(self.blocks)):
        X = self.blocks[i](X)
    return self.head(self.norm(X)).select(1, 0)


@equivalent(ref.VisionTransformer.forward)
def logits_from_scratch(self, images):
    X = self.embed(images)
    for block in self.blocks:
        attention = block.self_attn
        Z = F.layer_norm(X, X.shape[-1:], block.norm1.weight, block.norm1.bias)
        Q, K, V = (
            part.unflatten(-1, (attention.num_heads, -1)).transpose(1, 2)
            for part in F.linear(Z, attention.in_proj_weight, attention.in_proj_bias).chunk(3, dim=-1)
        )
        S = Q @ K.mT / Q.shape[-1] ** 0.5
        X = X + attention.out_proj((S.softmax(-1) @ V).transpose(1, 2).flatten(2))
        H = block.linear1(F.layer_norm(X, X.shape[-1:], block.norm2.weight, block.norm2.bias))
        X = X + block.linear2(H * 0.5 * (1 + torch.erf(H / 2**0.5)))
    return self.head(self.norm(X[:, 0]))
