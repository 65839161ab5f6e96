"""Library shortcuts are caught where they are used, whatever they are called; a mention is only a mention."""

from __future__ import annotations

import ast
import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from softmark.sandbox.wire.protocol import Rule
from softmark.sandbox.worker.forbidden import ForbiddenUse, Guard, mentions, rest, undo

RULES = (
    Rule(
        ("torch.nn.functional.scaled_dot_product_attention", "torch.nn.MultiheadAttention"),
        ("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_*"),
    ),
    Rule(("torch.nn.functional.gelu",), functions=("gelu",)),
)
Q = torch.ones(1, 2, 3)
alias = F.scaled_dot_product_attention


class Renamed(nn.MultiheadAttention):
    """A shortcut under a name of the student's own."""


SHORTCUTS: dict[str, Callable[[], Any]] = {
    "plain": lambda: F.scaled_dot_product_attention(Q, Q, Q),
    "alias": lambda: alias(Q, Q, Q),
    "getattr": lambda: getattr(F, "scaled_dot_product" + "_attention")(Q, Q, Q),
    "operator": lambda: torch.ops.aten.scaled_dot_product_attention(Q, Q, Q),
    "operator overload": lambda: torch.ops.aten.scaled_dot_product_attention.default(Q, Q, Q),
    "operator below it": lambda: torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(Q[None], Q[None], Q[None]),
    "inner function": lambda: torch._C._nn.scaled_dot_product_attention(Q, Q, Q),
    "class": lambda: nn.MultiheadAttention(4, 2),
    "subclass": lambda: Renamed(4, 2),
}


@pytest.fixture
def guard() -> Iterator[Guard]:
    """A guard, whose marks on torch go away with the test."""
    yield Guard(RULES)
    undo()


class TestGuard:
    """Watching a call."""

    @pytest.mark.parametrize("use", SHORTCUTS.values(), ids=SHORTCUTS)
    def test_catches_a_use(self, use: Callable[[], Any], guard: Guard) -> None:
        """Whatever path leads to a forbidden function or class, using it is seen, by its own name."""
        with pytest.raises(ForbiddenUse, match=r"scaled_dot_product|MultiheadAttention"), guard.watching("attention"):
            use()

    @pytest.mark.parametrize("use", SHORTCUTS.values(), ids=SHORTCUTS)
    def test_is_not_appeased_by_except(self, use: Callable[[], Any], guard: Guard) -> None:
        """Code that swallows the exception and goes on is caught at the end of the call."""
        with pytest.raises(ForbiddenUse), guard.watching("attention"), contextlib.suppress(BaseException):
            use()

    def test_allows_the_rest(self, guard: Guard) -> None:
        """What is not forbidden gives its result as ever."""
        with guard.watching("attention"):
            weights = (Q @ Q.transpose(-1, -2)).softmax(-1)
            linear = nn.Linear(3, 3)(Q)
        assert weights.shape == (1, 2, 2)
        assert linear.shape == (1, 2, 3)

    def test_holds_for_the_functions_named(self, guard: Guard) -> None:
        """A rule for some parts forbids nothing in the others."""
        with pytest.raises(ForbiddenUse, match="gelu"), guard.watching("gelu"):
            F.gelu(Q)
        with guard.watching("attention"):
            F.gelu(Q)

    def test_sees_nothing_outside_of_a_call(self, guard: Guard) -> None:
        """Where the process is not the student's alone, the library works as ever between two calls."""
        for _ in range(2):
            with pytest.raises(ForbiddenUse), guard.watching("attention"):
                F.scaled_dot_product_attention(Q, Q, Q)
            rest()
            assert F.scaled_dot_product_attention(Q, Q, Q).shape == Q.shape
            nn.MultiheadAttention(4, 2)

    def test_leaves_no_trace(self) -> None:
        """Functions, signatures and classes are afterwards what they were."""
        before = [nn.MultiheadAttention.__init__, F.multi_head_attention_forward, torch.autograd.grad]
        codes, signatures = [f.__code__ for f in before], [inspect.signature(f) for f in before]
        guard = Guard([Rule((*RULES[0].names, "torch.autograd.grad"))])
        assert [inspect.signature(f) for f in before] == signatures
        with guard.watching("attention"):
            pass
        undo()
        assert [f.__code__ for f in before] == codes
        assert [inspect.signature(f) for f in before] == signatures
        assert not any("__signature__" in vars(f) for f in before)

    def test_forgets_what_it_saw(self, guard: Guard) -> None:
        """A forbidden use in one call is not held against the next."""
        with pytest.raises(ForbiddenUse), guard.watching("attention"):
            F.scaled_dot_product_attention(Q, Q, Q)
        with guard.watching("attention"):
            torch.ones(1)


class TestMentions:
    """Searching the text."""

    @pytest.mark.parametrize(
        ("source", "line"),
        [
            ("import torch\ntorch.nn.functional.gelu(x)", 2),
            ("import torch.nn.functional as F\n\nF.gelu(x)", 3),
            ("from torch.nn import functional\nfunctional.gelu", 2),
            ("from torch.nn.functional import gelu as g\ng(x)", 2),
            ("import torch as t\ndef f(x):\n    return t.nn.functional.gelu(x)", 3),
        ],
    )
    def test_follows_imports(self, source: str, line: int) -> None:
        """A forbidden name is found under whatever alias it was imported."""
        assert mentions([ast.parse(source)], RULES) == [("torch.nn.functional.gelu", 0, line)]

    @pytest.mark.parametrize(
        "source", ["# torch.nn.functional.gelu", "'torch.nn.functional.gelu'", "def gelu(x): return x\ngelu(1)", ""]
    )
    def test_passes_over_words(self, source: str) -> None:
        """A comment, a text, or a function of the same name is no mention."""
        assert mentions([ast.parse(source)], RULES) == []
