"""The pretended device: torch accepts there what a real device accepts, and refuses what that refuses."""

from __future__ import annotations

import contextlib
import copy
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations

from softmark.records.verdict import Code
from softmark.sandbox.failure_texts import from_exception
from softmark.sandbox.worker import exceptions, pretended
from softmark.sandbox.worker.mixed_devices import THERE
from tests.sandbox.device_forms import KEPT, LEFT, REFUSED, Form, Holder, MovesItself, PlainAttribute, Tied

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")  # of torch, about the forms themselves


def ids(cases: dict[str, Any]) -> dict[str, Any]:
    return {"argvalues": cases.values(), "ids": cases}


def example() -> torch.Tensor:
    return torch.linspace(-1, 1, 12).view(3, 4)


def run(function: Callable[[torch.Tensor], Any]) -> Any:
    x = pretended.put(example())
    torch.manual_seed(0)
    with pretended.on():
        return function(x)


def test_torch_is_a_tested_version() -> None:
    """The module uses private parts of torch: another version is to be looked at."""
    assert torch.__version__.startswith(pretended.TESTED)


class TestForms:
    """The forms of code that stay on the device, are refused there, or leave it."""

    @pytest.mark.parametrize("form", **ids(KEPT))
    def test_stays_on_the_device(self, form: Form) -> None:
        """It runs, gives the same numbers as on the CPU, and the result is on the input's device."""
        value = run(form)
        assert value.device == THERE
        torch.manual_seed(0)
        expected = form(example())
        plain = pretended.fetch(value.detach()).as_subclass(torch.Tensor)
        torch.testing.assert_close(plain, expected.detach().as_subclass(torch.Tensor))

    @pytest.mark.parametrize("form", **ids(REFUSED))
    def test_is_refused(self, form: Form) -> None:
        """It raises what a real device makes torch raise, and the student is told what to write instead."""
        with pytest.raises((RuntimeError, TypeError, AssertionError)) as raised:
            run(form)
        told = from_exception(exceptions.describe(raised.value, "/nowhere"))
        assert told.code == Code.WRONG_DEVICE
        assert not told.fact.startswith("raised")

    @pytest.mark.parametrize("form", **ids(LEFT))
    def test_leaves_the_device(self, form: Form) -> None:
        """Nothing was mixed, and the result is on the CPU."""
        value = run(form)
        assert value.device == torch.device("cpu")
        torch.testing.assert_close(value, form(example()))

    @pytest.mark.parametrize("form", [*KEPT.values(), *LEFT.values()], ids=[*KEPT, *(f"left: {name}" for name in LEFT)])
    def test_runs_on_the_cpu_as_ever(self, form: Form) -> None:
        """While the device is on, tensors of the CPU are what they were."""
        torch.manual_seed(0)
        expected = form(example())
        torch.manual_seed(0)
        with pretended.on():
            value = form(example())
        assert value.device == torch.device("cpu")
        torch.testing.assert_close(value, expected)


class TestDevice:
    """A student's code sees a device like any other."""

    def test_device_is_another(self) -> None:
        """The input, and what is made of it, say that they are elsewhere; a new tensor does not."""
        seen = run(lambda x: (x.device, (x + 1).device, torch.ones(1).device, x.is_cpu, type(x)))
        assert seen == (THERE, THERE, torch.device("cpu"), False, torch.Tensor)

    def test_input_stays_elsewhere_when_moved(self) -> None:
        """`x.to("cpu")` gives another tensor: the input keeps its device, and its numbers are its own."""

        def moved(x: torch.Tensor) -> Any:
            x.to("cpu").zero_()
            return x.to("cpu").device, x.device, x.abs().sum().item() > 0

        assert run(moved) == (torch.device("cpu"), THERE, True)

    def test_changed_input_is_seen_outside(self) -> None:
        """A tensor that was put there holds what code writes to its input."""
        x = example()
        there = pretended.put(x)
        with pretended.on():
            there.mT[0] = 7
        assert x[:, 0].tolist() == [7.0] * 3

    def test_nothing_is_left_of_it(self) -> None:
        """Afterwards torch is as before."""
        generator = torch.Generator
        run(lambda x: x + 1)
        assert torch.Generator is generator
        assert not torch.overrides._get_current_function_mode_stack()
        torch.testing.assert_close(example() + torch.ones(4), example() + 1)

    def test_memory_is_given_back(self) -> None:
        """Numbers live as long as the tensor that has them."""
        seen: list[int] = []

        def loop(x: torch.Tensor) -> None:
            for _ in range(200):
                y = torch.ones(1000, 1000, device=x.device)
                seen.append(pretended.fetch(y).untyped_storage().data_ptr())

        run(loop)
        assert len(set(seen)) < 20

    def test_compiler_is_not_imported(self) -> None:
        """torch's compiler takes a second to import, and nothing needs it."""
        code = (
            "import sys, torch; from softmark.sandbox.worker import pretended\n"
            "x = pretended.put(torch.ones(3, 4))\n"
            "with pretended.on(): torch.nn.Linear(4, 4, device=x.device)(x).sum().backward()\n"
            "print(*{'torch._dynamo', 'torch.fx.experimental.symbolic_shapes', 'sympy'} & sys.modules.keys())"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout == "\n"


class TestCannotFollow:
    """An exception of a class of its own says that the device cannot follow."""

    FORMS: dict[str, Form] = {  # noqa: RUF012
        "compressed rows": lambda x: x.to_sparse_csr(),
        "a compiled module that moves": lambda x: torch.jit.script(nn.Linear(4, 2)).to(x.device)(x),
        "another thread": lambda x: in_a_thread(lambda: x.new_ones(2)) + 1,
    }

    @pytest.mark.parametrize("form", **ids(FORMS))
    def test_is_said(self, form: Form) -> None:
        with pytest.raises(pretended.CannotFollow):
            run(form)

    def test_refusal_behind_another_exception_is_told(self) -> None:
        """Code that turns a refusal into an exception of its own is told the refusal."""

        def wrapped(x: torch.Tensor) -> torch.Tensor:
            try:
                return x + torch.zeros(4)
            except RuntimeError as error:
                raise ValueError("no good input") from error

        with pytest.raises(RuntimeError, match="same device"):
            run(wrapped)

    def test_earlier_refusal_is_not_blamed(self) -> None:
        """Code that has an answer to a refusal, and fails for another reason, is told that reason."""

        def careful(x: torch.Tensor) -> torch.Tensor:
            with contextlib.suppress(RuntimeError):
                return x + torch.zeros(4)
            raise RuntimeError("something else")

        with pytest.raises(RuntimeError, match="something else"):
            run(careful)


def in_a_thread(function: Callable[[], Any]) -> Any:
    got: list[Any] = []
    thread = threading.Thread(target=lambda: got.append(function()))
    thread.start()
    thread.join()
    return got[0]


class Remembers(nn.Module):
    """Keeps what it computed, with the graph, and a mask that it makes in its first call."""

    def __init__(self) -> None:
        super().__init__()
        self.linear, self.lstm = nn.Linear(4, 4), nn.LSTM(4, 4)
        self.seen: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen = self.linear(x).softmax(-1)
        if not hasattr(self, "mask"):
            self.mask = torch.ones(4, device=x.device)
        return self.lstm(self.seen)[0] * self.mask


class TestModules:
    """A module on the device for one call."""

    MODULES: dict[str, Callable[[], nn.Module]] = {  # noqa: RUF012
        "every kind of tensor": Holder,
        "tied weights": Tied,
        "moves itself": MovesItself,
        "keeps a graph": Remembers,
        "running statistics": lambda: nn.BatchNorm1d(4),
        "a parametrization": lambda: parametrizations.weight_norm(nn.Linear(4, 4)),
        "a layer of layers": lambda: nn.TransformerEncoderLayer(4, 2, 8, 0.0),
        "double precision": lambda: nn.Sequential(nn.Linear(4, 4).double(), nn.Softmax(-1)),
        "frozen": lambda: nn.Linear(4, 4).requires_grad_(False),
    }

    @pytest.mark.parametrize("make", **ids(MODULES))
    def test_is_afterwards_as_before(self, make: Callable[[], nn.Module]) -> None:
        """Its tensors are the same objects with their hooks and gradients, and work on the CPU as before."""
        module = make()
        tensors = [*module.parameters(), *module.buffers()]
        trained = [tensor for tensor in module.parameters() if tensor.requires_grad]
        x = example().to(tensors[0].dtype if tensors else torch.float32)
        fresh = copy.deepcopy(module)(x)
        kept = module.linear(x) if isinstance(module, Remembers) else None  # a graph that holds parameters
        heard: list[str] = []
        for tensor in trained:
            tensor.register_hook(lambda gradient: heard.append("gradient"))
        with pretended.on([module]):
            assert module(pretended.put(x)).device == THERE
            assert {tensor.device for tensor in (*module.parameters(), *module.buffers())} <= {THERE}
        assert all(a is b for a, b in zip([*module.parameters(), *module.buffers()], tensors, strict=True))
        value = module(x)
        torch.testing.assert_close(value, fresh)
        for graph in (kept, value):
            if graph is not None and graph.requires_grad:
                graph.sum().backward()
        assert bool(heard) == bool(trained)
        assert all(tensor.grad is not None for tensor in trained)

    def test_what_it_keeps_on_the_device_is_forgotten(self) -> None:
        """A mask that it made for the call is made anew on the CPU."""
        module = Remembers()
        with pretended.on([module]):
            assert module(pretended.put(example())).device == THERE
        assert module(example()).device == torch.device("cpu")

    def test_what_does_not_move_is_refused(self) -> None:
        """A plain attribute stays behind."""
        module = PlainAttribute()
        with pytest.raises(RuntimeError, match="same device"), pretended.on([module]):
            module(pretended.put(example()))

    def test_compiled_module_is_not_followed(self) -> None:
        with pytest.raises(pretended.CannotFollow), pretended.on([torch.jit.script(nn.Linear(4, 2))]):
            raise AssertionError("unreachable")
