"""Other right Transformer modules."""

import torch
import torch.nn as nn
import torch.nn.functional as F

from reference import transformer_block as ref
from softmark import equivalent


@equivalent(ref.Transformer)
class TransformerOfSequentialBlocks(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
        super().__init__()
        self.max_len = max_len
        self.embed = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Parameter(torch.zeros(max_len, d_model))
        self.blocks = nn.Sequential(
            *(ref.TransformerBlock(d_model, n_heads, d_ff, norm_first=norm_first) for _ in range(n_layers))
        )
        mask = torch.ones(max_len, max_len, dtype=torch.bool).tril()
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, tokens):
        T = tokens.size(-1)
        if self.max_len < T:
            raise ValueError("the sequence is too long")
        X = self.embed(tokens) + self.positions[torch.arange(T, device=tokens.device)]
        for block in self.blocks:
            X = block(X, self.mask[:T, :T])
        return X


@equivalent(ref.Transformer)
class TransformerOfOneHotTokens(nn.Module):
    def __init__(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
        super().__init__()
        self.embed = nn.Module()
        self.embed.weight = nn.Parameter(torch.randn(vocab_size, d_model))
        self.positions = nn.Parameter(torch.randn(max_len, d_model) * 0.01)
        self.blocks = nn.ModuleDict(
            {str(i): ref.TransformerBlock(d_model, n_heads, d_ff, norm_first) for i in range(n_layers)}
        )

    def forward(self, tokens):
        T = tokens.shape[-1]
        if len(self.positions) < T:
            raise ValueError(f"at most {len(self.positions)} tokens")
        one_hot = F.one_hot(tokens, len(self.embed.weight)).to(self.embed.weight.dtype)
        X = one_hot @ self.embed.weight + self.positions.narrow(0, 0, T)
        place = torch.arange(T, device=tokens.device)
        mask = place.unsqueeze(0) <= place.unsqueeze(1)
        for i in range(len(self.blocks)):
            X = self.blocks[str(i)](X, mask.expand(*tokens.shape[:-1], T, T))
        return X


@equivalent(ref.Transformer.forward)
def transformer_without_a_mask_tensor_of_its_own(self, tokens):
    T = tokens.shape[-1]
    if self.positions.shape[0] < T:
        raise ValueError("too long")
    X = F.embedding(tokens, self.embed.weight).add(self.positions[:T])
    future = torch.triu(torch.ones((T, T), device=X.device), diagonal=1) > 0
    for block in self.blocks:
        X = block(X, mask=future.logical_not())
    return X
