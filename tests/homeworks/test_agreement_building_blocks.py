"""The reference of building_blocks agrees with PyTorch: outputs, and gradients of every input, on random numbers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from reference import building_blocks
from tests.homeworks.test_agreement import assert_agree, both_precisions, observed, random

N, C, T = 6, 4, 9  # examples, classes, time steps
D_IN, D_OUT = 5, 3  # features or channels before and after
HEIGHT, WIDTH = 8, 7


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(21)


def channels_first(X: Tensor) -> Tensor:
    """The picture as PyTorch wants it."""
    return X.permute(0, 3, 1, 2)


def assert_same(ours: Callable[..., Tensor], theirs: Callable[..., Tensor], *leaves: Tensor) -> None:
    assert_agree(observed(lambda: ours(*leaves), *leaves), observed(lambda: theirs(*leaves), *leaves))


@both_precisions
class TestLayers:
    """Layers, and the functions of PyTorch that are forbidden in their parts."""

    def test_linear(self, dtype: torch.dtype) -> None:
        """`linear` is F.linear."""
        leaves = random(2, N, D_IN, dtype=dtype), random(D_OUT, D_IN, dtype=dtype), random(D_OUT, dtype=dtype)
        assert_same(building_blocks.linear, F.linear, *leaves)

    def test_mlp(self, dtype: torch.dtype) -> None:
        """`mlp` is nn.Linear and nn.Tanh in turn, whose weights are transposed."""
        linears = [nn.Linear(D_IN, 8), nn.Linear(8, C), nn.Linear(C, D_OUT)]
        network = nn.Sequential(linears[0], nn.Tanh(), linears[1], nn.Tanh(), linears[2]).to(dtype)
        X, weights = random(N, D_IN, dtype=dtype), list(network.parameters())
        layers = [(linear.weight.T, linear.bias) for linear in linears]
        got = observed(lambda: building_blocks.mlp(X, layers, torch.tanh), X, *weights)
        assert_agree(got, observed(lambda: network(X), X, *weights))

    @pytest.mark.parametrize(("stride", "padding"), [(1, 0), (1, 1), (2, 0), (2, 3), (3, 1)])
    @pytest.mark.parametrize("k", [1, 2, 3])
    def test_conv2d(self, k: int, stride: int, padding: int, dtype: torch.dtype) -> None:
        """`conv2d` is F.conv2d with the channels last."""
        leaves = random(2, HEIGHT, WIDTH, D_IN, dtype=dtype), random(k, k, D_IN, D_OUT, dtype=dtype)

        def theirs(X: Tensor, K: Tensor, b: Tensor) -> Tensor:
            return F.conv2d(channels_first(X), K.permute(3, 2, 0, 1), b, stride, padding).permute(0, 2, 3, 1)

        def ours(X: Tensor, K: Tensor, b: Tensor) -> Tensor:
            return building_blocks.conv2d(X, K, b, stride, padding)

        assert_same(ours, theirs, *leaves, random(D_OUT, dtype=dtype))

    @pytest.mark.parametrize("size", [1, 2, 3, 5])
    def test_max_pool(self, size: int, dtype: torch.dtype) -> None:
        """`max_pool` is F.max_pool2d with the channels last."""
        X = random(2, HEIGHT, WIDTH, D_IN, dtype=dtype)
        assert_same(
            lambda X: building_blocks.max_pool(X, size),
            lambda X: F.max_pool2d(channels_first(X), size).permute(0, 2, 3, 1),
            X,
        )

    @pytest.mark.parametrize("dilation", [1, 2, 5])
    @pytest.mark.parametrize("k", [1, 2, 4])
    def test_causal_conv1d(self, k: int, dilation: int, dtype: torch.dtype) -> None:
        """`causal_conv1d` is F.conv1d of a sequence with zeros in front."""
        leaves = random(2, T, D_IN, dtype=dtype), random(k, D_IN, D_OUT, dtype=dtype), random(D_OUT, dtype=dtype)

        def theirs(X: Tensor, K: Tensor, b: Tensor) -> Tensor:
            return F.conv1d(F.pad(X.mT, ((k - 1) * dilation, 0)), K.permute(2, 1, 0), b, dilation=dilation).mT

        assert_same(lambda X, K, b: building_blocks.causal_conv1d(X, K, b, dilation), theirs, *leaves)

    @pytest.mark.parametrize(("kernels", "dilations"), [([3], [2]), ([2, 3, 4], [1, 2, 3]), ([1, 5], [7, 1])])
    def test_receptive_field(self, kernels: list[int], dilations: list[int], dtype: torch.dtype) -> None:
        """`receptive_field` counts from the first token that gets a gradient to the last one."""
        X = random(1, 40, 1, dtype=dtype)
        H = X
        for k, dilation in zip(kernels, dilations, strict=True):
            ones = torch.ones(k, 1, 1, dtype=dtype)
            H = building_blocks.causal_conv1d(H, ones, torch.zeros(1, dtype=dtype), dilation)
        (gradient,) = torch.autograd.grad(H[0, -1, 0], X)
        first = int(gradient[0, :, 0].nonzero()[0])
        assert building_blocks.receptive_field(kernels, dilations) == 40 - first


@both_precisions
@pytest.mark.parametrize("scale", [1, 300], ids=["ordinary", "far out"])
class TestLosses:
    """Losses and a step of gradient descent."""

    @pytest.mark.parametrize("shape", [(N,), (N, C)], ids=["one number", "several numbers"])
    def test_squared_loss(self, shape: tuple[int, ...], scale: int, dtype: torch.dtype) -> None:
        """`squared_loss` is F.mse_loss with the sum over the numbers of an example."""
        leaves = random(*shape, dtype=dtype), random(*shape, dtype=dtype)
        assert_same(
            lambda y_pred, y: building_blocks.squared_loss(scale * y_pred, y),
            lambda y_pred, y: F.mse_loss(scale * y_pred, y, reduction="sum") / N,
            *leaves,
        )

    def test_logistic_loss(self, scale: int, dtype: torch.dtype) -> None:
        """`logistic_loss` is F.binary_cross_entropy_with_logits."""
        z, y = random(N, dtype=dtype), torch.tensor([0, 1, 1, 0, 1, 0])
        assert_same(
            lambda z: building_blocks.logistic_loss(scale * z, y),
            lambda z: F.binary_cross_entropy_with_logits(scale * z, y.to(dtype)),
            z,
        )

    def test_softmax_loss(self, scale: int, dtype: torch.dtype) -> None:
        """`softmax_loss` is F.cross_entropy."""
        logits, y = random(N, C, dtype=dtype), torch.randint(C, (N,))
        assert_same(
            lambda logits: building_blocks.softmax_loss(scale * logits, y),
            lambda logits: F.cross_entropy(scale * logits, y),
            logits,
        )

    def test_step(self, scale: int, dtype: torch.dtype) -> None:
        """`softmax_regression_step` is a step of torch.optim.SGD, with weight decay for the weight only."""
        layer, X, y = nn.Linear(D_IN, C).to(dtype), scale * torch.randn(N, D_IN, dtype=dtype), torch.randint(C, (N,))
        before = [weight.detach().clone() for weight in layer.parameters()]
        groups = [{"params": [layer.weight], "weight_decay": 0.3}, {"params": [layer.bias]}]
        F.cross_entropy(layer(X), y).backward()
        torch.optim.SGD(groups, lr=0.2).step()
        got = building_blocks.softmax_regression_step(X, y, *before, 0.2, 0.3)
        assert_agree(list(got), [weight.detach() for weight in layer.parameters()])
