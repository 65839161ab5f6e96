"""Calls that a test makes one after the other: what a function keeps from one to the next shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from softmark.records.verdict import Failed
from softmark.verdict import TestContext, activate, agree_in_turn
from softmark.verdict.draw import draw

Calls = list[torch.Tensor]


def doubled(x: torch.Tensor) -> torch.Tensor:
    return 2 * x


def in_turn(own: Callable[..., Any], want: Callable[..., Any] = doubled) -> None:
    with activate(TestContext("in turn", 1)):
        agree_in_turn(own, want, [draw("n", n=5)], [draw("n", n=8)], [draw("n", n=3)])


def keeping(wrong: Callable[[torch.Tensor, Calls], bool]) -> Callable[[torch.Tensor], torch.Tensor]:
    """Return a function that is wrong where `wrong` says so, given the call and those before."""
    before: Calls = []

    def own(x: torch.Tensor) -> torch.Tensor:
        off = wrong(x, before)
        before.append(x.clone())
        return 2 * x + 0.01 * off

    return own


class TestInTurn:
    def test_right_code(self) -> None:
        in_turn(lambda x: x + x)

    @pytest.mark.parametrize(
        "wrong",
        [
            lambda x, before: bool(before),
            lambda x, before: any(torch.equal(one, x) for one in before),
            lambda x, before: any(one.shape == x.shape and not torch.equal(one, x) for one in before),
            lambda x, before: any(len(one) > len(x) for one in before),
            lambda x, before: any(len(one) < len(x) for one in before),
            lambda x, before: any(one.dtype is not x.dtype for one in before),
            lambda x, before: x.dtype is torch.float32,
            lambda x, before: any(one.dtype is torch.float32 for one in before),
        ],
    )
    def test_code_that_keeps_something(self, wrong: Callable[[torch.Tensor, Calls], bool]) -> None:
        with pytest.raises(Failed):
            in_turn(keeping(wrong))

    def test_modules_keep_their_dtype(self) -> None:
        """A module has weights of one dtype, so neither it nor a method of it is asked in float32."""
        asked: list[torch.dtype] = []

        class Same(nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                return 2 * x

            def step(self, x: torch.Tensor) -> torch.Tensor:
                return 2 * x

        def own(x: torch.Tensor) -> torch.Tensor:
            asked.append(x.dtype)
            return 2 * x

        for want in (Same(), Same().step):
            in_turn(own, want)
            assert set(asked) == {torch.float64}
