"""The references agree with PyTorch: outputs, and gradients of every input and parameter, on random weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from reference import attention_scores, lstm_gates, multi_head, transformer_block

T, N, D, H, P = 5, 3, 4, 6, 2  # time steps, sequences, features, units, projected units
M, HEADS, WIDTH, D_FF = 7, 3, 12, 10  # tokens that are asked, heads, width of a token, of the feed-forward network
ROUNDINGS = 100  # rounding errors of the largest entry; a wrong formula is off by 1e4 in float32, 1e13 in float64

Module = TypeVar("Module", bound=nn.Module)
both_precisions = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(20)


def random(*shape: int, dtype: torch.dtype) -> Tensor:
    return torch.randn(shape, dtype=dtype, requires_grad=True)


def with_random_weights(module: Module, dtype: torch.dtype) -> Module:
    """Every weight random: PyTorch starts some at 0 or 1, and there a mix-up would not show."""
    module.to(dtype)
    with torch.no_grad():
        for weight in module.parameters():
            weight.copy_(torch.randn_like(weight) / weight.shape[-1] ** 0.5)
    return module


def loaded(module: Module, source: nn.Module, dtype: torch.dtype) -> Module:
    """The module with the other's weights; a name or shape that differs raises."""
    module.to(dtype).load_state_dict(source.state_dict())
    return module


def flat(value: Tensor | tuple[object, ...]) -> list[Tensor]:
    """The tensors of a nested tuple."""
    return [value] if isinstance(value, Tensor) else [tensor for entry in value for tensor in flat(entry)]


def observed(run: Callable[[], Tensor | tuple[object, ...]], *leaves: Tensor) -> list[Tensor]:
    """The outputs of a run, then the gradients of the leaves for a cotangent that is random, but always the same."""
    outputs = flat(run())
    source = torch.Generator().manual_seed(7)
    cotangents = [torch.randn(out.shape, generator=source, dtype=out.dtype) for out in outputs]
    return [*outputs, *torch.autograd.grad(outputs, leaves, cotangents)]


def assert_agree(got: list[Tensor], want: list[Tensor]) -> None:
    assert len(got) == len(want)
    for ours, theirs in zip(got, want, strict=True):
        assert ours.dtype == theirs.dtype
        allowed = ROUNDINGS * torch.finfo(theirs.dtype).eps * theirs.abs().max().item()
        torch.testing.assert_close(ours, theirs, rtol=0, atol=allowed)


@both_precisions
class TestLSTM:
    """`reference/lstm_gates.py` and `nn.LSTM`."""

    @pytest.mark.parametrize("given", [True, False], ids=["state", "no state"])
    def test_one_layer(self, given: bool, dtype: torch.dtype) -> None:
        """`lstm` is one layer of nn.LSTM, from a given state and from none."""
        theirs = with_random_weights(nn.LSTM(D, H), dtype)
        x, state = random(T, N, D, dtype=dtype), [random(N, H, dtype=dtype) for _ in range(2 * given)]
        weights = list(theirs.parameters())

        def run() -> tuple[object, ...]:
            output, (h, c) = theirs(x, tuple(entry[None] for entry in state) or None)
            return output, h[0], c[0]

        got = observed(lambda: lstm_gates.lstm(x, *(state or (None, None)), *weights), x, *state, *weights)
        assert_agree(got, observed(run, x, *state, *weights))

    @pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN")
    def test_projected_layer(self, dtype: torch.dtype) -> None:
        """`projected_lstm` is nn.LSTM with proj_size."""
        theirs = with_random_weights(nn.LSTM(D, H, proj_size=P), dtype)
        x, h0, c0 = random(T, N, D, dtype=dtype), random(N, P, dtype=dtype), random(N, H, dtype=dtype)
        leaves = (x, h0, c0, *theirs.parameters())

        def run() -> tuple[object, ...]:
            output, (h, c) = theirs(x, (h0[None], c0[None]))
            return output, h[0], c[0]

        assert_agree(observed(lambda: lstm_gates.projected_lstm(*leaves), *leaves), observed(run, *leaves))

    @pytest.mark.parametrize("given", [True, False], ids=["state", "no state"])
    @pytest.mark.parametrize("bidirectional", [False, True], ids=["forward", "both directions"])
    @pytest.mark.parametrize("layers", [1, 3])
    def test_stacked(self, layers: int, bidirectional: bool, given: bool, dtype: torch.dtype) -> None:
        """The module loads nn.LSTM's weights and gives its numbers; dropout is off in evaluation."""
        settings = {"num_layers": layers, "bidirectional": bidirectional, "dropout": 0.5 * (layers > 1)}
        theirs = with_random_weights(nn.LSTM(D, H, **settings), dtype).eval()
        ours = loaded(lstm_gates.LSTM(D, H, **settings), theirs, dtype).eval()
        rows = layers * (1 + bidirectional)
        x, state = random(T, N, D, dtype=dtype), tuple(random(rows, N, H, dtype=dtype) for _ in range(2 * given))
        got, want = (
            observed(lambda lstm=lstm: lstm(x, state or None), x, *state, *named(lstm, theirs))
            for lstm in (ours, theirs)
        )
        assert_agree(got, want)

    def test_backward_of_a_step(self, dtype: torch.dtype) -> None:
        """`lstm_step_backward` is what autograd finds for nn.LSTMCell."""
        cell = with_random_weights(nn.LSTMCell(D, H), dtype)
        leaves = (*(random(N, width, dtype=dtype) for width in (D, H, H)), *cell.parameters())
        x, h, c, *_ = leaves
        dh_t, dc_t = torch.randn(2, N, H, dtype=dtype)
        want = torch.autograd.grad(cell(x, (h, c)), leaves, (dh_t, dc_t))
        with torch.no_grad():
            got = lstm_gates.lstm_step_backward(*leaves, dh_t, dc_t)
        assert_agree(list(got), list(want))


def named(module: nn.Module, like: nn.Module) -> list[Tensor]:
    """The module's parameters in the order of the other's."""
    parameters = dict(module.named_parameters())
    assert len(parameters) == len(list(like.parameters()))
    return [parameters[name] for name, _ in like.named_parameters()]


def mask_of(kind: str, m: int, n: int) -> Tensor | None:
    """True = may look; every query may look at one key at least."""
    if kind == "no mask":
        return None
    mask = torch.rand(*([N] if kind == "of each example" else []), m, n) < 0.5
    mask[..., 0] = True
    return mask


def as_pytorch(mask: Tensor | None) -> Tensor | None:
    """PyTorch's modules want True = blocked, and a mask of three axes for every head of every example."""
    if mask is None:
        return None
    return ~mask if mask.ndim == 2 else ~mask.repeat_interleave(HEADS, dim=0)


every_mask = pytest.mark.parametrize("kind", ["no mask", "of all examples", "of each example"])


@both_precisions
@every_mask
class TestAttention:
    """`reference/attention_scores.py`, `reference/multi_head.py` and PyTorch's attention."""

    def test_scaled_dot_product(self, kind: str, dtype: torch.dtype) -> None:
        """`attention` gives the output of F.scaled_dot_product_attention; values may be wider than keys."""
        leaves = tuple(random(N, *shape, dtype=dtype) for shape in ((T, D), (M, D), (M, H)))
        mask = mask_of(kind, T, M)
        got = observed(lambda: attention_scores.attention(*leaves, mask)[0], *leaves)
        assert_agree(got, observed(lambda: F.scaled_dot_product_attention(*leaves, mask), *leaves))

    def test_heads_alone(self, kind: str, dtype: torch.dtype) -> None:
        """`multi_head_attention` is nn.MultiheadAttention without bias whose output projection is the identity."""
        theirs = nn.MultiheadAttention(WIDTH, HEADS, bias=False, kdim=D, vdim=D, batch_first=True)
        with_random_weights(theirs, dtype).out_proj.weight.data = torch.eye(WIDTH, dtype=dtype)
        weights = theirs.q_proj_weight, theirs.k_proj_weight, theirs.v_proj_weight
        X_q, X_kv = random(N, T, WIDTH, dtype=dtype), random(N, M, D, dtype=dtype)
        mask, leaves = mask_of(kind, T, M), (X_q, X_kv, *weights)
        got = observed(
            lambda: multi_head.multi_head_attention(X_q, X_kv, *(W.T for W in weights), HEADS, mask), *leaves
        )
        assert_agree(got, observed(lambda: theirs(X_q, X_kv, X_kv, attn_mask=as_pytorch(mask))[0], *leaves))

    @pytest.mark.parametrize("cross", [False, True], ids=["self", "cross"])
    def test_module(self, cross: bool, kind: str, dtype: torch.dtype) -> None:
        """The module loads nn.MultiheadAttention's weights and gives its numbers."""
        theirs = with_random_weights(nn.MultiheadAttention(WIDTH, HEADS, batch_first=True), dtype)
        ours = loaded(multi_head.MultiHeadAttention(WIDTH, HEADS), theirs, dtype)
        tokens = [random(N, T, WIDTH, dtype=dtype)] + cross * [random(N, M, WIDTH, dtype=dtype)]
        X_q, X_kv = tokens[0], tokens[-1]
        mask = mask_of(kind, T, X_kv.shape[1])
        got = observed(lambda: ours(*tokens, mask=mask), *tokens, *named(ours, theirs))
        want = observed(lambda: theirs(X_q, X_kv, X_kv, attn_mask=as_pytorch(mask))[0], *tokens, *theirs.parameters())
        assert_agree(got, want)


@both_precisions
@pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
class TestTransformer:
    """`reference/transformer_block.py` and PyTorch's encoder."""

    @every_mask
    def test_block(self, kind: str, norm_first: bool, dtype: torch.dtype) -> None:
        """The block loads nn.TransformerEncoderLayer's weights and gives its numbers."""
        theirs = with_random_weights(encoder_layer(norm_first), dtype)
        ours = loaded(transformer_block.TransformerBlock(WIDTH, HEADS, D_FF, norm_first), theirs, dtype)
        X, mask = random(N, T, WIDTH, dtype=dtype), mask_of(kind, T, T)
        got = observed(lambda: ours(X, mask), X, *named(ours, theirs))
        assert_agree(got, observed(lambda: theirs(X, src_mask=as_pytorch(mask)), X, *theirs.parameters()))

    def test_stack(self, norm_first: bool, dtype: torch.dtype) -> None:
        """The transformer is nn.TransformerEncoder with a causal mask on embeddings that positions were added to."""
        layers, words, longest = 2, 9, 8
        theirs = with_random_weights(
            nn.TransformerEncoder(encoder_layer(norm_first), layers, enable_nested_tensor=False), dtype
        )
        ours = transformer_block.Transformer(words, longest, WIDTH, HEADS, D_FF, layers, norm_first)
        with_random_weights(ours, dtype)
        loaded(ours.blocks, theirs.layers, dtype)
        tokens, later = torch.randint(words, (N, T)), torch.ones(T, T).triu(1).bool()
        table, positions = ours.embed.weight, ours.positions
        want = observed(
            lambda: theirs(table[tokens] + positions[:T], mask=later), table, positions, *theirs.parameters()
        )
        got = observed(lambda: ours(tokens), table, positions, *named(ours.blocks, theirs.layers))
        assert_agree(got, want)


def encoder_layer(norm_first: bool) -> nn.TransformerEncoderLayer:
    return nn.TransformerEncoderLayer(WIDTH, HEADS, D_FF, dropout=0.0, batch_first=True, norm_first=norm_first)


@both_precisions
def test_layer_norm(dtype: torch.dtype) -> None:
    """`layer_norm` is F.layer_norm over the last axis, with a large ε, too."""
    leaves = random(N, T, D, dtype=dtype), random(D, dtype=dtype), random(D, dtype=dtype)
    for eps in (1e-5, 0.3):
        got = observed(lambda eps=eps: transformer_block.layer_norm(*leaves, eps), *leaves)
        assert_agree(got, observed(lambda eps=eps: F.layer_norm(leaves[0], (D,), *leaves[1:], eps), *leaves))
