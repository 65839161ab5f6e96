"""A pretended second device: code with a device of its own choice is found out, honest code is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

from softmark.sandbox.worker.devices import DEVICE, OtherDevice, is_elsewhere, place

HONEST: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "arithmetic": lambda x: (x @ x.T / 2 + 1).softmax(-1),
    "new_zeros": lambda x: x + x.new_zeros(4),
    "new_tensor": lambda x: x * x.new_tensor([1.0, 2.0, 3.0, 4.0]),
    "zeros on its device": lambda x: x + torch.zeros(4, device=x.device),
    "arange on its device": lambda x: x + torch.arange(4, device=x.device),
    "tensor on its device": lambda x: x + torch.tensor([1.0] * 4, device=x.device),
    "zeros_like": lambda x: torch.zeros_like(x) + x,
    "empty_like": lambda x: torch.empty_like(x).fill_(2.0) + x,
    "to another's": lambda x: x + torch.zeros(4).to(x),
    "to its device": lambda x: x + torch.zeros(4).to(x.device),
    "to its device by name": lambda x: x + torch.zeros(4).to(device=x.device, dtype=x.dtype),
    "to a dtype": lambda x: x.to(torch.float64) + x,
    "type_as": lambda x: x + torch.ones(4).type_as(x),
    "vmap": lambda x: torch.vmap(lambda row: row.softmax(-1))(x),
    "vmap, and what goes on with it": lambda x: torch.vmap(lambda row: row * 2)(x) @ x.T + x @ x.T,
    "vmap over what it was made of": lambda x: torch.vmap(lambda row: x @ row)(x * 2) + x.new_zeros(3),
    "vmap in vmap": lambda x: torch.vmap(torch.vmap(lambda entry: entry * 2))(x) + x,
    "gradient by torch.func": lambda x: torch.func.grad(lambda y: (y * y).sum())(x) + x,
    "index by a tensor": lambda x: x[torch.tensor([0, 2])],
    "assign by a tensor": lambda x: assigned(x),
    "scalar": lambda x: x / torch.tensor(2.0).sqrt(),
    "where with a number": lambda x: torch.where(x > 0, x, torch.tensor(0.0)),
    "masked_fill": lambda x: x.masked_fill(x > 0, float("-inf")),
    "mask of its own": lambda x: x.masked_fill(torch.ones(3, 4, dtype=torch.bool, device=x.device).tril(), 0),
    "stack of rows": lambda x: torch.stack([row * 2 for row in x]),
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
    "in place on a copy": lambda x: x.clone().add_(1),
    "functional": lambda x: nn.functional.layer_norm(x, (4,)),
    "transpose": lambda x: x.T.contiguous().view(2, 6),
}

FIXED: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "zeros": lambda x: x + torch.zeros(4),
    "arange": lambda x: x + torch.arange(4),
    "mask": lambda x: x.masked_fill(torch.ones(3, 4).tril() == 0, 0.0),
    "eye": lambda x: x.T @ torch.eye(3),
    "to a name": lambda x: x.to("cpu") + x,
    "cpu": lambda x: x.cpu() * x,
    "cat": lambda x: torch.cat([x, torch.zeros(1, 4)]),
    "in place": lambda x: x.clone().add_(torch.ones(4)),
    "device by name": lambda x: x + torch.ones(4, device="cpu"),
    "numpy": lambda x: x + torch.from_numpy(x.numpy()),
    "in vmap": lambda x: torch.vmap(lambda row: row + torch.zeros(4))(x),
    "after vmap": lambda x: torch.vmap(lambda row: row * 2)(x) + torch.zeros(4),
    "layer of its own": lambda x: nn.Linear(4, 2)(x),
    "type_as the wrong way": lambda x: x.type_as(torch.ones(4)) + x,
}

LEFT: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "returned from the cpu": lambda x: x.cpu(),
    "made elsewhere": lambda x: torch.zeros(x.shape),
    "rebuilt from numbers": lambda x: torch.tensor(x.tolist()),
    "moved by name": lambda x: x.to("cpu"),
}


def assigned(x: torch.Tensor) -> torch.Tensor:
    y = torch.zeros_like(x)
    y[torch.tensor([1])] = 1.0
    return y + x


def run(function: Callable[[torch.Tensor], Any]) -> tuple[Any, OtherDevice]:
    x = torch.linspace(-1, 1, 12).view(3, 4)
    with OtherDevice() as mode:
        return function(place(x)), mode


def ids(cases: dict[str, Any]) -> dict[str, Any]:
    return {"argvalues": cases.values(), "ids": cases}


class TestHonestCode:
    """Code that takes its device from its input."""

    @pytest.mark.parametrize("function", **ids(HONEST))
    def test_passes(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        """It runs, gives the same numbers as without the pretence, and the result is on the input's device."""
        value, mode = run(function)
        assert mode.has(value)
        torch.testing.assert_close(value, function(torch.linspace(-1, 1, 12).view(3, 4)))

    def test_module_on_the_device_passes(self) -> None:
        """A module whose parameters are on the device of its input works there."""
        layer = nn.LSTM(4, 2)
        for tensor in layer.parameters():
            place(tensor)
        (output, (hidden, _)), _ = run(layer)
        assert is_elsewhere(output)
        assert is_elsewhere(hidden)


class TestFixedDevice:
    """Code that has a device of its own."""

    @pytest.mark.parametrize("function", **ids(FIXED))
    def test_is_found(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        """Mixing it with the input raises what CUDA would raise."""
        with pytest.raises((RuntimeError, TypeError), match=r"same device|can't convert"):
            run(function)

    @pytest.mark.parametrize("function", **ids(LEFT))
    def test_is_seen_in_the_result(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        """A result that is not on the input's device says so, if nothing was mixed."""
        value, mode = run(function)
        assert not mode.has(value)


class TestPretence:
    """What a student's code sees."""

    def test_device_is_another(self) -> None:
        """The input, and what is made of it, say that they are elsewhere; a new tensor does not."""
        seen, _ = run(lambda x: (x.device, (x + 1).device, torch.ones(1).device))
        assert seen == (DEVICE, DEVICE, torch.device("cpu"))

    def test_ends_with_the_mode(self) -> None:
        """Afterwards a marked tensor is an ordinary one again."""
        x = place(torch.ones(2))
        with OtherDevice():
            assert x.device == DEVICE
        assert x.device == torch.device("cpu")
        torch.testing.assert_close(x + torch.ones(2), torch.full((2,), 2.0))

    def test_input_stays_elsewhere_when_moved_to_where_it_was(self) -> None:
        """`x.to("cpu")` gives another tensor: the input keeps its device."""
        seen, _ = run(lambda x: (x.to("cpu").device, x.device))
        assert seen == (torch.device("cpu"), DEVICE)
