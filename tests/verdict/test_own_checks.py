"""The pieces that a hidden test builds a check of its own from."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from softmark import (
    Category,
    Failed,
    agree,
    causal_mask,
    confirm_reference,
    current_test,
    draw,
    draw_integers,
    fail,
    naming_only,
    padding_mask,
    random_mask,
    to_float32,
    well_behaved,
    within_limit,
    without_values,
)
from softmark.verdict import Registry, TestContext, activate, collecting, mistake
from softmark.verdict.naming import common_causes
from tests.support.students import InProcess, failure


def double(x: torch.Tensor) -> torch.Tensor:
    return 2 * x


def double_of_sum(x: torch.Tensor) -> torch.Tensor:
    return double(x).sum()


@pytest.fixture
def case() -> Any:
    with activate(TestContext(id="a case", seed=5)) as context:
        yield context


class TestFail:
    """`fail` and `within_limit`."""

    def test_fails_with_category_and_fact(self) -> None:
        """A test fails with words of its own."""
        verdict = failure(fail, Category.PROPERTY, "the gate is closed")
        assert (verdict.category, verdict.fact) == (Category.PROPERTY, "the gate is closed")

    def test_records_how_close_it_was(self, case: TestContext) -> None:
        """An error below the limit passes and leaves its margin for `verify`."""
        within_limit(1e-7, 1e-6, Category.PROPERTY, "too far", name="slope")
        (check,) = case.checks
        assert (check.name, check.category) == ("slope", None)
        assert check.ratio == pytest.approx(0.1)

    @pytest.mark.parametrize("error", [2e-6, math.nan, math.inf])
    def test_refuses_what_is_too_far(self, case: TestContext, error: float) -> None:
        """An error above the limit fails, and so does NaN."""
        assert failure(within_limit, error, 1e-6, Category.PROPERTY, "too far").fact == "too far"
        assert case.checks[0].category is Category.PROPERTY


class TestConfirmReference:
    """A second witness for the reference."""

    def test_disagreement_is_the_courses_error(self, case: TestContext) -> None:
        """No student's verdict: other numbers, shapes and structures raise RuntimeError every time."""
        right = {"a": torch.ones(2), "b": (torch.zeros(1),)}
        others = [{"a": torch.ones(2), "b": (torch.full((1,), 1e-6),)}, {"a": torch.ones(2)}, torch.ones(2)]
        for other in [*others, {"a": torch.ones(1, 2), "b": (torch.zeros(1),)}]:
            with pytest.raises(RuntimeError, match="the reference and PyTorch disagree"):
                confirm_reference(lambda: right, lambda other=other: other, "PyTorch")

    def test_is_made_once_for_each_case(self) -> None:
        """The comparison is made again for another case and another seed, and outside of tests every time."""
        calls: list[int] = []

        def witness() -> int:
            calls.append(1)
            return 3

        def confirmed(**case: Any) -> int:
            with activate(TestContext(**case)):
                confirm_reference(lambda: 3, witness, "a witness that counts")
            return len(calls)

        first = {"id": "counted", "seed": 1}
        assert [confirmed(**first), confirmed(**first), confirmed(id="counted", seed=2)] == [1, 1, 2]
        assert [confirmed(id="another", seed=1), confirmed(), confirmed()] == [3, 4, 5]


class TestWellBehaved:
    """Everything but the numbers in float64."""

    def test_accepts_a_right_function(self, case: TestContext) -> None:
        """A function that does what it should holds."""
        well_behaved(InProcess(double), double, draw("n", n=3))

    @pytest.mark.parametrize(
        ("wrong", "category"),
        [
            (lambda x: 2 * x + (x.dtype is torch.float32) / 100, Category.VALUE),
            (lambda x: (2 * x).float(), Category.DTYPE),
            (lambda x: x.mul_(2), Category.INPUT_CHANGED),
            (lambda x: torch.as_tensor((2 * x).tolist(), dtype=x.dtype), Category.DEVICE),
        ],
        ids=["float32", "dtype", "inputs", "device"],
    )
    def test_refuses_each_fault(self, case: TestContext, wrong: Any, category: Category) -> None:
        """Each of the properties is looked at."""
        assert failure(well_behaved, InProcess(wrong, "double"), double, draw("n", n=3)).category is category

    def test_refuses_memory(self, case: TestContext) -> None:
        """A second call must give the same."""
        counted = iter(range(1000))
        wrong = InProcess(lambda x: 2 * x if next(counted) < 5 else 3 * x, "double")
        assert "two different answers" in failure(well_behaved, wrong, double, draw("n", n=3)).fact


class TestNamingOnly:
    """`naming_only`."""

    def test_names_mistakes_of_one_function(self, case: TestContext) -> None:
        """Inside the block only its own mistakes name a failure, after it all of them."""
        with collecting(Registry()) as case.mistakes:
            mistake(double, says="You tripled.")(triple)
        wrong, x = InProcess(lambda x: triple(x).sum(), "double_of_sum"), draw("n", n=3)
        with naming_only("double_of_sum"):
            assert not failure(agree, wrong, double_of_sum, x).causes
        assert failure(agree, wrong, double_of_sum, x).causes
        with pytest.raises(Failed), naming_only("double_of_sum"):
            agree(wrong, double_of_sum, x)
        assert case.mistakes.mistakes

    def test_pairs_with_another_function(self, case: TestContext) -> None:
        """A mistake that explains one answer keeps its name when a mistake of another function joins it elsewhere."""
        with collecting(Registry()) as case.mistakes:
            mistake(double, says="You tripled.")(triple)
            mistake(double_and_one, says="You added 2.")(lambda x: double(x) + 2)
        x = draw("n", n=3)
        both = InProcess(lambda x: triple(x) + 2, "double_and_one")
        with naming_only("double_and_one"):
            alone = failure(agree, InProcess(lambda x: 2 * x + 2, "double_and_one"), double_and_one, x)
            assert not failure(agree, both, double_and_one, x).causes
        together = failure(agree, both, double_and_one, x)
        (cause,) = common_causes([alone, together], case.checks, case.mistakes)
        assert sorted(cause.says.split("You ")) == ["", "added 2. ", "tripled."]


def triple(x: torch.Tensor) -> torch.Tensor:
    return 3 * x


def double_and_one(x: torch.Tensor) -> torch.Tensor:
    return double(x) + 1


class TestInputs:
    """Masks, token ids, and what becomes of them."""

    def test_masks(self) -> None:
        """The causal and the padding mask are True where a token may look."""
        assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]
        assert padding_mask([1, 3], 3).tolist() == [[[True, False, False]], [[True, True, True]]]

    def test_random_mask_has_both_in_each_row(self, case: TestContext) -> None:
        """Each row blocks a key and allows one; a last axis that has no room for both is refused."""
        mask = random_mask(50, 4, 2)
        assert mask.any(-1).all()
        assert not mask.all(-1).any()
        with pytest.raises(ValueError, match="two places"):
            random_mask(3, 1)

    def test_integers_are_the_cases(self) -> None:
        """Token ids depend on the case's seed, have named axes, and stay below the upper end."""
        drawn = []
        for seed in (1, 1, 2):
            with activate(TestContext(seed=seed)):
                drawn.append(draw_integers(0, 7, "batch T", batch=(2, 3), T=50))
        assert drawn[0].shape == (2, 3, 50)
        assert drawn[0].unique().tolist() == list(range(7))
        assert torch.equal(drawn[0], drawn[1])
        assert not torch.equal(drawn[0], drawn[2])

    def test_float32(self) -> None:
        """Real numbers change their dtype in any nesting, and nothing else does."""
        ids = torch.tensor([1])
        x, given = torch.ones(1, dtype=torch.float64), current_test().id
        changed = to_float32({"x": (x, [x]), "ids": ids, "n": given})
        assert changed["x"][0].dtype is changed["x"][1][0].dtype is torch.float32
        assert (changed["ids"], changed["n"]) == (ids, given)

    def test_without_values(self) -> None:
        """Names and shapes are left."""
        assert without_values({"w": torch.ones(1, 2)})["w"].tolist() == [[0.0, 0.0]]
