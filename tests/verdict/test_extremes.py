"""Large numbers, rows of equal numbers and float32: mistakes that only show there lose marks."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn

from softmark.records.verdict import Failed
from softmark.verdict import TestContext, activate, agree_at_extremes
from softmark.verdict.draw import draw
from tests.support.students import InProcess

Function = Callable[..., torch.Tensor]


def normed(x: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
    """Return each row without its mean, over its deviation."""
    x = x - x.mean(-1, keepdim=True)
    return x / torch.sqrt(x.square().mean(-1, keepdim=True) + 1e-5) + shift


def at_extremes(own: Function, want: Function = normed, large: tuple[int, ...] = ()) -> None:
    with activate(TestContext("extremes", 1)):
        agree_at_extremes(InProcess(own), want, *draw("T d", "d", T=4, d=5), large=large)


def _of_gradient(where: Callable[[torch.Tensor], bool]) -> Function:
    """Return a function whose answers are right, and whose gradients are wrong for some inputs."""

    def own(x: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
        return normed(x, shift) + (0.01 * (x - x.detach()).sum() if where(x) else 0.0)

    return own


def _level(x: torch.Tensor) -> bool:
    return bool((x == x[..., :1]).all(-1).any())


WRONG: dict[str, Function] = {
    "large numbers": lambda x, shift: normed(x, shift) * (1 + 0.01 * (x.abs().max() > 900)),
    "another large input": lambda x, shift: normed(x, shift) * (1 + 0.01 * (shift.abs().max() > 300)),
    "gradients of large numbers": _of_gradient(lambda x: bool(x.abs().max() > 900)),
    "equal numbers": lambda x, shift: normed(x, shift) + 0.01 * _level(x),
    "gradients of equal numbers": _of_gradient(_level),
    "float32": lambda x, shift: normed(x, shift) * (1 + 0.01 * (x.dtype is torch.float32)),
}


class TestExtremes:
    def test_right_code(self) -> None:
        at_extremes(lambda x, shift: nn.functional.layer_norm(x, x.shape[-1:]) + shift)

    @pytest.mark.parametrize("name", WRONG)
    def test_code_that_is_wrong_only_there(self, name: str) -> None:
        with pytest.raises(Failed):
            at_extremes(WRONG[name])

    def test_the_author_says_what_may_be_large(self) -> None:
        """The other inputs stay as they are."""
        at_extremes(WRONG["another large input"], large=(0,))
        with pytest.raises(Failed):
            at_extremes(WRONG["another large input"], large=(1,))

    def test_a_module_is_not_asked_in_float32(self) -> None:
        """Its weights have one dtype."""

        class Normed(nn.Module):
            def forward(self, x: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
                return normed(x, shift)

        at_extremes(WRONG["float32"], Normed())
