"""Types and nesting of an answer, and the kinds of number that may stand for each other."""

from contextlib import suppress

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from softmark.verdict import Category, Failed, agree
from tests.support.students import failure

MATRIX = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]], dtype=torch.float64)


class TestLosslessConversions:
    """What loses nothing may stand for what was expected."""

    @pytest.mark.parametrize(
        ("got", "want"),
        [
            (MATRIX.numpy(), MATRIX),
            (MATRIX, MATRIX.numpy()),
            (MATRIX.float(), MATRIX),
            (3, torch.tensor(3.0)),
            (3.5, torch.tensor(3.5, dtype=torch.float64)),
            (np.float32(3.5), 3.5),
            (np.array(3.5), 3.5),
            (torch.tensor(7, dtype=torch.int32), 7),
            (np.int64(7), 7),
            ([1.0, MATRIX], (1.0, MATRIX)),
            ((1.0, MATRIX), [1.0, MATRIX]),
            ({"b": 1, "a": MATRIX}, {"a": MATRIX, "b": 1}),
            (True, torch.tensor(True)),
            ("text", "text"),
            (None, None),
            (1 + 2j, torch.tensor(1 + 2j)),
            (-0.0, 0.0),
            (torch.tensor([-0.0, 0.0]), torch.tensor([0.0, -0.0])),
            (torch.zeros(0, 3), torch.zeros(0, 3)),
        ],
    )
    def test_are_accepted(self, got, want):
        """Containers, libraries and precisions that hold the same numbers agree."""
        agree(got, want)


class TestTypes:
    """Another type is told in one sentence."""

    @pytest.mark.parametrize(
        ("got", "want", "fact"),
        [
            (None, MATRIX, "returned None, expected a tensor"),
            ([1.0, 2.0], MATRIX, "returned a list of 2 values, expected a tensor"),
            (3.0, MATRIX, "returned a float, expected a tensor"),
            (MATRIX, (MATRIX, MATRIX), "returned a tensor, expected a tuple of 2 values"),
            ((MATRIX,), (MATRIX, MATRIX), "returned a tuple of 1 value, expected a tuple of 2 values"),
            ((MATRIX, None), (MATRIX, MATRIX), "output 2 of 2: None, expected a tensor"),
            ("3", 3.0, "returned a text, expected a float"),
            (True, 3.0, "returned a bool, expected floating-point numbers"),
            (3.0, 3, "returned a float, expected integers"),
            ({"a": 1.0}, {"a": 1.0, "b": 2.0}, "the entry 'b' is missing"),
            ({"a": 1.0, "c": 2.0}, {"a": 1.0}, "returned a dictionary of 2 values, expected only the entries 'a'"),
            (np.array(["a"]), MATRIX, "returned a numpy array of str32 values, expected a tensor"),
            (object(), MATRIX, "returned an object of class object, expected a tensor"),
            ((), MATRIX, "returned an empty tuple, expected a tensor"),
        ],
    )
    def test_are_named(self, got, want, fact):
        """The sentence says what came and what was expected."""
        verdict = failure(agree, got, want)
        assert (verdict.category, verdict.fact) == (Category.TYPE, fact)

    def test_of_an_expected_value_that_cannot_be_compared_is_the_test_authors_mistake(self):
        """An expected value of an unknown class raises an ordinary error, not a student's failure."""
        with pytest.raises(TypeError, match="expected value holds an object of class object"):
            agree(MATRIX, object())


class TestKindsOfNumber:
    """Precision may be single or double; another kind of number is a dtype failure."""

    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
    def test_half_precision_loses(self, dtype):
        """Half precision for float64 inputs is refused, and the sentence names both."""
        verdict = failure(agree, MATRIX.to(dtype), MATRIX)
        assert verdict.category is Category.DTYPE
        assert verdict.fact == f"dtype {str(dtype)[6:]} is too coarse, the inputs are float64"

    @pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.uint8])
    def test_integers_and_booleans_are_no_reals(self, dtype):
        """An integer or boolean tensor does not stand for real numbers, even with equal values."""
        verdict = failure(agree, torch.ones(3).to(dtype), torch.ones(3))
        assert verdict.category is Category.DTYPE
        assert verdict.fact.endswith("expected floating-point numbers")

    def test_integers_may_have_any_width(self):
        """int32 stands for int64."""
        agree(torch.arange(4, dtype=torch.int32), torch.arange(4))

    def test_zeros_and_ones_are_no_mask(self):
        """A mask of integers is not a boolean mask."""
        verdict = failure(agree, torch.tensor([1, 0]), torch.tensor([True, False]))
        assert verdict.fact == "dtype int64, expected booleans (True and False)"

    def test_half_precision_stands_for_itself(self):
        """With bfloat16 inputs a bfloat16 answer is right, and a float32 answer, too."""
        x = MATRIX.to(torch.bfloat16)
        agree(lambda x: x * 3, lambda x: x * 3, x)
        agree(lambda x: x.float() * 3, lambda x: x * 3, x)


numbers = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(-2, 2), st.text(max_size=2),
    st.sampled_from([MATRIX, MATRIX.float(), MATRIX.T, torch.tensor(1), torch.zeros(0), np.ones(2)]),
)  # fmt: skip
nested = st.recursive(
    numbers,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.tuples(inner, inner), st.dictionaries(st.text(max_size=1), inner, max_size=2)
    ),
    max_leaves=6,
)


class TestAnyTwoValues:
    """Whatever arrives, the comparison ends with right or with one verdict."""

    @settings(max_examples=300, deadline=None)
    @given(nested, nested)
    def test_end_in_a_verdict(self, got, want):
        """No pair of plain values makes the comparison itself fail."""
        with suppress(Failed):
            agree(got, want)

    @settings(max_examples=200, deadline=None)
    @given(nested)
    def test_a_value_agrees_with_itself(self, value):
        """Every value equals itself."""
        agree(value, value)
