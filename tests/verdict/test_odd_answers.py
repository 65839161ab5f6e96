"""Every check against every odd answer: it holds or fails in a sentence. Nothing else is ever raised."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from softmark.sandbox.wire import Frame, Handle, Meta, Raised
from softmark.verdict import (
    Answer,
    Category,
    Failed,
    Gradients,
    OpCount,
    TestContext,
    activate,
    agree,
    batch_independent,
    causal,
    gradients_agree,
    ignores_padding,
    keeps_dtype,
    leaves_inputs,
    ops_independent_of,
    permutation_equivariant,
    raises,
    repeatable,
    rows_sum_to_one,
    uses_inputs,
    uses_weights,
    works_on_meta,
)

X = torch.linspace(-1, 1, 2 * 4 * 3, dtype=torch.float64).reshape(2, 4, 3)
PADDING = torch.tensor([False, False, True, True])


class Says:
    """A student's callable that gives these answers in turn, whatever it is asked."""

    name = "theirs"
    changes_inputs = True

    def __init__(self, *answers: Any) -> None:
        self._answers, self._asked = answers, 0

    def _next(self) -> Any:
        self._asked += 1
        return self._answers[(self._asked - 1) % len(self._answers)]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._next()

    def call(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Answer:
        value = self._next()
        return Answer(value, ["argument 1"] if self.changes_inputs else [])

    def vjp(self, args: Sequence[Any], kwargs: Mapping[str, Any], cotangent: Any) -> Gradients:
        value = self._next()
        gradient = value if isinstance(value, torch.Tensor) else None
        return Gradients(value, (gradient,) * len(args), dict.fromkeys(kwargs, gradient), {"weight": gradient})

    def count_ops(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> OpCount:
        value = self._next()
        return OpCount(abs(value) if type(value) is int else 1)

    def on_meta(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        return self._next()

    def parameters(self) -> dict[str, torch.Tensor]:
        value = self._next()
        return {"weight": value} if isinstance(value, torch.Tensor) else {}

    def load_state_dict(self, state: Mapping[str, torch.Tensor]) -> None:
        self._next()


def tanh(x: torch.Tensor) -> torch.Tensor:
    return torch.tanh(x)


def two(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return x @ x.mT, first(x) @ x


def first(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x @ x.mT, -1)


CHECKS: dict[str, Callable[[Says], object]] = {
    "agree": lambda got: agree(got, tanh, X),
    "agree on two": lambda got: agree(got, two, X),
    "agree on a number": lambda got: agree(got, lambda x: 3, X),
    "agree on a text": lambda got: agree(got, lambda x: "text", X),
    "agree on a mask": lambda got: agree(got, lambda x: x > 0, X),
    "agree on whole numbers": lambda got: agree(got, lambda x: torch.arange(4), X),
    "agree on complex numbers": lambda got: agree(got, lambda x: x * 1j, X),
    "agree on a dict": lambda got: agree(got, lambda x: {"a": x, "b": (x, None)}, X),
    "gradients": lambda got: gradients_agree(got, tanh, X),
    "rows": lambda got: rows_sum_to_one(got, X),
    "second rows": lambda got: rows_sum_to_one(got, X, output=1),
    "some rows": lambda got: rows_sum_to_one(got, X, rows=torch.tensor([[True] * 4, [False] * 4])),
    "permutation": lambda got: permutation_equivariant(got, X),
    "permutation of the first axis": lambda got: permutation_equivariant(got, X, axis=0),
    "causal": lambda got: causal(got, X),
    "causal along the second axis": lambda got: causal(got, X, axis=1, output=1),
    "padding": lambda got: ignores_padding(got, X, padding=PADDING),
    "padding left out": lambda got: ignores_padding(got, X, padding=PADDING, compare=~PADDING),
    "batch": lambda got: batch_independent(got, X),
    "repeatable": lambda got: repeatable(got, X),
    "inputs": lambda got: leaves_inputs(got, X),
    "dtype": lambda got: keeps_dtype(got, X),
    "meta": lambda got: works_on_meta(got, X),
    "operations": lambda got: ops_independent_of("the number of tokens", got, (X,), (X,)),
    "raises": lambda got: raises(ValueError, got, X),
    "uses inputs": lambda got: uses_inputs(got, X),
    "uses weights": lambda got: uses_weights(got, X),
}

TORCH = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
NUMPY = "bool uint8 int8 int16 uint16 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128".split()
SHAPES = [(), (0,), (1,), (4,), (3, 4), (2, 4), (4, 3), (2, 4, 3), (2, 4, 4), (1, 4, 3), (2, 0, 3), (3, 4, 3)]
SHAPES += [(2, 3, 3), (2, 5, 3), (2, 1, 1, 4, 3), (1,) * 20]
VALUES = [0.0, 1.0, -1.0, 0.25, float("nan"), float("inf"), float("-inf"), 1e300, 1e-300]


def tensor(dtype: str, shape: tuple[int, ...], value: float) -> torch.Tensor:
    return torch.full(shape, value, dtype=torch.float64).nan_to_num(7).clamp(-99, 99).to(getattr(torch, dtype))


def special(dtype: str, shape: tuple[int, ...], value: float) -> torch.Tensor:
    return torch.full(shape, value, dtype=getattr(torch, dtype))


shapes = st.sampled_from(SHAPES)
tensors = st.one_of(
    st.builds(tensor, st.sampled_from(TORCH), shapes, st.sampled_from(VALUES)),
    st.builds(special, st.sampled_from(("float32", "float64", "complex128")), shapes, st.sampled_from(VALUES[:-2])),
    st.sampled_from([X, torch.tanh(X), X.float(), torch.tanh(X).requires_grad_(), first(X), *two(X)]),
    st.builds(lambda shape: torch.empty(shape, device="meta"), shapes),
)
arrays = st.builds(lambda dtype, shape: np.ones(shape, dtype), st.sampled_from(NUMPY), shapes)
largest = st.sampled_from([np.full((2, 4, 3), 2**64 - 1, np.uint64), np.full((4,), 65535, np.uint16)])
ints = st.sampled_from([0, -1, 3, 2**31, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 2**4095, -(2**4095)])
objects = st.sampled_from(
    [Handle(1, "z0511", True), Raised("E", "m", (Frame("f", 0, "", ""),)), Meta("float64", (2, 4, 3)), b"", b"\0x"]
)
plain = st.one_of(st.none(), st.booleans(), ints, st.floats(), st.complex_numbers(), st.text(max_size=5), objects)
leaves = st.one_of(tensors, arrays, largest, plain)
answers = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.one_of(st.sampled_from(["a", "b", "c"]), st.integers()), inner, max_size=3),
    ),
    max_leaves=6,
)


class TestOddAnswers:
    """Types, dtypes, shapes, numbers and nestings that no check asks for."""

    @settings(max_examples=40, deadline=None, derandomize=True)
    @pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
    @given(given_answers=st.lists(answers, min_size=1, max_size=3))
    def test_fail_in_a_sentence(self, check: Callable[[Says], object], given_answers: list[Any]) -> None:
        """The only exception is `Failed`, and what it says can be written down."""
        with activate(TestContext("odd", 11)):
            try:
                check(Says(*given_answers))
            except Failed as failed:
                verdict = failed.verdict
                assert verdict.fact
                (verdict.fact + verdict.where + verdict.staff).encode()
                assert "z0511" not in verdict.fact + verdict.where

    @pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
    def test_of_every_shape_and_dtype(self, check: Callable[[Says], object]) -> None:
        """Every shape in every dtype holds or fails."""
        for shape, dtype in product(SHAPES, TORCH):
            with activate(TestContext("odd", 11)), suppress(Failed):
                check(Says(tensor(dtype, shape, 1.0)))

    @pytest.mark.parametrize("check", ["permutation", "causal", "padding left out", "batch"])
    @pytest.mark.parametrize("shape", [(), (3,), (1, 1)], ids=str)
    def test_of_a_wrong_shape_are_told_so(self, check: str, shape: tuple[int, ...]) -> None:
        """An axis that a check looks along, and that is not there, is a wrong shape."""
        with activate(TestContext("odd", 11)), pytest.raises(Failed) as failed:
            CHECKS[check](Says(torch.ones(shape, dtype=torch.float64)))
        assert failed.value.verdict.category is Category.SHAPE
        assert f"shape {shape}" in failed.value.verdict.fact

    @pytest.mark.parametrize(
        "answer", [None, "text", {"a": X}, (), [None]], ids=["None", "text", "dict", "()", "[None]"]
    )
    @pytest.mark.parametrize("check", ["permutation", "causal", "padding", "batch", "rows", "dtype"])
    def test_of_a_wrong_type_are_told_so(self, check: str, answer: Any) -> None:
        """What is no tensor is a wrong type."""
        with activate(TestContext("odd", 11)), pytest.raises(Failed) as failed:
            CHECKS[check](Says(answer))
        assert failed.value.verdict.category is Category.TYPE

    @pytest.mark.parametrize("answer", [None, 3, ()], ids=str)
    def test_of_a_wrong_type_elsewhere_is_told_so(self, answer: Any) -> None:
        """A function that returns no tensor when it is asked on another device has not worked there."""
        with activate(TestContext("odd", 11)), pytest.raises(Failed) as failed:
            CHECKS["meta"](Says(answer))
        assert failed.value.verdict.category is Category.TYPE
