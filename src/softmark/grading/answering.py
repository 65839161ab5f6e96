"""Answers the questions of stand-ins for earlier parts with the reference, while a later part is judged.

A student's process may ask anything, so each question is bounded before it is answered:

* It may name only functions for which the worker has stand-ins.
* The reference makes the same call here, and the uses of its functions of these names are counted. All questions of the
  call together may have four times these calls and bytes. Gradients are answered only if the reference needed some, or
  if the test itself wants gradients. Otherwise, a later part that must derive something by hand could ask for it here.
* Numbers that may be sizes (integers, lengths of axes) may be four times the largest in the reference's call. So no
  question takes much more memory or time than the reference's own.

An answer is what a right earlier part would give, so it can help only if the reference, too, builds on that part. A
question beyond these bounds is the submission's failure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import Parameter, signature
from types import FunctionType, ModuleType
from typing import Any

import torch
from msgspec import structs
from torch import nn
from torch.nn.utils.stateless import _reparametrize_module

from softmark.grading.answer_memory import MEMORY, OF_A_USE, KnownAnswer, Use, digest
from softmark.records.verdict import Category
from softmark.sandbox import failure_texts, wire
from softmark.sandbox.failures import StudentFailure
from softmark.sandbox.wire import Handle
from softmark.sandbox.wire.protocol import Answered, Ask, Call, StandIn, ask_value
from softmark.sandbox.worker.calls import perform
from softmark.sandbox.worker.devices import tensors_in
from softmark.sandbox.worker.forbidden import Guard
from softmark.sandbox.worker.loading import SubmissionModule
from softmark.sandbox.worker.stand_ins import StandIns
from softmark.verdict.callee import Lent
from softmark.verdict.plant import planted
from softmark.verdict.values import map_tensors, plural, size_of

_TIMES = 4
"""A call may ask for this many times the use that the reference makes of its own functions."""
_EXCEPTIONS = (ValueError, TypeError, IndexError, KeyError, NotImplementedError, AssertionError, ArithmeticError)


class Answering:
    """The reference's answers to one worker with stand-ins for some of its names."""

    def __init__(self, reference: ModuleType, names: Sequence[str]) -> None:
        self._targets: dict[str, Any] = {n: t for n in names if _may_ask(t := getattr(reference, n, None))}
        self._counted = [(target, _counted(target, lambda: self._needed)) for target in self._targets.values()]
        self._mirror = SubmissionModule(reference, Guard(()))
        self._needed, self._allowed, self._used = Use(), Use(), Use()
        self.asked: set[str] = set()
        """The names of functions that were asked since `begin`."""

    @property
    def stand_ins(self) -> tuple[StandIn, ...]:
        """The descriptions of the stand-ins that the worker needs."""
        return tuple(_stand_in(name, target) for name, target in self._targets.items())

    def begin(self) -> None:
        """Begin a test: forget the questions and the objects of the last one."""
        self.asked = set()
        self._mirror.forget_handles()

    def expect(self, call: Call, lent: Mapping[str, Lent], frame: bytes) -> None:
        """Have the reference make a call of the test, to know how much the student's code may ask in it.

        The result is kept for the same call to later submissions. `frame` is the packed call.
        """
        self._used = Use()
        key = self._key(call, lent, frame)
        allowed = MEMORY.find(key)
        if not isinstance(allowed, Use):
            allowed = self._measured(call, lent)
            MEMORY.keep(key, allowed, OF_A_USE)
        self._allowed = allowed

    def _key(self, call: Call, lent: Mapping[str, Lent], frame: bytes) -> tuple[Any, ...] | None:
        """Return a key of all that a call's use depends on; None for a call that gets, makes or changes an object."""
        target = vars(self._mirror.module).get(call.target) if isinstance(call.target, str) else None
        of_objects = any(type(value) is Handle for value in (*call.args, *call.kwargs.values()))
        if lent or of_objects or type(target) is not FunctionType or call.method is not None:
            return None
        return target, *self._targets.items(), digest(frame)

    def _measured(self, call: Call, lent: Mapping[str, Lent]) -> Use:
        """Return the use of earlier functions that is allowed in a call."""
        self._mirror.stand_ins = _AtHand(lent)
        self._needed = Use()
        self._needed.note(call.args, call.kwargs)
        inputs = self._needed.bytes
        plainly = structs.replace(call, how="plain") if call.how in ("count_ops", "on_meta") else call
        with planted(self._counted), _seeded(call.id):
            try:
                perform(self._mirror, plainly)
            except Exception:  # a test may expect an exception; the uses until then are allowed
                self._needed.calls += 1
        needed, calls = self._needed, max(self._needed.calls, 1)
        gradients = calls if call.how == "vjp" else needed.gradients
        most = max(needed.bytes, 2 * inputs)
        return Use(_TIMES * calls, _TIMES * gradients, _TIMES * most, _TIMES * needed.largest)

    def answer(self, ask: Ask, number: int) -> Answered:
        """Return the answer to a question. Raise StudentFailure if it may not be asked."""
        target = self._targets.get(ask.name)
        if target is None:
            raise failure_texts.malformed("it asks for a function that has no stand-in")
        used = self._used
        calls = used.calls + (ask.cotangents is None)
        key = target, number, calls, digest(wire.pack(ask_value(number, ask)))
        known = MEMORY.find(key)
        question = known.question if isinstance(known, KnownAnswer) else Use.of(ask)
        used.add(question)
        self._require_bounds()
        self.asked.add(ask.name)
        if not isinstance(known, KnownAnswer):
            answered = _answered(target, ask, number, number + calls)
            known = KnownAnswer(question, answered, size_of(answered.value))
            MEMORY.keep(key, known, OF_A_USE + known.size)
        used.bytes += known.size
        self._require_bounds()
        return known.answered

    def _require_bounds(self) -> None:
        if not self._allowed.allows(self._used):
            raise failure_texts.malformed("it asks for more of earlier parts than the reference needs")


class Lending:
    """The functions that a test has lent for one call."""

    def __init__(self, lent: Mapping[str, Lent]) -> None:
        self._lent, self._calls = lent, Counter[str]()

    def __contains__(self, name: str) -> bool:
        return name in self._lent

    def answer(self, ask: Ask, number: int) -> Answered:
        """Return the answer of a lent function. Raise StudentFailure if it was called too often."""
        self._calls[ask.name] += ask.cotangents is None
        lent, calls = self._lent[ask.name], self._calls[ask.name]
        if calls > lent.calls:
            enough = f"{plural(lent.calls, 'call')} must be enough"
            raise StudentFailure(Category.ERROR, f"calls {_name_in_words(lent.function)} too often: {enough}")
        return _answered(lent.function, ask, number, number + calls)


def _name_in_words(function: Callable[..., Any]) -> str:
    """Return what a sentence calls a function that a test lends."""
    name = getattr(function, "__name__", "")
    return f"`{name}`" if name.isidentifier() else "the function that it is given"


class _AtHand(StandIns):
    """Gives the reference the functions that a test has lent, instead of functions that ask for them."""

    def __init__(self, lent: Mapping[str, Lent]) -> None:
        self._lent = lent

    def lent(self, name: str) -> Callable[..., Any]:
        return self._lent[name]


def _answered(target: Any, ask: Ask, number: int, seed: int) -> Answered:
    """Return the answer of a function or class, or the name of the exception that it raises."""
    with _seeded(seed):
        try:
            value = _value(target, ask)
            wire.pack(value)
        except Exception as error:  # the arguments may be wrong for the function
            return Answered(raised=_name_of(error), id=number)
    return Answered(value, id=number)


def _may_ask(target: Any) -> bool:
    """Return whether a stand-in is possible: for a function, or for a class of modules."""
    return type(target) is FunctionType or (isinstance(target, type) and issubclass(target, nn.Module))


def _stand_in(name: str, target: Any) -> StandIn:
    """Return the description of a stand-in."""
    positional = [p for p in signature(target).parameters.values() if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    needs = sum(p.default is Parameter.empty for p in positional)
    methods = tuple(_methods(target)) if isinstance(target, type) else ()
    return StandIn(name, tuple(p.name for p in positional), needs, methods)


def _methods(cls: type) -> list[str]:
    """Return the public methods that a class of the reference defines."""
    return [name for name, value in vars(cls).items() if type(value) is FunctionType and not name.startswith("_")]


def _counted(target: Any, use: Callable[[], Use]) -> Any:
    """Return a function or class of the reference that adds its uses to the Use that `use` returns at that time."""

    def counted(function: Callable[..., Any], state: Callable[[Any], Any] = lambda args: None) -> Callable[..., Any]:
        def counting(*args: Any, **kwargs: Any) -> Any:
            use().calls += 1
            use().note(list(args), kwargs, state(args))
            value = function(*args, **kwargs)
            use().note(value, state(args))
            for leaf in tensors_in(value):
                if leaf.grad_fn is not None:
                    leaf.register_hook(add_gradient)  # type: ignore[no-untyped-call]
            return value

        return counting

    def add_gradient(gradient: torch.Tensor) -> None:
        use().gradients += 1

    if not isinstance(target, type):
        return counted(target)
    methods = {name: counted(vars(target)[name], _state_of_first) for name in _methods(target)}
    return type(target.__name__, (target,), {"__init__": counted(vars(target)["__init__"], _state_of_first), **methods})


def _state_of_first(args: Sequence[Any]) -> Any:
    """Return the parameters and buffers of a method's object; None before it is made."""
    return dict(args[0].state_dict()) if "_parameters" in vars(args[0]) else None


def _value(target: Any, ask: Ask) -> Any:
    """Return the reference's answer to a question: a value, gradients, or the state of a new object."""
    inputs = [ask.args, ask.kwargs, ask.of.state if ask.of is not None else {}]
    if isinstance(target, type) and not ask.method:
        return _new(target, ask.args, ask.kwargs)
    with torch.set_grad_enabled(ask.cotangents is not None):
        value = _called(target, ask)
        if ask.cotangents is None:
            return map_tensors(value, torch.Tensor.detach)
        wanted = [tensor for tensor in tensors_in(inputs) if tensor.requires_grad]
        pairs = [
            (leaf, cotangent)
            for leaf, cotangent in zip(tensors_in(value), ask.cotangents, strict=True)
            if cotangent is not None and leaf.requires_grad
        ]
        if not wanted or not pairs:
            return [torch.zeros_like(tensor) for tensor in wanted]
        leaves, cotangents = zip(*pairs, strict=True)
        found = torch.autograd.grad(leaves, wanted, cotangents, allow_unused=True)
        return [torch.zeros_like(w) if g is None else g for g, w in zip(found, wanted, strict=True)]


def _called(target: Any, ask: Ask) -> Any:
    """Return the value of a function, or of a method of an object with the state in the question."""
    if ask.of is None or not isinstance(target, type):
        return target(*map_tensors(ask.args, _own), **map_tensors(ask.kwargs, _own))
    module = target(*ask.of.args, **ask.of.kwargs).train(ask.of.training)
    known = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    if ask.method not in _methods(target) or {k: v.shape for k, v in known.items()} != {
        k: v.shape for k, v in ask.of.state.items()
    }:
        raise TypeError("not an object of this class")
    with _reparametrize_module(module, ask.of.state):
        return getattr(module, ask.method)(*map_tensors(ask.args, _own), **map_tensors(ask.kwargs, _own))


def _own(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor that may be changed in place; a leaf of autograd is copied."""
    return tensor.clone() if tensor.requires_grad else tensor


def _new(cls: type, args: list[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters and buffers of a new object."""
    module = cls(*args, **kwargs)
    return {
        "parameters": {name: tensor.detach() for name, tensor in module.named_parameters()},
        "buffers": dict(module.named_buffers()),
    }


def _name_of(error: Exception) -> str:
    """Return the name of the built-in exception that the student's code gets."""
    return next((known.__name__ for known in _EXCEPTIONS if isinstance(error, known)), "RuntimeError")


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed the reference's random numbers inside this block, and restore those of the test afterwards."""
    numbers = torch.default_generator  # torch.manual_seed would look for every kind of device, which takes 1 ms
    state = numbers.get_state()
    try:
        with torch.enable_grad():
            numbers.manual_seed(seed % 2**63)
            yield
    finally:
        numbers.set_state(state)
