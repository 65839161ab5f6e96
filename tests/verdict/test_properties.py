"""Properties: each holds for the reference, fails for one spoilt variant, and says so in one sentence."""

import pytest
import torch

from softmark.verdict import (
    Category,
    Failed,
    TestContext,
    activate,
    batch_independent,
    causal,
    draw,
    ignores_padding,
    permutation_equivariant,
    repeatable,
    rows_sum_to_one,
)
from tests.support import lecture as ref
from tests.support.students import InProcess, failure


@pytest.fixture(autouse=True)
def case():
    with activate(TestContext(seed=11)) as case:
        yield case


def self_attention(X, mask=None):
    return ref.attention(X, X, X, mask)[0]


def causal_attention(X):
    return self_attention(X, ref.causal_mask(X.shape[-2]))


def leaky_attention(X):
    S = ref.scores(X, X).masked_fill(~ref.causal_mask(X.shape[-2]), -10.0)
    return torch.softmax(S, -1) @ X


class TestRowsSumToOne:
    """Weights are a distribution over each row."""

    def test_holds(self):
        """In double, single and half precision, also as the second output, and with rows that may look nowhere."""
        S = draw("b n m", b=2, n=5, m=7)
        for dtype in (torch.float64, torch.float32, torch.bfloat16, torch.float16):
            rows_sum_to_one(InProcess(ref.softmax_rows), S.to(dtype))
        rows_sum_to_one(InProcess(ref.attention), *draw("n d", "m d", "m d", n=3, m=4, d=5), output=1)
        mask = torch.ones(5, 7).bool()
        mask[2] = False
        rows_sum_to_one(InProcess(ref.masked_softmax), S, mask, rows=mask.any(-1))

    def test_fails(self):
        """The fact names a row; its sum, a number that the student's code chose, is with the other numbers."""
        verdict = failure(rows_sum_to_one, InProcess(lambda S: torch.softmax(S, -1) / 2), draw("n m", n=5, m=7))
        assert verdict.category is Category.PROPERTY
        assert verdict.fact == "every row of weights must sum to 1: row [0] does not"
        assert verdict.where == "row [0] sums to 0.5"

    def test_rows_that_may_look_nowhere(self):
        """Uniform weights in a row that must be zero are told."""
        S, mask = draw("n m", n=3, m=4), torch.ones(3, 4).bool()
        mask[1] = False
        verdict = failure(
            rows_sum_to_one,
            InProcess(lambda S, mask: S.masked_fill(~mask, -1e9).softmax(-1)),
            S, mask, rows=mask.any(-1),
        )  # fmt: skip
        assert verdict.fact.endswith("row [1] must sum to 0 (it may look nowhere) and does not")
        assert verdict.where == "row [1] sums to 1"

    def test_nan_is_no_sum(self):
        """NaN fails."""
        verdict = failure(rows_sum_to_one, InProcess(lambda S: S * float("nan")), draw("n m", n=2, m=3))
        assert "sums to nan" in verdict.where


class TestPermutationEquivariant:
    """Tokens have no order unless positions are added."""

    def test_holds(self):
        """For self-attention, for attention with permuted queries, and along another axis."""
        permutation_equivariant(InProcess(self_attention), draw("b n d", b=2, n=5, d=4))
        permutation_equivariant(InProcess(ref.attention), *draw("n d", "m d", "m d", n=5, m=6, d=3), permute=(0,))
        permutation_equivariant(InProcess(lambda X: X.cos()), draw("n d", n=5, d=4), axis=0)

    @pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16, torch.float16])
    @pytest.mark.parametrize("wrong", [causal_attention, lambda X: X.cumsum(-2), lambda X: X.flip(-2) + X])
    def test_fails(self, wrong, dtype):
        """What depends on the order is found, in half precision, too."""
        verdict = failure(permutation_equivariant, InProcess(wrong), draw("n d", n=5, d=4).to(dtype))
        assert verdict.fact == "permuting the tokens of the input does not permute the output in the same way"

    def test_short_sequences(self):
        """Two tokens are exchanged."""
        failure(permutation_equivariant, InProcess(causal_attention), draw("n d", n=2, d=4))


class TestCausal:
    """The future has no influence."""

    def test_holds(self):
        """With a mask, in double and single precision, with a batch."""
        causal(InProcess(causal_attention), draw("b n d", b=2, n=6, d=4))
        causal(InProcess(causal_attention), draw("n d", n=6, d=4, dtype=torch.float32))

    @pytest.mark.parametrize("wrong", [self_attention, leaky_attention, lambda X: X.roll(-1, -2)])
    def test_fails(self, wrong):
        """No mask, a leak of a fill value of -10, a shift in the wrong direction."""
        verdict = failure(causal, InProcess(wrong), draw("n d", n=6, d=4))
        assert verdict.category is Category.PROPERTY
        assert verdict.fact == "outputs before token 1 change when token 1 or later ones change"

    @pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
    def test_small_leaks(self, dtype):
        """A millionth of the future is too much."""
        failure(
            causal,
            InProcess(lambda X: causal_attention(X) + 1e-6 * X.sum(-2, keepdim=True)),
            draw("n d", n=6, d=4, dtype=dtype),
        )

    def test_one_token_ahead(self):
        """A diagonal that is off by one is found although token 0 is blocked from most of the future."""
        failure(causal, InProcess(lambda X: self_attention(X, torch.ones(6, 6).tril(1).bool())), draw("n d", n=6, d=4))

    @pytest.mark.parametrize("seen", [1, 3, 5])
    def test_one_place_that_sees_the_next(self, seen):
        """A mask with one wrong entry is found at the beginning, in the middle and at the end."""
        mask = ref.causal_mask(6)
        mask[seen - 1, seen] = True
        verdict = failure(causal, InProcess(lambda X: self_attention(X, mask)), draw("n d", n=6, d=4))
        assert verdict.fact == f"outputs before token {seen} change when token {seen} or later ones change"


class TestIgnoresPadding:
    """What stands in the padding does not matter."""

    def padded(self, X, mask):
        return ref.attention(X, X, X, mask.unsqueeze(-2))[0]

    def test_holds(self):
        """Outputs at real tokens stay; those of the padding itself are not looked at."""
        X, real = draw("b n d", b=2, n=5, d=3), torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 0]]).bool()
        ignores_padding(InProcess(self.padded), X, real, padding=~real, compare=real)

    def test_holds_across(self):
        """In cross-attention, keys and values are padded, and every output is looked at."""
        Q, K, V = draw("m d", "n d", "n d", m=4, n=5, d=3)
        mask = torch.tensor([True, True, True, False, False])
        ignores_padding(InProcess(lambda *a: ref.attention(*a)[0]), Q, K, V, mask, padding=~mask, change=(1, 2))

    def test_fails(self):
        """A mask that is not used shows."""
        X, real = draw("n d", n=5, d=3), torch.tensor([1, 1, 1, 1, 0]).bool()
        verdict = failure(
            ignores_padding, InProcess(lambda X, mask: self_attention(X)), X, real, padding=~real, compare=real
        )
        assert verdict.fact == "the output changes with what stands in the padding"


class TestBatchIndependent:
    """Examples of a batch do not meet."""

    def test_holds(self):
        """For batches of one kind of input, and of two."""
        batch_independent(InProcess(self_attention), draw("b n d", b=3, n=5, d=4))
        batch_independent(
            InProcess(ref.attention), *draw("b n d", "b m d", "b m d", b=2, n=5, m=4, d=3), batched=(0, 1, 2)
        )

    @pytest.mark.parametrize("wrong", [lambda X: torch.softmax(X, 0), lambda X: X - X.mean((0, 1), keepdim=True)])
    def test_fails(self, wrong):
        """Normalising over the batch is found."""
        verdict = failure(batch_independent, InProcess(wrong), draw("b n d", b=3, n=5, d=4))
        assert verdict.fact == "the output of example 0 changes with the other examples of the batch"

    @pytest.mark.parametrize(
        "wrong",
        [
            lambda X: X.cumsum(0),
            lambda X: X.cumsum(0) / torch.arange(1, len(X) + 1).view(-1, 1, 1),
            lambda X: X - X.roll(1, 0) * (torch.arange(len(X)) > 0).view(-1, 1, 1),
        ],
        ids=["sum so far", "mean so far", "difference from the one before"],
    )
    def test_fails_where_only_the_first_example_is_alone(self, wrong):
        """An example that depends on those before it is found, although the first one has none before it."""
        verdict = failure(batch_independent, InProcess(wrong), draw("b n d", b=3, n=5, d=4))
        assert verdict.fact == "the output of example 2 changes with the other examples of the batch"


class TestRandomAnswers:
    """An answer that varies by itself says nothing about what the inputs do."""

    @pytest.mark.parametrize(
        "ask",
        [
            lambda got: causal(got, draw("n d", n=6, d=4)),
            lambda got: permutation_equivariant(got, draw("n d", n=6, d=4)),
            lambda got: batch_independent(got, draw("b n d", b=3, n=5, d=4)),
            lambda got: ignores_padding(got, draw("n d", n=6, d=4), padding=torch.arange(6) > 3),
        ],
        ids=["causal", "permuted", "batch", "padding"],
    )
    def test_are_told_as_such(self, ask):
        """With dropout, no later token has an influence, and nobody is told that one has."""
        verdict = failure(ask, InProcess(lambda x: torch.dropout(x, 0.5, True)))
        assert verdict.fact.startswith("calling it twice with the same inputs gives two different answers")


class TestStrangeNumbers:
    """NaN and infinities are the business of `agree`; properties neither trip over them nor hide behind them."""

    def test_the_same_nan_is_the_same(self):
        """NaN at the same places twice is no change."""
        repeatable(InProcess(lambda x: x / 0 * 0), draw("n", n=3))
        repeatable(InProcess(lambda x: x / 0), draw("n", n=3))

    def test_new_nan_is_a_change(self):
        """NaN, or an infinity, that comes with later tokens is an influence of theirs."""

        failure(causal, InProcess(lambda X: X * torch.where(X[-1:].abs() > 3, torch.nan, 1.0)), draw("n d", n=4, d=3))
        failure(causal, InProcess(lambda X: X / (X[-1:].abs() < 3)), draw("n d", n=4, d=3))


class TestOutputs:
    """Every property looks at one tensor of the answer, and says when there is none."""

    def test_missing_output(self):
        """A tuple that is too short."""
        verdict = failure(rows_sum_to_one, InProcess(lambda x: (x,)), draw("n m", n=2, m=3), output=1)
        assert verdict.fact == "returned a tuple of 1 value, expected at least 2 values"

    def test_no_tensor(self):
        """None is not a tensor."""
        assert (
            failure(causal, InProcess(lambda x: None), draw("n m", n=2, m=3)).fact == "returned None, expected a tensor"
        )

    def test_shapes_that_depend_on_content(self):
        """An output whose shape changes with the values is its own fact."""
        verdict = failure(causal, InProcess(lambda x: x[x[:, 0] > -1]), draw("n m", n=9, m=3))
        assert verdict.fact == "the shape of the output depends on the content of the input"

    def test_are_recorded(self, case):
        """Each property leaves a check with its ratio, right or wrong."""
        causal(InProcess(causal_attention), draw("n d", n=6, d=4))
        assert case.checks
        assert all(check.ratio <= 1 and check.category is None for check in case.checks)
        failure(causal, InProcess(self_attention), draw("n d", n=6, d=4))
        assert case.checks[-1].ratio > 100
        assert case.checks[-1].category is Category.PROPERTY


class TestRowsOfTheWrongShape:
    """Weights that have no row for each query."""

    @pytest.mark.parametrize("shape", [(), (4, 3), (2, 5, 3)])
    def test_are_a_matter_of_shape(self, shape: tuple[int, ...]) -> None:
        """They fail with a sentence about their shape, and are no fault of the grader."""
        rows = torch.ones(5, dtype=torch.bool) if len(shape) < 3 else torch.ones(2, 4, dtype=torch.bool)
        with pytest.raises(Failed) as failure:
            rows_sum_to_one(lambda: torch.ones(shape, dtype=torch.float64), rows=rows)
        assert failure.value.verdict.category is Category.SHAPE
