"""The tolerance: honest ways to compute a thing stay a hundred times below it, mistakes a hundred times above."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from softmark.verdict import Category, TestContext, activate, agree, draw
from softmark.verdict.expected import computed
from softmark.verdict.tolerance import DOUBLE
from tests.support import lecture
from tests.support.students import failure

SEEDS = range(12)
MARGIN = 1 / 100


def ratio(got, want, *args):
    """The worst error over its tolerance of an answer that must be right."""
    with activate(TestContext()) as case:
        agree(got, want, *args)
    return case.checks[0].ratio


def single(function):
    """The same computation, all in float32."""
    return lambda *args: function(
        *(a.float() if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in args)
    )


def inputs(seed, name):
    """Sizes and magnitudes that vary with the seed."""
    generator = torch.Generator().manual_seed(seed)
    n, m, d = (int(x) for x in torch.randint(2, 12, (3,), generator=generator))
    size = (0.3, 1.0, 3.0)[seed % 3]
    with activate(TestContext(seed=seed)):
        if name == "scores":
            return tuple(size * x for x in draw("n d", "m d", n=n, m=m, d=d))
        if name == "softmax":
            return (10 * size * draw("n m", n=n, m=m),)
        if name == "attention":
            q, k, v = draw("n d", "m d", "m e", n=n, m=m, d=d, e=d + 1)
            mask = torch.rand(n, m, generator=generator) > 0.4
            mask[:, 0] = True
            return size * q, size * k, v, mask
        if name == "layer_norm":
            x, gain, bias = draw("n d", "d", "d", n=n, d=d + 1)
            return size * x + size, gain, bias
        return draw("T N d", "N H", "N H", "G d", "G H", "G", T=4, N=2, d=d, H=3, G=12)


def scores_by_loops(Q, K):
    out = torch.zeros(Q.shape[-2], K.shape[-2])
    for i, q in enumerate(Q):
        for j, k in enumerate(K):
            out[i, j] = sum(a * b for a, b in zip(q, k, strict=True)) / len(k) ** 0.5
    return out


def softmax_base_two(S):
    E = torch.exp2((S - S.amax(-1, keepdim=True)) / math.log(2))
    return E / E.sum(-1, keepdim=True)


def norm_with_rsqrt(X, gain, bias):
    return (X - X.mean(-1, keepdim=True)) * torch.rsqrt(X.var(-1, unbiased=False, keepdim=True) + 1e-5) * gain + bias


def norm_of_moments(X, gain, bias):
    mean = X.mean(-1, keepdim=True)
    return (X - mean) / torch.sqrt((X * X).mean(-1, keepdim=True) - mean**2 + 1e-5) * gain + bias


def fused(Q, K, V, mask):
    A = lecture.masked_softmax(lecture.scores(Q, K), mask)
    return F.scaled_dot_product_attention(Q[None], K[None], V[None], mask[None])[0], A


def filled(Q, K, V, mask):
    A = (torch.einsum("id,jd->ij", Q, K) * K.shape[-1] ** -0.5).masked_fill(~mask, -1e9).softmax(-1)
    return torch.einsum("ij,jd->id", A, V), A


def weights_in_single(Q, K, V, mask):
    A = lecture.masked_softmax(lecture.scores(Q, K).float(), mask).double()
    return A @ V, A


def root_in_single(K):
    return torch.sqrt(torch.tensor(float(K.shape[-1]), dtype=torch.float32))


HONEST = {
    "scores": {
        "einsum": lambda Q, K: torch.einsum("id,jd->ij", Q, K) / K.shape[-1] ** 0.5,
        "scaled queries": lambda Q, K: (Q / math.sqrt(K.shape[-1])) @ K.T,
        "fourth roots": lambda Q, K: (Q / K.shape[-1] ** 0.25) @ (K / K.shape[-1] ** 0.25).T,
        "loops into float32": scores_by_loops,
        "float32 constant": lambda Q, K: Q @ K.T / root_in_single(K),
        "float32": single(lecture.scores),
        "float32 scaled queries": single(lambda Q, K: (Q / math.sqrt(K.shape[-1])) @ K.T),
        "numpy": lambda Q, K: Q.numpy() @ K.numpy().T / np.sqrt(K.shape[-1]),
    },
    "softmax": {
        "library": lambda S: S.softmax(-1),
        "log-space": lambda S: torch.exp(S - S.logsumexp(-1, keepdim=True)),
        "float32": single(lecture.softmax_rows),
        "float32 library": single(lambda S: S.softmax(-1)),
        "float32 log_softmax": single(lambda S: S.log_softmax(-1).exp()),
        "float32 base two": single(softmax_base_two),
    },
    "attention": {
        "fused": fused,
        "fill value": filled,
        "float32": single(lecture.attention),
        "float32 fused": single(fused),
        "float32 fill value": single(filled),
        "weights in float32": weights_in_single,
    },
    "layer_norm": {
        "library": lambda X, gain, bias: F.layer_norm(X, X.shape[-1:], gain, bias),
        "moments": norm_of_moments,
        "float32": single(lecture.layer_norm),
        "float32 library": single(lambda X, gain, bias: F.layer_norm(X, X.shape[-1:], gain, bias)),
        "float32 rsqrt": single(norm_with_rsqrt),
    },
    "lstm": {
        "float32": single(lecture.lstm),
        "float32 state": lambda x, h, c, *w: lecture.lstm(x, h.float().double(), c.float().double(), *w),
    },
}
REFERENCES = {
    "scores": lecture.scores,
    "softmax": lecture.softmax_rows,
    "attention": lecture.attention,
    "layer_norm": lecture.layer_norm,
    "lstm": lecture.lstm,
}


class TestHonestAlternatives:
    """Whatever the order, the library, the constant's dtype: a hundredfold below the tolerance."""

    @pytest.mark.parametrize(
        ("name", "way"), [(name, way) for name, ways in HONEST.items() for way in ways], ids=lambda x: x
    )
    def test_keep_their_distance(self, name, way):
        """The worst error over a dozen draws of different size and scale is at most a hundredth of the tolerance."""
        worst = max(ratio(HONEST[name][way], REFERENCES[name], *inputs(seed, name)) for seed in SEEDS)
        assert worst <= MARGIN

    def test_log_space_in_single_precision_is_right(self):
        """The worst conditioned of honest ways, log-sum-exp in float32 at scores of ±100, is still far inside."""
        way = single(lambda S: torch.exp(S - S.logsumexp(-1, keepdim=True)))
        worst = max(ratio(way, lecture.softmax_rows, 10 * x) for seed in SEEDS for x in inputs(seed, "softmax"))
        assert 1e-3 < worst < 0.2

    def test_log_space_at_a_thousand(self):
        """The log-sum-exp of 1000 rounds by 5e-5 in float32, which no rounding of the reference shows: still right."""
        S = torch.tensor([[1000.0, -1000.0, 990.0], [-1000.0, -1000.0, -990.0]])
        assert ratio(lambda S: torch.exp(S - S.logsumexp(-1, keepdim=True)), lecture.softmax_rows, S) <= 0.5

    def test_positions_without_any_real_input(self):
        """Functions of whole numbers have noise, too: exp and log, powers, numpy, all in float32 and up to angle 60."""

        def by_exponential(n, d):
            return torch.arange(n).unsqueeze(-1) * torch.exp(-math.log(10000.0) * torch.arange(0, d, 2) / d)

        def by_numpy(n, d):
            return np.arange(n)[:, None] / 10000 ** (np.arange(0, d, 2) / d)

        for make in (by_exponential, by_numpy, lecture.angles):
            for n, d in ((5, 6), (40, 10), (61, 16)):
                assert ratio(make, lecture.angles, n, d) <= MARGIN

                def interleaved(n, d, make=make):
                    a = torch.as_tensor(make(n, d))
                    return torch.stack([a.sin(), a.cos()], -1).flatten(-2)[:, :d]

                assert ratio(interleaved, lecture.sinusoidal, n, d) <= MARGIN

    def test_zero_that_was_found_by_solving_equations(self):
        """A table made of sizes only may hold 1e-12 where 0 is expected; one that is made of float64 inputs may not."""

        def nearly(n, d):
            return torch.eye(n, d, dtype=torch.float64) + 1e-12

        assert ratio(nearly, lambda n, d: torch.eye(n, d), 3, 4) <= MARGIN
        failure(agree, lambda X: X + 1e-12, lambda X: X, torch.eye(3, dtype=torch.float64))

    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
    @pytest.mark.parametrize("name", ["scores", "softmax", "layer_norm", "attention"])
    def test_half_precision(self, name, dtype):
        """In half precision there is no room for a hundredfold, but honest answers are right."""
        ways = [
            way for title, way in HONEST[name].items() if "float32" not in title and title not in ("numpy", "moments")
        ]
        for seed in SEEDS:
            args = tuple(a.to(dtype) if a.is_floating_point() else a for a in inputs(seed, name))
            for way in [*ways, REFERENCES[name]]:
                if way is filled:
                    continue  # -1e9 is not a number of float16
                assert ratio(way, REFERENCES[name], *args) <= 1


class TestMistakes:
    """What is wrong is a hundredfold above the tolerance."""

    @pytest.mark.parametrize(
        ("name", "wrong"),
        [
            ("scores", lambda Q, K: Q @ K.T),
            ("scores", lambda Q, K: Q @ K.T / K.shape[-1]),
            ("scores", lambda Q, K: Q @ K.T / (math.sqrt(K.shape[-1]) + 0.1)),
            ("softmax", lambda S: (S - 0.1 * S.amax(-1, keepdim=True)).softmax(-2)),
            ("softmax", lambda S: (0.95 * S).softmax(-1)),
            ("layer_norm", lambda X, g, b: (X - X.mean(-1, keepdim=True)) / (X.std(-1, keepdim=True) + 1e-5) * g + b),
            ("lstm", lambda x, h, c, W, U, b: lecture.lstm(x, h, c, W, U, 0 * b)),
        ],
    )
    def test_keep_their_distance(self, name, wrong):
        """The worst element of every draw is at least a hundred tolerances off."""
        for seed in SEEDS:
            args = inputs(seed, name)
            if name == "scores" and args[1].shape[-1] == 1:
                continue
            truth = computed(REFERENCES[name], args, {})
            limit = truth.tolerance(DOUBLE, 0)
            answer = wrong(*args)
            error = (answer[0] if isinstance(answer, tuple) else answer) - truth.leaves[0]
            assert float((error.abs() / limit).max()) >= 100

    @pytest.mark.parametrize("leak", [4e-5, 1e-6, 1e-9, -1e-9])
    def test_leaks_into_blocked_weights_are_seen(self, leak):
        """A weight that must be zero is zero: not 4e-5, not 1e-9."""
        S, mask = draw("n m", n=5, m=7), torch.ones(5, 7).bool()
        mask[2, 3] = False
        agree(lambda S, mask: lecture.masked_softmax(S, mask), lecture.masked_softmax, S, mask)
        verdict = failure(
            agree,
            lambda S, mask: lecture.masked_softmax(S, mask).masked_fill(~mask, leak),
            lecture.masked_softmax,
            S,
            mask,
        )
        assert verdict.fact == "1 of 35 values is wrong"

    def test_fill_value_of_minus_ten(self):
        """The leak of a small fill value is seen in double and in single precision."""
        S, mask = draw("n m", n=5, m=7), torch.ones(5, 7).bool().tril(2)
        for way in (lambda S, mask: S.masked_fill(~mask, -10.0).softmax(-1),):
            assert "values are wrong" in failure(agree, way, lecture.masked_softmax, S, mask).fact
            assert "values are wrong" in failure(agree, single(way), lecture.masked_softmax, S, mask).fact

    def test_half_precision_still_tells_right_from_wrong(self):
        """A forgotten scale shows in bfloat16."""
        Q, K = (x.to(torch.bfloat16) for x in draw("n d", "m d", n=5, m=7, d=6))
        assert "values are wrong" in failure(agree, lambda Q, K: Q @ K.T, lecture.scores, Q, K).fact


class TestStatedValues:
    """A value that a test states comes without a computation: the precision of the answer says what dust is."""

    @pytest.mark.parametrize(
        ("stated", "answered", "dust"),
        [
            (torch.float64, torch.float64, 2.0**-44),
            (torch.float64, torch.float32, 2.0**-21),
            (torch.float32, torch.float64, 2.0**-44),
            (torch.float16, torch.float16, 2.0**-10),
            (torch.bfloat16, torch.bfloat16, 2.0**-7),
            (torch.float16, torch.float32, 2.0**-10),
        ],
    )
    def test_dust_where_zero_is_expected(self, stated, answered, dust):
        """A right answer has dust of its own precision, or of the half precision that the value came in."""
        value = torch.tensor([4.0, 0.0], dtype=stated)
        with activate(TestContext()):
            agree(torch.tensor([4.0, 3 * dust], dtype=answered), value)
        assert failure(agree, torch.tensor([4.0, 5 * dust], dtype=answered), value).category is Category.VALUE
