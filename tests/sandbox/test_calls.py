"""What a call needs besides the student's function: a signature that fits, and inputs that stay what they are."""

from __future__ import annotations

import collections
import functools
import types
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import nn

from softmark.sandbox.wire import Handle, Meta
from softmark.sandbox.wire.protocol import Call, ComputedResult, How, PullbackResult
from softmark.sandbox.worker.calls import SignatureMismatch, perform
from softmark.sandbox.worker.forbidden import Guard
from softmark.sandbox.worker.loading import SubmissionModule

NAN = float("nan")


class Layer(nn.Module):
    """A module whose forward the signature is read from."""

    def forward(self, x: Any, mask: Any = None) -> Any:
        return x


class Static:
    """An object whose signature Python tells wrongly."""

    @staticmethod
    def __call__(x: Any, mask: Any = None) -> int:
        return 0


def given_a_mask(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that needs one argument less than its signature says."""

    @functools.wraps(function)
    def inner(x: Any) -> Any:
        return function(x, 1)

    return inner


class Pair:
    """A class that is made of two."""

    def __init__(self, x: Any, mask: Any) -> None: ...


def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return inner


def call(function: Any, *args: Any, **kwargs: Any) -> Any:
    """One plain call with its inputs watched, in this process."""
    module = types.ModuleType("hw")
    vars(module)["f"] = function
    return perform(SubmissionModule(module, Guard([])), Call("f", args=list(args), kwargs=kwargs))


CALLS: tuple[tuple[tuple[Any, ...], dict[str, Any]], ...] = (
    ((), {}),
    ((1,), {}),
    ((1, 2), {}),
    ((1, 2, 3), {}),
    ((1,), {"mask": 2}),
    ((), {"x": 1}),
    ((), {"mask": 2}),
    ((1,), {"x": 1}),
    ((1,), {"other": 2}),
    ((1, 2), {"mask": 2}),
)
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "one": lambda x: 0,
    "two": lambda x, mask: 0,
    "a default": lambda x, mask=None: 0,
    "nothing but defaults": lambda x=1, mask=2: 0,
    "by position only": lambda x, /, mask=None: 0,
    "by name only": lambda x, *, mask: 0,
    "any": lambda *args, **kwargs: 0,
    "one and any by name": lambda x, **kwargs: 0,
    "any by position": lambda *args: 0,
    "two and any by position": lambda x, mask=None, *others: 0,
    "decorated": decorated(lambda x: 0),
    "partial": functools.partial(lambda y, x, mask: 0, 5),
    "a method": types.MethodType(lambda self, x, mask=None: 0, 5),
    "a module": Layer(),
    "a class": Pair,
    "a static call": Static(),
    "given a mask": given_a_mask(lambda x, mask: 0),
}


SIGNED_WRONGLY = ("a static call", "given a mask")


class TestSignature:
    """A call that the student's definition has no place for."""

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_is_told_in_terms_of_the_definition(self, name: str) -> None:
        """Exactly what Python itself refuses is refused."""
        function = FUNCTIONS[name]
        for args, kwargs in CALLS:
            try:
                function(*args, **kwargs)
            except TypeError:
                with pytest.raises(TypeError) as refused:
                    call(function, *args, **kwargs)
                told = isinstance(refused.value, SignatureMismatch) and "it is defined as" in str(refused.value)
                assert told or name in SIGNED_WRONGLY
            else:
                call(function, *args, **kwargs)

    def test_of_what_is_decorated(self) -> None:
        """The definition that is told is the one the student wrote."""
        with pytest.raises(SignatureMismatch, match=r"defined as \(x, mask\): missing a required argument: 'mask'"):
            call(decorated(lambda x, mask: 0), 1)


class Projections(NamedTuple):
    """Three results by name."""

    q: Any
    k: Any
    v: Any


class Boastful(list[Any]):
    """A list that says of itself that it is empty."""

    def __iter__(self) -> Iterator[Any]:
        return iter(())


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Projections(1, [2], Projections(3, 4, 5)), (1, [2], (3, 4, 5))),
        (collections.OrderedDict(a=Projections(1, 2, 3)), {"a": (1, 2, 3)}),
        (collections.Counter("aab"), {"a": 2, "b": 1}),
        (torch.tensor([2.0, 1.0]).max(0), (torch.tensor(2.0), torch.tensor(0))),
        (Boastful([1, 2]), [1, 2]),
    ],
    ids=["named tuple", "ordered", "counter", "torch's", "boastful"],
)
@pytest.mark.parametrize("how", ["plain", "count_ops"])
def test_named_tuples_and_the_like_are_what_they_hold(value: Any, plain: Any, how: How) -> None:
    module = types.ModuleType("hw")
    vars(module)["f"] = lambda: value
    answer = perform(SubmissionModule(module, Guard([])), Call("f", how=how)).value
    assert type(answer) is type(plain)
    assert answer == plain


def test_named_tuples_on_another_device_hold_tensors_of_it() -> None:
    module = types.ModuleType("hw")
    vars(module)["f"] = lambda x: Projections(x, x + 1, [x])
    answer = perform(SubmissionModule(module, Guard([])), Call("f", args=[torch.ones(2, 3)], how="on_meta")).value
    seen = Meta("float32", (2, 3))
    assert answer == (seen, seen, [seen])


class Function(type):
    """A metaclass whose classes answer when they are called."""

    def __call__(cls, x: Any) -> Any:
        return x + 1


class Factory:
    """A class that makes a number."""

    def __new__(cls, x: Any) -> Any:
        return x + 1


@pytest.mark.parametrize("function", [Function("f", (), {}), Factory], ids=["metaclass", "new"])
def test_a_class_that_answers_is_a_function(function: Any) -> None:
    assert torch.equal(call(function, torch.ones(2)).value, torch.full((2,), 2.0))


def test_a_class_that_makes_another_module_makes_an_object() -> None:
    class Maker:
        def __new__(cls, x: Any) -> Any:
            return Layer()

    assert type(call(Maker, 1).value) is Handle


def spoil_nothing(value: Any) -> int:
    return 0


def spoil(value: Any) -> None:
    value[...] = 0


def spoil_inside(value: Any) -> None:
    next(iter(value.values() if isinstance(value, dict) else value))[0] = 0


INPUTS: dict[str, tuple[Callable[[], Any], Callable[[Any], None]]] = {
    "tensor": (lambda: torch.tensor([1.0, NAN]), spoil),
    "tensor with gradient": (lambda: torch.ones(2, requires_grad=True), lambda x: x.data.zero_()),
    "whole numbers": (lambda: torch.arange(1, 3), spoil),
    "array": (lambda: np.array([1.0, NAN]), spoil),
    "list": (lambda: [torch.ones(2), 1], spoil_inside),
    "tuple": (lambda: (np.ones(2), "x"), spoil_inside),
    "dict": (lambda: {"a": [1, 2]}, spoil_inside),
    "deep": (lambda: [([1, torch.ones(2)],)], lambda x: x[0][0][1].zero_()),
    "longer": (lambda: [1, 2], lambda x: x.append(3)),
    "resized": (lambda: torch.ones(2), lambda x: x.resize_(1)),
}


class TestWatch:
    """Whether a call changes what it is given."""

    @pytest.mark.parametrize("kind", INPUTS)
    def test_tells_a_change(self, kind: str) -> None:
        """A change is seen wherever it is, and the same with a NaN in it is no change."""
        make, change = INPUTS[kind]
        assert call(spoil_nothing, make()).changed == []
        assert call(lambda x, y: change(y), 1, make()).changed == ["argument 2"]


WAYS: dict[How, dict[str, Any]] = {
    "plain": {},
    "vjp": {"cotangent": torch.ones(2, 2)},
    "count_ops": {},
    "on_meta": {},
}
CHANGES: dict[str, Callable[[Any], Any]] = {
    "numbers": lambda x: x.mul_(2),
    "one number": lambda x: x[0].fill_(7),
    "axes": lambda x: x.t_(),
    "through data": lambda x: x.data.zero_(),
    "in a list": lambda x: x[0].zero_(),
    "in a dictionary": lambda x: x["a"].logical_not_(),
}


class TestChangeInEachWay:
    """Each way of using a function tells the inputs that were changed."""

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64])
    @pytest.mark.parametrize("how", WAYS)
    @pytest.mark.parametrize("change", CHANGES)
    def test_is_told(self, change: str, how: How, dtype: torch.dtype) -> None:
        x = torch.tensor([[1, 2], [3, 4]]).to(dtype)
        inner: Any = {"in a list": [x], "in a dictionary": {"a": x > 2}}.get(change, x)
        module = types.ModuleType("hw")
        vars(module)["f"] = lambda x, y: (CHANGES[change](y), x * 2)[1]
        vars(module)["g"] = lambda x, y: x * 2
        for name, changed in (("f", ["y"]), ("g", [])):
            request = Call(name, how=how, args=[torch.ones(2, 2)], kwargs={"y": inner}, **WAYS[how])
            done = perform(SubmissionModule(module, Guard([])), request)
            assert isinstance(done, ComputedResult)
            assert done.changed == changed


def gradient_of(function: Callable[..., Any], x: torch.Tensor) -> torch.Tensor | None:
    """Return the gradient of the sum of f(x), as a worker answers a request for it."""
    module = types.ModuleType("hw")
    vars(module)["f"] = function
    request = Call("f", how="vjp", args=[x], cotangent=torch.ones_like(x))
    done = perform(SubmissionModule(module, Guard([])), request)
    assert isinstance(done, PullbackResult)
    return done.args[0]


def leave_gradients_off(x: torch.Tensor) -> torch.Tensor:
    y = x * x
    torch.set_grad_enabled(False)
    return y


def compute_without_gradients(x: torch.Tensor) -> torch.Tensor:
    torch.set_grad_enabled(False)
    return x * x


class TestGradients:
    """Code that switches gradients off for the whole process costs nothing but its own graph."""

    @pytest.fixture(autouse=True)
    def on_afterwards(self) -> Iterator[None]:
        yield
        torch.set_grad_enabled(True)

    @pytest.mark.parametrize(
        "function",
        [
            lambda x: (x * x)[:1],
            lambda x: (x * x).sum(),
            lambda x: (x * x)[None],
            lambda x: (x * x, x),
            lambda x: [],
            lambda x: 3.0,
        ],
        ids=["shorter", "single", "more axes", "two", "none", "number"],
    )
    def test_of_another_form_than_expected(self, function: Callable[..., Any]) -> None:
        """An answer that does not fit the cotangent has no gradient, also where torch would spread its numbers."""
        assert gradient_of(function, torch.ones(2, 2)) is None

    def test_switched_off_by_an_earlier_call(self) -> None:
        """An evaluation in the same test does not spoil the next question."""
        torch.set_grad_enabled(False)
        gradient = gradient_of(lambda x: x * x, torch.tensor([1.0, 2.0]))
        assert gradient is not None
        assert gradient.tolist() == [2.0, 4.0]

    def test_switched_off_at_the_end_of_the_call(self) -> None:
        """The graph is there, so its gradients can be had."""
        gradient = gradient_of(leave_gradients_off, torch.tensor([1.0, 2.0]))
        assert gradient is not None
        assert gradient.tolist() == [2.0, 4.0]

    def test_switched_off_before_it_computes(self) -> None:
        """There is no graph, so no gradient reaches the input; that is no error of the call."""
        assert gradient_of(compute_without_gradients, torch.tensor([1.0, 2.0])) is None
