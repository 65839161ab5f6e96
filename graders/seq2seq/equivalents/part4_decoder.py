"""Other right decoders."""

import math

import torch
from torch import nn

from reference import seq2seq as ref
from reference.seq2seq import context, dot_scores
from softmark import equivalent


@equivalent(ref.Decoder)
class AllInOneLoop(nn.Module):
    def __init__(self, vocab_size, embedding_size, hidden_size, states_size):
        super().__init__()
        self.out = nn.Linear(hidden_size, vocab_size)
        self.cell = nn.GRUCell(embedding_size + states_size, hidden_size)
        self.embedding = nn.Embedding(vocab_size, embedding_size)
        self.W = nn.Parameter((2 * torch.rand(hidden_size, states_size) - 1) / math.sqrt(states_size))

    def look(self, h, states, lengths):
        return context(dot_scores(h, states @ self.W.T), states, lengths)[0]

    def step(self, tokens, h, states, lengths):
        seen = self.look(h, states, lengths)
        h = self.cell(torch.hstack([self.embedding(tokens), seen]), h)
        return self.out(h), h

    def forward(self, inputs, h, states, lengths):
        hidden = []
        for E in self.embedding(inputs).unbind(1):
            h = self.cell(torch.cat((E, self.look(h, states, lengths)), -1), h)
            hidden.append(h)
        return self.out(torch.stack(hidden, 1))


@equivalent(ref.Decoder.step)
def cell_by_hand(self, tokens, h, states, lengths):
    c, _ = ref.context(ref.bilinear_scores(h, states, self.W), states, lengths)
    x = torch.cat([self.embedding.weight[tokens], c], dim=-1)
    from_x = (x @ self.cell.weight_ih.T + self.cell.bias_ih).chunk(3, dim=1)
    from_h = (h @ self.cell.weight_hh.T + self.cell.bias_hh).chunk(3, dim=1)
    r, z = (torch.sigmoid(a + b) for a, b in zip(from_x[:2], from_h[:2], strict=True))
    n = torch.tanh(from_x[2] + r * from_h[2])
    h = (1 - z) * n + z * h
    return h @ self.out.weight.T + self.out.bias, h


@equivalent(ref.Decoder.step)
def attention_by_hand(self, tokens, h, states, lengths):
    s = torch.einsum("nh,hc,nsc->ns", h, self.W, states)
    padding = torch.arange(s.shape[1], device=s.device) >= lengths[:, None]
    c = (s.masked_fill(padding, -torch.inf).softmax(1)[:, :, None] * states).sum(1)
    h = self.cell(torch.cat([self.embedding(tokens), c], 1), h)
    return self.out(h), h


@equivalent(ref.Decoder.forward)
def filled_in(self, inputs, h, states, lengths):
    N, T = inputs.shape
    logits = []
    t = 0
    while t < T:
        z, h = self.step(inputs[:, t], h, states, lengths)
        logits.append(z.unsqueeze(1))
        t += 1
    return torch.cat(logits, 1).view(N, T, -1)
