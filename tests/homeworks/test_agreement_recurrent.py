"""`reference/recurrent.py` agrees with PyTorch: outputs, and gradients of every input and parameter."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from reference import recurrent
from tests.homeworks.test_agreement import assert_agree, loaded, named, observed, random, with_random_weights

T, N, D, H = 5, 3, 4, 6  # time steps, sequences, features, units

both_precisions = pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
every_state = pytest.mark.parametrize("state", ["for each", "for all", "none"])


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(20)


def layer(dtype: torch.dtype) -> tuple[nn.RNN, list[Tensor]]:
    """Return one layer of PyTorch's whose second bias is zero, and the three weights of part 1."""
    theirs = with_random_weights(nn.RNN(D, H), dtype)
    theirs.bias_hh_l0.requires_grad_(False).zero_()
    return theirs, [theirs.weight_ih_l0, theirs.weight_hh_l0, theirs.bias_ih_l0]


def initial(state: str, dtype: torch.dtype) -> list[Tensor]:
    """Return a state for each sequence, or one for all of them, or nothing."""
    shapes = {"for each": [(N, H)], "for all": [(H,)], "none": []}
    return [random(*shape, dtype=dtype) for shape in shapes[state]]


def as_pytorch(h0: list[Tensor]) -> Tensor | None:
    return h0[0].expand(1, N, H).contiguous() if h0 else None


@both_precisions
class TestRecurrent:
    """Each part, and what PyTorch has for it."""

    def test_step(self, dtype: torch.dtype) -> None:
        """`rnn_step` is nn.RNNCell, and `joined` is its two weights in one."""
        cell = with_random_weights(nn.RNNCell(D, H), dtype)
        cell.bias_hh.requires_grad_(False).zero_()
        x, h = random(N, D, dtype=dtype), random(N, H, dtype=dtype)
        leaves = x, h, cell.weight_ih, cell.weight_hh, cell.bias_ih
        want = observed(lambda: cell(x, h), *leaves)
        assert_agree(observed(lambda: recurrent.rnn_step(*leaves), *leaves), want)

        def with_one_weight() -> Tensor:
            W = recurrent.joined(cell.weight_hh, cell.weight_ih)
            return torch.tanh(torch.cat([h, x], dim=-1) @ W.T + cell.bias_ih)

        assert_agree(observed(with_one_weight, *leaves), want)

    @every_state
    def test_sequence(self, state: str, dtype: torch.dtype) -> None:
        """`rnn` is one layer of nn.RNN."""
        theirs, weights = layer(dtype)
        x, h0 = random(T, N, D, dtype=dtype), initial(state, dtype)

        def run() -> tuple[Tensor, Tensor]:
            output, h_n = theirs(x, as_pytorch(h0))
            return output, h_n[0]

        got = observed(lambda: recurrent.rnn(x, h0[0] if h0 else None, *weights), x, *h0, *weights)
        assert_agree(got, observed(run, x, *h0, *weights))

    def test_gated_step(self, dtype: torch.dtype) -> None:
        """`gru_step` is nn.GRUCell, and repeated it is nn.GRU."""
        theirs = with_random_weights(nn.GRU(D, H), dtype)
        cell = nn.GRUCell(D, H).to(dtype)
        cell.load_state_dict({name.removesuffix("_l0"): value for name, value in theirs.state_dict().items()})
        x, h, weights = random(T, N, D, dtype=dtype), random(N, H, dtype=dtype), list(theirs.parameters())

        def steps() -> Tensor:
            states = [h]
            for x_t in x:
                states.append(recurrent.gru_step(x_t, states[-1], *weights))
            return torch.stack(states[1:])

        want = observed(lambda: theirs(x, h[None])[0], x, h, *weights)
        assert_agree(observed(steps, x, h, *weights), want)
        assert_agree([recurrent.gru_step(x[0], h, *weights)], [cell(x[0], h)])

    @pytest.mark.parametrize("given", [True, False], ids=["state", "no state"])
    @pytest.mark.parametrize("bidirectional", [False, True], ids=["forward", "both directions"])
    @pytest.mark.parametrize("layers", [1, 3])
    @pytest.mark.parametrize("nonlinearity", ["tanh", "relu"])
    def test_module(self, nonlinearity: str, layers: int, bidirectional: bool, given: bool, dtype: torch.dtype) -> None:
        """The module loads nn.RNN's weights and gives its numbers, time first and batch first."""
        settings = {"num_layers": layers, "nonlinearity": nonlinearity, "bidirectional": bidirectional}
        settings |= {"batch_first": given, "dropout": 0.5 * (layers > 1)}
        theirs = with_random_weights(nn.RNN(D, H, **settings), dtype).eval()
        ours = loaded(recurrent.RNN(D, H, **settings), theirs, dtype).eval()
        x = random(T, N, D, dtype=dtype)
        rows, batch = layers * (1 + bidirectional), T if given else N
        h0 = [random(rows, batch, H, dtype=dtype) for _ in range(given)]
        got, want = (observed(lambda net=net: net(x, *h0), x, *h0, *named(net, theirs)) for net in (ours, theirs))
        assert_agree(got, want)

    @every_state
    def test_backward(self, state: str, dtype: torch.dtype) -> None:
        """`rnn_backward` is what autograd finds for nn.RNN."""
        theirs, weights = layer(dtype)
        x, h0 = random(T, N, D, dtype=dtype), initial(state, dtype)
        d_outputs = torch.randn(T, N, H, dtype=dtype)
        want = torch.autograd.grad(theirs(x, as_pytorch(h0))[0], [x, *h0, *weights], d_outputs)
        with torch.no_grad():
            got = recurrent.rnn_backward(x, h0[0] if h0 else None, *weights, d_outputs)
        assert (got[1] is None) == (state == "none")
        assert_agree([value for value in got if value is not None], list(want))

    @pytest.mark.parametrize("steps", [1, 2, 4, T, T + 3])
    def test_truncated_backward(self, steps: int, dtype: torch.dtype) -> None:
        """With `steps`, each output's gradient is autograd's through a window that begins with a detached state."""
        theirs, weights = layer(dtype)
        x, (h0,) = random(T, N, D, dtype=dtype), initial("for each", dtype)
        d_outputs = torch.randn(T, N, H, dtype=dtype)
        states = [h0, *theirs(x, h0[None])[0].detach()]
        total = torch.zeros((), dtype=dtype)
        for t in range(T):
            first = max(0, t + 1 - steps)
            output, _ = theirs(x[first : t + 1], states[first][None])
            total = total + (output[-1] * d_outputs[t]).sum()
        want = torch.autograd.grad(total, [x, h0, *weights])
        with torch.no_grad():
            got = recurrent.rnn_backward(x, h0, *weights, d_outputs, steps)
        assert_agree(list(got), list(want))

    @pytest.mark.parametrize("share", [0.25, 4.0], ids=["clipped", "left"])
    def test_clip(self, share: float, dtype: torch.dtype) -> None:
        """`clip` is clip_grad_norm_, which adds 1e-6 to the norm: for large gradients that does not show."""
        gradients = [1e9 * torch.randn(shape, dtype=dtype) for shape in ((3, 4), (5,), ())]
        parameters = [nn.Parameter(torch.zeros_like(g)) for g in gradients]
        for parameter, g in zip(parameters, gradients, strict=True):
            parameter.grad = g.clone()
        c = share * float(torch.nn.utils.get_total_norm(gradients))
        torch.nn.utils.clip_grad_norm_(parameters, c)
        got = recurrent.clip([gradients[0], None, *gradients[1:]], c)
        assert got.pop(1) is None
        assert_agree([g for g in got if g is not None], [p.grad for p in parameters if p.grad is not None])

    def test_state_jacobian(self, dtype: torch.dtype) -> None:
        """`state_jacobian` is autograd's Jacobian of nn.RNN's last state."""
        theirs, weights = layer(dtype)
        x, (h0,) = random(T, N, D, dtype=dtype), initial("for each", dtype)
        full = torch.autograd.functional.jacobian(lambda h: theirs(x, h[None])[1][0], h0)
        want = torch.stack([full[n, :, n] for n in range(N)])
        assert_agree([recurrent.state_jacobian(theirs(x, h0[None])[0].detach(), weights[1].detach())], [want])
