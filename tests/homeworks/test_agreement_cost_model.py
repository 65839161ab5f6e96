"""The reference of cost_model agrees with PyTorch's modules, with counted loops, and with published figures."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest
import torch
from torch import Tensor, nn

from reference import cost_model
from tests.homeworks.test_agreement import assert_agree, both_precisions, observed

SIZES = [(1, 6), (5, 6), (7, 2), (6, 6)]
"""Tokens and features."""


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(23)


def numel(module: nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


class Counter:
    """Counts the multiply-adds of products that are written as loops over numbers."""

    def __init__(self) -> None:
        self.multiply_adds = 0

    def product(self, rows: int, inner: int, columns: int) -> None:
        """Count the product of matrices (rows, inner) and (inner, columns), one multiply-add after the other."""
        for _ in product(range(rows), range(inner), range(columns)):
            self.multiply_adds += 1


@pytest.mark.parametrize("n_layers", [1, 3])
@pytest.mark.parametrize(("n", "d"), SIZES)
class TestMultiplyAdds:
    """The multiply-adds are those of loops that do the work."""

    def test_rnn(self, n: int, d: int, n_layers: int) -> None:
        """Each token and each state is multiplied with a matrix."""
        done = Counter()
        for _ in product(range(n_layers), range(n)):
            done.product(1, d, d)
            done.product(1, d, d)
        assert cost_model.rnn_cost(n, d, n_layers)[0] == done.multiply_adds

    @pytest.mark.parametrize("k", [2, 5])
    def test_conv(self, n: int, d: int, n_layers: int, k: int) -> None:
        """Each output is a sum over the kernel."""
        done = Counter()
        for _ in product(range(n_layers), range(n), range(k)):
            done.product(1, d, d)
        assert cost_model.conv_cost(n, d, k, n_layers)[0] == done.multiply_adds

    @pytest.mark.parametrize("n_heads", [1, 2])
    def test_attention(self, n: int, d: int, n_layers: int, n_heads: int) -> None:
        """Four projections, and two products for each head."""
        done = Counter()
        for _ in range(n_layers):
            for _ in range(4):
                done.product(n, d, d)
            for _ in range(n_heads):
                done.product(n, d // n_heads, n)
                done.product(n, n, d // n_heads)
        assert cost_model.attention_cost(n, d, n_heads, n_layers)[0] == done.multiply_adds


class TestPaths:
    """Serial steps and longest paths are those of simulated layers."""

    @pytest.mark.parametrize(("n", "n_layers"), [(1, 1), (1, 4), (6, 1), (6, 4), (3, 7)])
    def test_rnn_steps(self, n: int, n_layers: int) -> None:
        """Each cell begins when the cell before it and the cell below it are done."""
        done: dict[tuple[int, int], int] = {}
        for layer, t in product(range(n_layers), range(n)):
            done[layer, t] = 1 + max(done.get((layer - 1, t), 0), done.get((layer, t - 1), 0))
        assert cost_model.rnn_cost(n, 3, n_layers)[1] == max(done.values())

    @pytest.mark.parametrize("dilated", [False, True])
    @pytest.mark.parametrize("k", [2, 3, 5])
    def test_conv_path(self, k: int, dilated: bool) -> None:
        """Information goes from the first token to the last one layer by layer."""
        for n in range(1, 140):
            reached, dilation, layers = {0}, 1, 0
            while n - 1 not in reached:
                reached = {t + j * dilation for t in reached for j in range(k)}
                dilation, layers = dilation * k if dilated else 1, layers + 1
            assert cost_model.conv_cost(n, 3, k, 1, dilated)[2] == layers


class TestParameters:
    """Numbers of parameters are those of PyTorch's modules."""

    @pytest.mark.parametrize("n_layers", [1, 2, 4])
    @pytest.mark.parametrize(("d", "h"), [(3, 5), (5, 3), (4, 4), (1, 1)])
    def test_recurrent(self, d: int, h: int, n_layers: int) -> None:
        """`rnn` is nn.RNN, `lstm` is nn.LSTM."""
        assert cost_model.parameters("rnn", d=d, h=h, n_layers=n_layers) == numel(nn.RNN(d, h, n_layers))
        assert cost_model.parameters("lstm", d=d, h=h, n_layers=n_layers) == numel(nn.LSTM(d, h, n_layers))

    @pytest.mark.parametrize(("d", "h", "k"), [(3, 5, 2), (5, 3, 7), (1, 1, 1)])
    def test_conv(self, d: int, h: int, k: int) -> None:
        """`conv` is nn.Conv1d."""
        assert cost_model.parameters("conv", d=d, h=h, k=k) == numel(nn.Conv1d(d, h, k))

    @pytest.mark.parametrize(("d", "f", "n_heads"), [(6, 5, 2), (6, 24, 3), (1, 1, 1)])
    def test_block(self, d: int, f: int, n_heads: int) -> None:
        """`attention` is nn.MultiheadAttention, `block` is nn.TransformerEncoderLayer."""
        layer = nn.TransformerEncoderLayer(d, n_heads, f)
        assert cost_model.parameters("attention", d=d, n_heads=n_heads) == numel(nn.MultiheadAttention(d, n_heads))
        assert cost_model.parameters("feed_forward", d=d, f=f) == numel(layer.linear1) + numel(layer.linear2)
        assert cost_model.parameters("block", d=d, f=f, n_heads=n_heads) == numel(layer)

    def test_gpt_3(self) -> None:
        """GPT-3 has 96 blocks, 96 heads, 2048 tokens of 12 288 features, and 175 billion parameters."""
        count = cost_model.parameters("gpt", vocabulary=50257, n=2048, d=12288, n_heads=96, n_layers=96)
        assert count == pytest.approx(175e9, rel=0.01)

    def test_gpt_2(self) -> None:
        """The smallest GPT-2 has 124 439 808 parameters."""
        count = cost_model.parameters("gpt", vocabulary=50257, n=1024, d=768, n_heads=12, n_layers=12)
        assert count == 124_439_808

    def test_mixture(self) -> None:
        """A mixture of one expert is a block with a router."""
        exist, met = cost_model.active_parameters(6, 10, 1, 1, 3)
        assert exist == met == 3 * (numel(nn.TransformerEncoderLayer(6, 2, 10)) + 6)
        exist, met = cost_model.active_parameters(6, 10, 7, 2, 3)
        expert = numel(nn.Linear(6, 10)) + numel(nn.Linear(10, 6))
        assert exist - met == 3 * (7 - 2) * expert


@pytest.mark.parametrize("f", [None, 1, 4, 5, 10, 11, 40])
@pytest.mark.parametrize("d", [1, 2, 5, 8])
def test_crossover(d: int, f: int | None) -> None:
    """The lengths are the first ones at which the counts of part 1 say so."""
    width = 4 * d if f is None else f

    def first(dearer: Iterator[bool]) -> int:
        return next(n for n, is_dearer in enumerate(dearer, 1) if is_dearer)

    lengths = range(1, 200)
    of_attention = {n: cost_model.attention_cost(n, d)[0] for n in lengths}
    assert cost_model.crossover(d, f) == (
        first(of_attention[n] > 2 * n * d * width for n in lengths),
        first(of_attention[n] - 4 * n * d * d > cost_model.rnn_cost(n, d)[0] for n in lengths),
    )


@both_precisions
@pytest.mark.parametrize("k", [1, 3, 6])
@pytest.mark.parametrize("batch", [(), (5,), (2, 3)], ids=str)
def test_route(batch: tuple[int, ...], k: int, dtype: torch.dtype) -> None:
    """Without ties, the experts are those of torch.topk; the weights are softmax over its values."""
    X, W_router = torch.randn(*batch, 4, dtype=dtype), torch.randn(4, 6, dtype=dtype)
    best = torch.topk(X @ W_router, k, dim=-1)
    assert torch.equal(cost_model.route(X, W_router, k)[0], best.indices)

    def theirs(X: Tensor, W_router: Tensor) -> Tensor:
        return torch.softmax(torch.topk(X @ W_router, k, dim=-1).values, dim=-1)

    leaves = X.requires_grad_(), W_router.requires_grad_()
    assert_agree(observed(lambda: cost_model.route(*leaves, k)[1], *leaves), observed(lambda: theirs(*leaves), *leaves))


@both_precisions
@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("batch", [(), (6,), (2, 3)], ids=str)
def test_mixture(batch: tuple[int, ...], k: int, dtype: torch.dtype) -> None:
    """A mixture is the sum over all experts of PyTorch's, with the weight 0 where an expert was not chosen."""
    X, W_router = torch.randn(*batch, 4, dtype=dtype), torch.randn(4, 5, dtype=dtype)
    experts = [nn.Sequential(nn.Linear(4, 7), nn.ReLU(), nn.Linear(7, 4)).to(dtype) for _ in range(5)]
    leaves = X.requires_grad_(), W_router.requires_grad_()

    def theirs() -> Tensor:
        best = torch.topk(leaves[0] @ leaves[1], k, dim=-1)
        blocked = torch.full((*batch, 5), -torch.inf, dtype=dtype).scatter(-1, best.indices, best.values)
        made = torch.stack([expert(leaves[0]) for expert in experts], dim=-1)
        return (made * torch.softmax(blocked, dim=-1).unsqueeze(-2)).sum(dim=-1)

    def ours() -> Tensor:
        return cost_model.mixture(*leaves, lambda e, rows: experts[e](rows), k)

    assert_agree(observed(ours, *leaves), observed(theirs, *leaves))
