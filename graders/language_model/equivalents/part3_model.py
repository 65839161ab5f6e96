"""Other right language models: blocks by hand, other masks, a tied layer as the head."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from reference import language_model as ref
from softmark import equivalent


class Block(nn.Module):
    """A pre-norm block with PyTorch's attention, dropout behind each sublayer only."""

    def __init__(self, d, heads, dropout):
        super().__init__()
        self.self_attn = nn.MultiheadAttention(d, heads, batch_first=True)
        self.linear1, self.linear2 = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.drop = nn.Dropout(dropout)

    def forward(self, x, mask):
        z = self.norm1(x)
        x = x + self.drop(self.self_attn(z, z, z, attn_mask=mask, need_weights=False)[0])
        return x + self.drop(self.linear2(self.linear1(self.norm2(x)).relu()))


class OwnAttention(nn.Module):
    """A pre-norm block whose attention is written out."""

    def __init__(self, d, heads, dropout):
        super().__init__()
        self.heads, self.p = heads, dropout
        self.self_attn = nn.Module()
        self.self_attn.in_proj_weight = nn.Parameter(torch.randn(3 * d, d) / d**0.5)
        self.self_attn.in_proj_bias = nn.Parameter(torch.zeros(3 * d))
        self.self_attn.out_proj = nn.Linear(d, d)
        self.linear1, self.linear2 = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)

    def attend(self, z):
        qkv = F.linear(z, self.self_attn.in_proj_weight, self.self_attn.in_proj_bias)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(-2, -3) for part in qkv.chunk(3, dim=-1))
        scores = q @ k.mT / math.sqrt(q.shape[-1])
        past = torch.ones_like(scores, dtype=torch.bool).tril()
        weights = scores.masked_fill(~past, -torch.inf).softmax(-1)
        return self.self_attn.out_proj((weights @ v).transpose(-2, -3).flatten(-2))

    def forward(self, x):
        x = x + F.dropout(self.attend(self.norm1(x)), self.p, self.training)
        return x + F.dropout(self.linear2(F.relu(self.linear1(self.norm2(x)))), self.p, self.training)


@equivalent(ref.LanguageModel)
class TiedLinear(nn.Module):
    def __init__(self, vocab_size, context, d_model, n_heads, n_layers, dropout=0.0):
        super().__init__()
        self.context = context
        self.embed = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(context, d_model)
        self.blocks = nn.ModuleList(Block(d_model, n_heads, dropout) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.embed.weight
        self.embed.weight.data.normal_(0, 0.02)
        self.positions.weight.data.normal_(0, 0.02)
        self.register_buffer("mask", torch.full((context, context), -torch.inf).triu(1), persistent=False)

    def hidden(self, ids):
        T = ids.size(-1)
        if self.context < T:
            raise ValueError("too long")
        x = self.embed(ids) + self.positions(torch.arange(T, device=ids.device))
        x = x.view(-1, T, x.size(-1))
        for block in self.blocks:
            x = block(x, self.mask[:T, :T])
        return self.norm(x).view(*ids.shape, -1)

    def forward(self, ids):
        return self.head(self.hidden(ids))


@equivalent(ref.LanguageModel)
class WrittenOut(nn.Module):
    def __init__(self, vocab_size, context, d_model, n_heads, n_layers, dropout=0.0):
        super().__init__()
        self.embed, self.positions = nn.Module(), nn.Module()
        self.embed.weight = nn.Parameter(torch.randn(vocab_size, d_model) * 0.02)
        self.positions.weight = nn.Parameter(torch.normal(0, 0.02, (context, d_model)))
        self.blocks = nn.Sequential(*[OwnAttention(d_model, n_heads, dropout) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)

    def hidden(self, ids):
        if ids.shape[-1] > len(self.positions.weight):
            raise ValueError(f"{ids.shape[-1]} tokens are too many")
        x = self.embed.weight[ids] + self.positions.weight[: ids.shape[-1]]
        return self.norm(self.blocks(x))

    def forward(self, ids):
        return torch.einsum("...d,vd->...v", self.hidden(ids), self.embed.weight)


@equivalent(ref.LanguageModel.hidden)
def rows_one_by_one(self, ids):
    T = ids.shape[-1]
    if self.positions.num_embeddings < T:
        raise ValueError("too long")
    mask = nn.Transformer.generate_square_subsequent_mask(T, device=ids.device, dtype=self.embed.weight.dtype)
    rows = []
    for row in ids.reshape(-1, T):
        x = (self.embed(row) + self.positions.weight.narrow(0, 0, T)).unsqueeze(0)
        for block in self.blocks:
            x = block(x, mask, is_causal=True)
        rows.append(self.norm(x[0]))
    return torch.stack(rows).unflatten(0, ids.shape[:-1]) if ids.dim() > 1 else rows[0]


@equivalent(ref.LanguageModel.forward)
def functional_head(self, ids):
    return F.linear(self.hidden(ids), self.embed.weight)
