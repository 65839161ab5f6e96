"""Other right encoders."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from reference import seq2seq as ref
from softmark import equivalent


@equivalent(ref.Encoder)
class SortedByHand(nn.Module):
    def __init__(self, vocab_size, embedding_size, hidden_size):
        super().__init__()
        self.gru = nn.GRU(embedding_size, hidden_size, bidirectional=True)
        self.embedding = nn.Embedding(vocab_size, embedding_size)

    def forward(self, tokens, lengths):
        sorted_lengths, order = lengths.sort(descending=True)
        X = self.embedding(tokens[order]).transpose(0, 1)
        packed, h = self.gru(pack_padded_sequence(X, sorted_lengths.tolist()))
        states, _ = pad_packed_sequence(packed, total_length=tokens.size(1))
        back = order.argsort()
        return states.transpose(0, 1)[back], h.transpose(0, 1).flatten(1)[back]


@equivalent(ref.Encoder.forward)
def read_alone(self, tokens, lengths):
    states, last = [], []
    for row, length in zip(tokens, lengths.tolist(), strict=True):
        y, h = self.gru(self.embedding(row[None, :length]))
        states.append(nn.functional.pad(y[0], (0, 0, 0, tokens.shape[1] - length)))
        last.append(h.flatten())
    return torch.stack(states), torch.stack(last)


@equivalent(ref.Encoder.forward)
def last_state_from_the_states(self, tokens, lengths):
    packed = pack_padded_sequence(self.embedding(tokens), lengths.to("cpu"), batch_first=True, enforce_sorted=False)
    states, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=tokens.shape[1])
    forward, backward = states.chunk(2, dim=-1)
    at = torch.arange(len(tokens), device=tokens.device)
    return states, torch.cat([forward[at, lengths - 1], backward[:, 0]], dim=-1)


@equivalent(ref.Encoder.forward)
def padded_afterwards(self, tokens, lengths):
    longest = int(lengths.max())
    X = self.embedding(tokens[:, :longest])
    y, h = self.gru(pack_padded_sequence(X, lengths.cpu(), batch_first=True, enforce_sorted=False))
    y = pad_packed_sequence(y, batch_first=True)[0]
    rest = y.new_zeros(y.shape[0], tokens.shape[1] - longest, y.shape[2])
    return torch.cat([y, rest], dim=1), h.permute(1, 0, 2).reshape(len(tokens), -1)
