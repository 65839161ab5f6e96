"""The context of the running test, and the inputs drawn from its seed."""

from contextlib import suppress

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from softmark.verdict import Failed, TestContext, activate, agree, current_test, draw
from tests.support import lecture as ref
from tests.support.students import InProcess


class TestCurrentCase:
    """There is one current case, set for the time of a test."""

    def test_is_set_and_put_back(self):
        """Cases nest, and an exception puts the outer one back."""
        outside = current_test()
        with activate(TestContext(id="a")) as first:
            with activate(TestContext(id="b")) as second:
                assert current_test() is second
            assert current_test() is first
            with suppress(Failed), activate(second):
                agree(1, 2)
            assert current_test() is first
        assert current_test() is outside

    def test_hears_of_every_check(self):
        """Name, ratio and category of each, in order; a right answer keeps its truth as evidence."""
        with activate(TestContext()) as case:
            q, k = draw("n d", "m d", n=2, m=3, d=4)
            agree(InProcess(ref.scores), ref.scores, q, k)
            with pytest.raises(Failed):
                agree(InProcess(lambda Q, K: Q, "mine"), ref.scores, q, k)
        right, wrong = case.checks
        assert (right.name, right.ratio, right.category) == ("scores", 0.0, None)
        assert right.expected is not None
        assert right.double
        assert (wrong.name, wrong.ratio, wrong.category) == ("mine", float("inf"), "shape")


class TestDraw:
    """Standard normal tensors by the names of their axes."""

    def test_one_and_several(self):
        """One spec gives a tensor, several a tuple."""
        assert draw("n d", n=2, d=3).shape == (2, 3)
        q, k = draw("n d", "m d", n=2, m=4, d=3)
        assert (q.shape, k.shape) == ((2, 3), (4, 3))

    def test_sizes(self):
        """Tuples spread, literals are themselves, an empty spec is a single number, unused sizes do not matter."""
        assert draw("batch n d", batch=(2, 5), n=3, d=4).shape == (2, 5, 3, 4)
        assert draw("batch n", batch=(), n=3).shape == (3,)
        assert draw("n 7", n=2, unused=9).shape == (2, 7)
        assert draw("").shape == ()

    def test_dtype(self):
        """float64 unless asked otherwise; the numbers are the same, rounded."""
        with activate(TestContext(seed=4)):
            wide = draw("n", n=5)
        with activate(TestContext(seed=4)):
            narrow = draw("n", n=5, dtype=torch.float32)
        assert wide.dtype is torch.float64
        assert torch.equal(wide.float(), narrow)

    def test_unknown_axis(self):
        """The message names the spec, the axis, and what is known."""
        with pytest.raises(TypeError, match=r'draw\("n d"\): no size is given for "d" \(given: n, m\)'):
            draw("n d", n=2, m=3)
        with pytest.raises(TypeError, match="at least one spec"):
            draw()

    @settings(max_examples=30, deadline=None)
    @given(st.integers(0, 2**63 - 1))
    def test_depends_on_the_seed_alone(self, seed):
        """The same seed gives the same numbers whatever the global generator does; another seed gives others."""
        with activate(TestContext(seed=seed)):
            first = draw("n", n=4)
        torch.manual_seed(1)
        with activate(TestContext(seed=seed)):
            torch.rand(3)
            again = draw("n", n=4)
        with activate(TestContext(seed=seed ^ 1)):
            other = draw("n", n=4)
        assert torch.equal(first, again)
        assert not torch.equal(first, other)
