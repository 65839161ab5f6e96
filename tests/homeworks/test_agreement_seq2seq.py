"""The reference of `seq2seq` agrees with PyTorch and with a search over all sequences: values and gradients."""

from __future__ import annotations

import itertools

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from reference import seq2seq
from tests.homeworks.test_agreement import assert_agree, both_precisions, loaded, observed, random, with_random_weights

N, S, T, V, D, C, H = 3, 5, 4, 7, 2, 4, 6  # sentences, tokens of source and target, vocabulary, widths
LENGTHS = torch.tensor([4, 1, 3])


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(20)


@both_precisions
class TestAgreement:
    def test_bilinear_scores(self, dtype: torch.dtype) -> None:
        """They are nn.functional.bilinear of the query with each state."""
        leaves = random(N, H, dtype=dtype), random(N, S, C, dtype=dtype), random(H, C, dtype=dtype)

        def theirs() -> Tensor:
            query, states, W = leaves
            return F.bilinear(query[:, None].expand(-1, S, -1).contiguous(), states, W[None]).squeeze(2)

        assert_agree(observed(lambda: seq2seq.bilinear_scores(*leaves), *leaves), observed(theirs, *leaves))

    def test_context(self, dtype: torch.dtype) -> None:
        """It is scaled_dot_product_attention without scale, under a mask of the real tokens."""
        leaves = random(N, C, dtype=dtype), random(N, S, C, dtype=dtype)
        real = torch.arange(S) < LENGTHS[:, None]

        def ours() -> Tensor:
            query, states = leaves
            return seq2seq.context(seq2seq.dot_scores(query, states), states, LENGTHS)[0]

        def theirs() -> Tensor:
            query, states = leaves
            mask = real[:, None, :]
            attended = F.scaled_dot_product_attention(query[:, None], states, states, attn_mask=mask, scale=1.0)
            return attended.squeeze(1)

        assert_agree(observed(ours, *leaves), observed(theirs, *leaves))

    def test_encoder(self, dtype: torch.dtype) -> None:
        """Each sentence is what nn.GRU makes of it alone."""
        ours = with_random_weights(seq2seq.Encoder(V, D, H), dtype)
        gru = loaded(nn.GRU(D, H, batch_first=True, bidirectional=True), ours.gru, dtype)
        table = ours.embedding.weight
        tokens = torch.randint(V, (N, S))

        def theirs() -> tuple[Tensor, Tensor]:
            states, last = [], []
            for row, length in zip(tokens, LENGTHS.tolist(), strict=True):
                outputs, h_n = gru(table[row[None, :length]])
                states.append(F.pad(outputs[0], (0, 0, 0, S - length)))
                last.append(h_n.flatten())
            return torch.stack(states), torch.stack(last)

        got = observed(lambda: ours(tokens, LENGTHS), table, *ours.gru.parameters())
        assert_agree(got, observed(theirs, table, *gru.parameters()))

    def test_decoder(self, dtype: torch.dtype) -> None:
        """Its steps are those of nn.GRUCell, with attention in front of each."""
        ours = with_random_weights(seq2seq.Decoder(V, D, H, C), dtype)
        cell = loaded(nn.GRUCell(D + C, H), ours.cell, dtype)
        h0, states = random(N, H, dtype=dtype), random(N, S, C, dtype=dtype)
        inputs, real = torch.randint(V, (N, T)), torch.arange(S) < LENGTHS[:, None]

        def theirs() -> Tensor:
            h, logits = h0, []
            for t in range(T):
                query = (h @ ours.W)[:, None]
                c = F.scaled_dot_product_attention(query, states, states, attn_mask=real[:, None], scale=1.0)
                h = cell(torch.cat([F.embedding(inputs[:, t], ours.embedding.weight), c[:, 0]], dim=1), h)
                logits.append(F.linear(h, ours.out.weight, ours.out.bias))
            return torch.stack(logits, dim=1)

        shared = h0, states, ours.W, ours.embedding.weight, ours.out.weight, ours.out.bias
        got = observed(lambda: ours(inputs, h0, states, LENGTHS), *shared, *ours.cell.parameters())
        assert_agree(got, observed(theirs, *shared, *cell.parameters()))

    @pytest.mark.parametrize("pad", [0, 3, -100])
    def test_loss(self, pad: int, dtype: torch.dtype) -> None:
        """It is cross_entropy with ignore_index."""
        logits, targets = random(N, T, V, dtype=dtype), torch.randint(V, (N, T))
        targets[torch.arange(T) >= LENGTHS[:, None]] = pad

        def theirs() -> Tensor:
            return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=pad)

        got = observed(lambda: seq2seq.teacher_forced_loss(logits, targets, pad), logits)
        assert_agree(got, observed(theirs, logits))

    @pytest.mark.parametrize("limit", [1, 2, 4])
    def test_wide_beam(self, limit: int, dtype: torch.dtype) -> None:
        """With a wide beam it is all sequences of a decoder by their scores, and greedy search is a beam of one."""
        vocabulary, start, end = 4, 1, 2
        decoder = with_random_weights(seq2seq.Decoder(vocabulary, D, H, C), dtype)
        states, h0 = random(1, S, C, dtype=dtype), random(1, H, dtype=dtype)

        def step(tokens: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
            return decoder.step(tokens, h, states.expand(len(tokens), -1, -1), torch.full_like(tokens, S))

        scores: dict[tuple[int, ...], float] = {}
        with torch.no_grad():
            for row in itertools.product(range(vocabulary), repeat=limit):
                length = row.index(end) + 1 if end in row else limit
                inputs = torch.tensor([[start, *row[: length - 1]]])
                logits = decoder(inputs, h0, states, torch.tensor([S]))
                losses = F.cross_entropy(logits[0], torch.tensor(row[:length]), reduction="sum")
                scores[row[:length] + (end,) * (limit - length)] = -losses.item()
            best = sorted(scores, key=lambda row: -scores[row])
            tokens, found = seq2seq.beam_search(step, h0, start, end, vocabulary**limit, limit)
            greedy = seq2seq.greedy(step, h0, start, end, limit)
            of_one, _ = seq2seq.beam_search(step, h0, start, end, 1, limit)
        assert tokens.tolist() == [list(row) for row in best]
        assert_agree([found], [torch.tensor([scores[row] for row in best], dtype=dtype)])
        assert torch.equal(greedy, of_one)
