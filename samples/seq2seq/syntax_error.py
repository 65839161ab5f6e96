"""A sample submission: a colon is missing, so nothing can be graded."""

import torch
from torch import nn
from torch.nn.utils import rnn


def dot_scores(query, states):
    return torch.einsum("nd,nsd->ns", query, states) / query.shape[1] ** 0.5


def bilinear_scores(query, states, W):
    return dot_scores(query @ W, states)


def additive_scores(query, states, W_q, W_x, v):
    return torch.tanh((query @ W_q.T).unsqueeze(1) + states @ W_x.T) @ v


def context(scores, states, lengths)
    real = torch.arange(scores.size(1), device=scores.device) < lengths.unsqueeze(1)
    p = torch.softmax(torch.where(real, scores, -1e30), dim=1) * real
    return torch.einsum("ns,nsc->nc", p, states), p


class Encoder(nn.Module):
    def __init__(self, vocab_size, embedding_size, hidden_size):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_size)
        self.gru = nn.GRU(embedding_size, hidden_size, batch_first=True, bidirectional=True)

    def forward(self, tokens, lengths):
        X = rnn.pack_padded_sequence(self.embedding(tokens), lengths.cpu(), batch_first=True, enforce_sorted=False)
        states = rnn.pad_packed_sequence(self.gru(X)[0], batch_first=True, total_length=tokens.size(1))[0]
        forward, backward = states.chunk(2, dim=2)
        return states, torch.cat([forward[torch.arange(len(tokens)), lengths - 1], backward[:, 0]], dim=1)


class Decoder(nn.Module):
    def __init__(self, vocab_size, embedding_size, hidden_size, states_size):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embedding_size)
        self.W = nn.Parameter((2 * torch.rand(hidden_size, states_size) - 1) / states_size**0.5)
        self.cell = nn.GRUCell(embedding_size + states_size, hidden_size)
        self.out = nn.Linear(hidden_size, vocab_size)

    def step(self, tokens, h, states, lengths):
        c, _ = context(bilinear_scores(h, states, self.W), states, lengths)
        h = self.cell(torch.hstack([c, self.embedding(tokens)]), h)
        return self.out(h), h

    def forward(self, inputs, h, states, lengths):
        logits = []
        for tokens in inputs.unbind(1):
            one, h = self.step(tokens, h, states, lengths)
            logits.append(one)
        return torch.stack(logits, 1)


def teacher_forced_loss(logits, targets, pad):
    real = targets != pad
    if not real.any():
        return 0 * logits.sum()
    log_p = torch.log_softmax(logits[real], dim=1)
    return -log_p[torch.arange(len(log_p)), targets[real]].mean()


def greedy(step, state, start, end, limit):
    answer = torch.full((len(state), 1), start, device=state.device)
    while answer.shape[1] <= limit and not (answer[:, 1:] == end).any(1).all():
        logits, state = step(answer[:, -1], state)
        over = (answer[:, 1:] == end).any(1)
        answer = torch.hstack([answer, torch.where(over, end, logits.argmax(1))[:, None]])
    return answer[:, 1:]


def beam_search(step, state, start, end, width, limit):
    beam = [(0.0, [], state[0])]
    while len(beam[0][1]) < limit and not all(end in tokens for _, tokens, _ in beam):
        last = torch.tensor([tokens[-1] if tokens else start for _, tokens, _ in beam], device=state.device)
        logits, states = step(last, torch.stack([own for _, _, own in beam]))
        candidates = []
        for (score, tokens, _), gains, own in zip(beam, logits.log_softmax(1), states):
            if end in tokens:
                candidates.append((score, tokens + [end], own))
            else:
                candidates += [(score + gain, tokens + [v], own) for v, gain in enumerate(gains)]
        beam = sorted(candidates, key=lambda one: -one[0])[:width]
    scores = torch.stack([score for score, _, _ in beam])
    return torch.tensor([tokens for _, tokens, _ in beam], device=state.device), scores
