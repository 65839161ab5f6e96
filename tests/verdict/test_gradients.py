"""Gradients: right for every honest way, wrong where a sum of the outputs would not show it."""

import pytest
import torch

from softmark.verdict import Category, TestContext, activate, draw, gradients_agree
from tests.support import lecture as ref
from tests.support.students import InProcess, failure


@pytest.fixture(autouse=True)
def case():
    with activate(TestContext(seed=2)) as case:
        yield case


def multiplied(x, y):
    return x * y


def nested(x, p, state):
    h, (c,) = state
    return x * p["w"] + h * c


class TestRightGradients:
    """Another formula with the same derivative agrees."""

    @pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
    def test_of_functions(self, case, dtype):
        """Softmax in log-space, attention with a fill value, in both precisions; far below the tolerance."""
        S = draw("n m", n=5, m=7, dtype=dtype)
        gradients_agree(InProcess(lambda S: (S - S.logsumexp(-1, keepdim=True)).exp()), ref.softmax_rows, S)
        mask = torch.ones(5, 7).tril(1).bool()
        gradients_agree(
            InProcess(lambda S, mask: S.masked_fill(~mask, -1e9).softmax(-1)), ref.masked_softmax, S, mask=mask
        )
        assert max(check.ratio for check in case.checks) <= 0.02

    def test_of_several_outputs(self):
        """Every output enters with weights of its own."""
        gradients_agree(InProcess(ref.attention), ref.attention, *draw("n d", "m d", "m e", n=3, m=4, d=2, e=5))

    def test_of_modules(self):
        """Parameters are compared by name; those that do not matter may have no gradient."""
        ours, theirs = ref.SelfAttention(4).double(), ref.SelfAttention(4).double()
        theirs.load_state_dict(ours.state_dict())
        gradients_agree(InProcess(theirs), ours, draw("n d", n=5, d=4))

    def test_of_one_tensor_in_two_places(self):
        """The gradient is the sum, and another one if there are two tensors with the same numbers."""
        x, product = draw("n", n=3), InProcess(lambda x, y: x * y)
        gradients_agree(product, multiplied, x, x)
        gradients_agree(product, multiplied, x, x.clone())

    def test_of_values_inside_arguments(self):
        """A dictionary of weights and a pair of states are inputs, too."""
        x, w, h, c = draw("n", "n", "n", "n", n=3)
        gradients_agree(InProcess(nested), nested, x, {"w": w, "mask": None}, (h, [c]))

    def test_none_stands_for_what_is_rounding(self):
        """A shift of all scores of a row has no influence, but its gradient is not exactly zero."""
        S, b = draw("n m", "n 1", n=5, m=7)

        def shifted(S, p):
            return torch.softmax(S + p["b"], -1)

        gradients_agree(InProcess(lambda S, p: torch.softmax(S, -1)), shifted, S, {"b": b})

    def test_none_stands_for_zero(self):
        """An input without influence may have no gradient at all."""
        gradients_agree(InProcess(lambda x, y: x * 2), lambda x, y: x * 2 + 0 * y, *draw("n", "n", n=3))


class TestWrongGradients:
    """The fact says which gradient it is."""

    def test_detached(self):
        """No gradient where there should be one."""
        verdict = failure(
            gradients_agree, InProcess(lambda Q, K: Q @ K.detach().T / K.shape[-1] ** 0.5), ref.scores,
            *draw("n d", "m d", n=3, m=4, d=2),
        )  # fmt: skip
        assert (verdict.category, verdict.fact) == (Category.PROPERTY, "no gradient reaches argument 2")

    def test_what_a_sum_would_hide(self):
        """A softmax whose normalisation is detached has a right sum of outputs and wrong gradients."""

        def wrong(S):
            E = torch.exp(S - S.amax(-1, keepdim=True))
            return E / E.sum(-1, keepdim=True).detach()

        verdict = failure(gradients_agree, InProcess(wrong), ref.softmax_rows, draw("n m", n=3, m=4))
        assert verdict.category is Category.PROPERTY
        assert verdict.fact.startswith("gradient of argument 1: all 12 values are wrong")

    @pytest.mark.parametrize("part", [0.0, 0.5, 2.0])
    def test_what_weights_of_one_would_hide(self, part):
        """A softmax with too little or too much gradient: its outputs sum to 1, and that sum has no gradient at all."""

        def wrong(S):
            A = torch.softmax(S, -1)
            return part * A + (1 - part) * A.detach()

        verdict = failure(gradients_agree, InProcess(wrong), ref.softmax_rows, draw("n m", n=3, m=4))
        assert verdict.category is Category.PROPERTY
        assert verdict.fact.startswith("gradient of argument 1: all 12 values are wrong")

    def test_of_a_parameter(self):
        """A parameter is named as in the module."""

        class Wrong(ref.SelfAttention):
            def project(self, X):
                return X @ self.W_Q + 2 * self.bias - self.bias.detach(), X @ self.W_K

        ours, theirs = ref.SelfAttention(4).double(), Wrong(4).double()
        theirs.load_state_dict(ours.state_dict())
        verdict = failure(gradients_agree, InProcess(theirs), ours, draw("n d", n=5, d=4))
        assert verdict.fact == "gradient of parameter bias: all 4 values are wrong: each is 2 times what is expected"

    def test_of_a_keyword_argument(self):
        """Keyword arguments are named as they were given."""
        x, y = draw("n", "n", n=3)
        verdict = failure(gradients_agree, InProcess(lambda x, y: x * y.detach() ** 2), lambda x, y: x * y**2, x, y=y)
        assert verdict.fact == "no gradient reaches y"

    @pytest.mark.parametrize(
        ("place", "spoil"),
        [
            ("argument 2['w']", lambda x, p, state: (x, {**p, "w": p["w"].detach()}, state)),
            ("argument 3[0]", lambda x, p, state: (x, p, (state[0].detach(), state[1]))),
            ("argument 3[1][0]", lambda x, p, state: (x, p, (state[0], [state[1][0].detach()]))),
        ],
    )
    def test_of_a_value_inside_an_argument(self, place, spoil):
        """The fact says where in the argument it is."""
        x, w, h, c = draw("n", "n", "n", "n", n=3)
        wrong = InProcess(lambda *args: nested(*spoil(*args)))
        verdict = failure(gradients_agree, wrong, nested, x, {"w": w, "mask": None}, (h, [c]))
        assert verdict.fact == f"no gradient reaches {place}"

    def test_nan(self):
        """A square root at zero."""
        verdict = failure(
            gradients_agree, InProcess(lambda x: torch.sqrt(x**2)), lambda x: x, torch.tensor([0.0, 1.0]).double()
        )
        assert verdict.category is Category.NAN
        assert verdict.fact == "gradient of argument 1: 1 of 2 values is NaN"
