"""The noise that the tolerance is made of: by element, zero where nothing is rounded, and without side effects."""

import math
from itertools import pairwise

import pytest
import torch

from softmark.verdict import Category, TestContext, activate, agree, draw
from softmark.verdict.expected import computed, stated
from softmark.verdict.tolerance import BRAIN, DOUBLE, HALF, SINGLE
from tests.support import lecture
from tests.support.students import failure

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


class TestZeros:
    """Exact zeros of the truth have no noise; dust is not a leak, minus zero is zero."""

    def test_dust_of_the_answers_precision_is_accepted(self):
        """A shift by Fourier transform, or by solving equations, leaves 1e-16 where the truth has zeros."""

        def identity(n):
            return torch.eye(n)

        def solved(n):
            A = draw("n n", n=n)
            return torch.linalg.solve(A, A)

        assert ratio(solved, identity, 4) <= 1
        assert ratio(lambda n: torch.fft.irfft(torch.fft.rfft(torch.eye(n).double()), n=n), identity, 6) <= MARGIN

    def test_all_zero_answers_must_be_zero(self):
        """Where nothing is expected, nothing is accepted but nothing."""
        agree(torch.tensor([0.0, -0.0]), torch.zeros(2))
        assert failure(agree, torch.tensor([0.0, 1e-30]), torch.zeros(2)).fact == "1 of 2 values is wrong"

    def test_underflow_is_rounding(self):
        """A weight of 1e-60 that is 0 in float32 is right, in a large range of weights."""
        S = torch.tensor([[0.0, -140.0, -50.0]], dtype=torch.float64)
        assert ratio(single(lecture.softmax_rows), lecture.softmax_rows, S) <= MARGIN


class TestRanges:
    """The tolerance follows each element, not the largest one."""

    def test_small_weights_are_judged_by_their_own_size(self):
        """In float64, a weight of 1e-9 beside one of 1 must be right in its digits, too."""
        S = torch.tensor([[0.0, -20.0, -9.0]], dtype=torch.float64)
        wrong = lecture.softmax_rows(S)
        wrong[0, 1] *= 1.01
        assert failure(agree, wrong, lecture.softmax_rows, S).fact == "1 of 3 values is wrong"

    def test_cancellation_widens_it(self):
        """Where large terms cancel, the noise is that of the terms."""
        Q = torch.tensor([[1e4, 1.0]], dtype=torch.float64) * math.pi
        K = torch.tensor([[1.0, -1e4 + 1e-3]], dtype=torch.float64) * math.e
        assert ratio(single(lecture.scores), lecture.scores, Q, K) <= MARGIN

    def test_plain_values_have_the_scale_of_their_tensor(self):
        """A value without its computation is judged at the scale of its largest element, exact zeros exactly."""
        true = torch.tensor([1.0, 1e-3, 0.0], dtype=torch.float64)
        agree(torch.tensor([1.0, 1e-3 + 1e-8, 0.0], dtype=torch.float64), true)
        assert failure(agree, torch.tensor([1.0, 1e-3, 1e-8], dtype=torch.float64), true).fact.startswith("1 of 3")

    def test_integers_and_booleans_are_exact(self):
        """2**62 and 2**62 + 1 are different."""
        fact = "the value is wrong: it is 1 too large"
        assert failure(agree, torch.tensor([2**62 + 1]), torch.tensor([2**62])).fact == fact


class TestReferenceIsLeftAlone:
    """Measuring noise has no effect on anything outside."""

    def test_inputs_and_default_dtype_stay(self):
        """The test's tensors keep their bytes, and constants stay float32."""
        Q, K = draw("n d", "m d", n=3, m=4, d=2)
        before = Q.clone(), K.clone()
        agree(lecture.scores, lecture.scores, Q, K)
        assert torch.equal(Q, before[0])
        assert torch.equal(K, before[1])
        assert torch.get_default_dtype() is torch.float32

    def test_comparisons_inside_a_reference_survive(self):
        """A mask made of float ones and zeros and compared with 1 is the same mask in every rounded run."""

        def reference(S):
            mask = torch.tril(torch.ones(S.shape)) == 1
            return S.masked_fill(~mask, -torch.inf).softmax(-1)

        truth = computed(reference, (draw("n n", n=5),), {})
        mixed = (truth.value > 0) & (truth.value < 1)
        assert mixed.sum() == 14
        assert bool((truth.noise(DOUBLE.roundoff)[0][mixed] > 0).all())

    @pytest.mark.parametrize("flag", [1.0, -1.0, 0.0])
    def test_flags_among_the_inputs_survive(self, flag):
        """An input of 1, -1 or 0 that the reference compares with is the same in every rounded run."""

        def reference(x, flags):
            return torch.where(flags == flag, x, 1000 * x)

        x, flags = draw("n", n=6), torch.full((6,), flag, dtype=torch.float64)
        assert failure(agree, x * (1 + 1e-2), reference, x, flags).category is Category.VALUE
        agree(x, reference, x, flags)

    @pytest.mark.parametrize("count", [10_000, 30_000, 32_767, 32_768, 32_769, 100_000])
    def test_any_number_of_numbers_can_be_rounded(self, count):
        """A reference of many operations on large tensors has its noise, whatever their size."""

        def reference(x):
            for _ in range(40):
                x = x * 0.99
            return x

        x = draw("n", n=count)
        agree(reference(x), reference, x)
        assert failure(agree, reference(x) * 1.1, reference, x).fact.startswith(f"all {count} values are wrong")

    def test_in_place_references_are_fine(self):
        """A reference that fills a table row by row is measured like any other."""

        def reference(n, d):
            table = torch.zeros(n, d)
            table[:, 0::2] = torch.sin(lecture.angles(n, d))
            table[:, 1::2] = torch.cos(lecture.angles(n, d))
            return table

        assert ratio(lecture.sinusoidal, reference, 9, 6) <= MARGIN

    def test_levels_are_ordered(self):
        """Coarser precision never has the narrower tolerance."""
        truth = stated(torch.randn(5, 5, dtype=torch.float64))
        limits = [truth.tolerance(level, 0) for level in (DOUBLE, SINGLE, HALF, BRAIN)]
        assert all(bool((a <= b).all()) for a, b in pairwise(limits))
