"""Puts stand-ins in the place of a student's earlier functions and classes. Runs in the worker.

They serve to run a later part once more as if the parts before it were right. A stand-in sends the arguments of a call
to the trusted side, which answers with the reference, or refuses. The backward pass asks for gradients in the same way.
No code of the reference comes here. Whatever a student's code does with a stand-in, the trusted side decides which
questions it answers (grading/answering.py).

A student's code may hold an earlier function under any name: an alias in another file, the default of an argument, a
partial, an attribute of a class, a base class. All of these hold the same object. So the submission is loaded as it is,
and then the object itself changes: a function gets other code, a class of modules other methods. Some objects cannot
change (an object that can be called, a cached function). These are replaced wherever an object of the submission refers
to them. A name that is not defined becomes defined.
"""

from __future__ import annotations

import builtins
import gc
import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import CellType, FunctionType, ModuleType
from typing import Any

import torch
from torch import nn
from torch._C import DisableTorchFunction  # the original: forbidden.py may refuse it later
from torch.autograd.function import once_differentiable

from softmark.sandbox.wire.protocol import Answered, Ask, Object, StandIn
from softmark.sandbox.worker import gates
from softmark.sandbox.worker.devices import Device, map_tensors, tensors_in

_KEPT = ("__module__", "__doc__", "__qualname__", "__dict__", "__weakref__", "__firstlineno__", "__static_attributes__")
_Signature = Mapping[str, inspect.Parameter]


class StandIns:
    """Makes stand-ins, and asks the trusted side for them. `exchange` sends a question and returns the answer."""

    def __init__(self, exchange: Callable[[Ask], Answered]) -> None:
        self._exchange = exchange
        self._turn = threading.Lock()
        self.device = Device()
        """The device of the present call."""

    def put_into(self, module: ModuleType, wanted: Sequence[StandIn]) -> None:
        """Put stand-ins in the place of these functions and classes, under every name by which the submission has them.

        Objects that existed before the submission was loaded are frozen (`gc.freeze`). They belong to libraries, and
        stay as they are.
        """
        holders = gc.get_objects()
        for stand_in in wanted:
            own = vars(module).get(stand_in.name)
            asking = self._asking_class(stand_in, own) if stand_in.methods else self._asking_function(stand_in, own)
            if not any(own is holder for holder in holders):
                vars(module)[stand_in.name] = asking
            elif not _changed(own, asking):
                _exchange(own, asking, holders)

    def lent(self, name: str) -> Callable[..., Any]:
        """Return a function that asks the trusted side to call a function which the test has lent."""

        def asking(*args: Any, **kwargs: Any) -> Any:
            return self._value(name, args, kwargs)

        return asking

    def ask(self, question: Ask) -> Any:
        """Return the answer of the trusted side, or raise the exception that it names."""
        with self._turn:
            answer = self._exchange(question)
        if answer.raised:
            raise getattr(builtins, answer.raised)(_refused(question))
        return answer.value

    def _asking_function(self, wanted: StandIn, own: Any) -> Callable[..., Any]:
        """Return a function that asks. It takes the student's own names of arguments, and the handout's."""
        signature = _signature(own)

        def asking(*args: Any, **kwargs: Any) -> Any:
            return self._value(wanted.name, *_in_the_handouts_names(wanted, signature, args, kwargs))

        return asking

    def _asking_class(self, wanted: StandIn, own: Any) -> type:
        """Return a class of modules that asks for its parameters, and whose methods ask for their answers."""
        signature = _signature(own)

        def __init__(module: Any, *args: Any, **kwargs: Any) -> None:
            nn.Module.__init__(module)
            args, kwargs = _in_the_handouts_names(wanted, signature, args, kwargs)
            state = self.ask(Ask(wanted.name, list(args), kwargs))
            for path, tensor in state["parameters"].items():
                _set(module, path, nn.Parameter(tensor, requires_grad=tensor.is_floating_point()))
            for path, tensor in state["buffers"].items():
                _set(module, path, tensor)
            module._stands_for = list(args), kwargs, [*state["parameters"], *state["buffers"]]

        def method(name: str) -> Callable[..., Any]:
            def asking(module: Any, *args: Any, **kwargs: Any) -> Any:
                return self._value(wanted.name, args, kwargs, name, module)

            return asking

        return type(
            wanted.name, (nn.Module,), {"__init__": __init__, **{name: method(name) for name in wanted.methods}}
        )

    def _value(self, name: str, args: Sequence[Any], kwargs: dict[str, Any], method: str = "", of: Any = None) -> Any:
        """Return the reference's answer, connected to the inputs for the backward pass."""
        state = {path: _get(of, path) for path in of._stands_for[2]} if of is not None else {}
        inputs = [list(args), kwargs, state]
        made = (*of._stands_for[:2], of.training) if of is not None else None
        wanted = [tensor for tensor in tensors_in(inputs) if tensor.requires_grad] if torch.is_grad_enabled() else []
        with torch._C._DisableTorchDispatch(), DisableTorchFunction():
            question = _Question(self, name, method, inputs, made)
            value = question.value()
        torch.empty(0)  # so a stand-in counts as one operation
        leaves = tensors_in(value)
        if wanted and any(leaf.is_floating_point() for leaf in leaves):
            connected = iter(_Asking.apply(question, leaves, *wanted))  # type: ignore[no-untyped-call]
            return map_tensors(value, lambda _: next(connected))
        return value


class _Question:
    """A question for the value of one call, and later perhaps for the gradients of its inputs."""

    def __init__(self, stand_ins: StandIns, name: str, method: str, inputs: list[Any], made: Any) -> None:
        self._stand_ins, self._device = stand_ins, stand_ins.device
        there = [self._device.holds(tensor) for tensor in tensors_in(inputs)]
        of_size = [self._device.holds(tensor) for tensor in tensors_in(inputs) if tensor.dim()]
        if any(of_size) and not all(of_size):
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found two, {self._device.name} and cpu!"
            )
        self._there = any(there)
        args, kwargs, state = map_tensors(self._device.fetch(inputs), _snapshot)
        of = Object(made[0], made[1], state, made[2]) if made is not None else None
        self._ask = Ask(name, args, kwargs, method, of)

    def value(self) -> Any:
        """Return the answer, on the device of the inputs."""
        value = self._stand_ins.ask(self._ask)
        return self._device.send(value) if self._there else value

    def gradients(self, cotangents: Sequence[torch.Tensor | None]) -> Any:
        """Return the gradients of all inputs that want one, in their order."""
        ask = self._ask
        fetched = [None if c is None else _snapshot(self._device.fetch(c)) for c in cotangents]
        asked = Ask(ask.name, ask.args, ask.kwargs, ask.method, ask.of, fetched)
        gradients = self._stand_ins.ask(asked)
        return self._device.send(gradients) if self._there else gradients


def _refused(question: Ask) -> str:
    """Return the message of the exception that the trusted side names: the shapes of what it was asked with."""
    name = "the function that is given" if question.name.startswith("argument ") else question.name
    shapes = [str(tuple(tensor.shape)) for tensor in tensors_in([question.args, question.kwargs])]
    given = f" with tensors of the shapes {' and '.join(shapes)}" if shapes else ""
    return f"{name} cannot be called like this{given}"


def _snapshot(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone().requires_grad_(tensor.requires_grad)


class _Asking(torch.autograd.Function):
    """Connects the tensors of an answer to the inputs. The backward pass asks for the gradients of the inputs.

    A second derivative raises an error, because stand-ins cannot ask for one.
    """

    @staticmethod
    def forward(ctx: Any, question: _Question, leaves: list[torch.Tensor], *_inputs: torch.Tensor) -> Any:
        ctx.question = question
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*[leaf for leaf in leaves if not leaf.is_floating_point()])
        return tuple(leaves)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *cotangents: torch.Tensor | None) -> Any:
        with torch._C._DisableTorchDispatch(), DisableTorchFunction():
            return (None, None, *ctx.question.gradients(cotangents))


def _signature(own: Any) -> _Signature:
    """Return the parameters of a student's function or class; none if it has no readable signature."""
    try:
        return inspect.signature(own).parameters if callable(own) else {}
    except Exception:  # the object is the student's, and so is what it raises
        return {}


def _in_the_handouts_names(
    wanted: StandIn, own: _Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of a call by the handout's names. A student may have renamed one, or given it a default."""
    names = list(own)[: len(wanted.takes)]
    handouts = dict(zip(names, wanted.takes, strict=False))
    kwargs = {name if name in wanted.takes else handouts.get(name, name): value for name, value in kwargs.items()}
    for name in names[len(args) : wanted.needs]:
        if handouts[name] not in kwargs and own[name].default is not inspect.Parameter.empty:
            kwargs[handouts[name]] = own[name].default
    return args, kwargs


def _changed(own: Any, asking: Any) -> bool:
    """Give a student's function the code of `asking`, or a class of modules its methods; return whether that worked.

    Methods of nn.Module that the class overrides are removed. Its other attributes stay.
    """
    if type(own) is FunctionType and type(asking) is FunctionType:
        gates.replace_code(own, asking)
        return True
    if type(own) is not type or not issubclass(own, nn.Module) or type(asking) is FunctionType:
        return False
    try:
        own.__bases__ = (nn.Module,)
    except TypeError:  # its layout, or that of a class derived from it, does not fit
        return False
    for name in list(vars(own)):
        if hasattr(nn.Module, name) and name not in _KEPT:
            delattr(own, name)
    for name, function in vars(asking).items():
        if type(function) is FunctionType:
            setattr(own, name, function)
    return True


def _set(module: nn.Module, path: str, tensor: torch.Tensor) -> None:
    """Set a parameter or a buffer by its path; make the modules on the way."""
    *way, name = path.split(".")
    for step in way:
        if not hasattr(module, step):
            module.add_module(step, nn.Module())
        module = getattr(module, step)
    if isinstance(tensor, nn.Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _get(module: Any, path: str) -> torch.Tensor:
    for step in path.split("."):
        module = getattr(module, step)
    tensor: torch.Tensor = module
    return tensor


def _exchange(before: Any, after: Any, holders: Sequence[Any]) -> None:
    """Replace an object of the submission by another one, wherever one of `holders` refers to it."""
    for holder in holders:
        if type(holder) is dict:
            holder.update({key: after for key, value in list(holder.items()) if value is before})
        elif type(holder) is list:
            holder[:] = [after if value is before else value for value in holder]
        elif type(holder) is type:
            for key in [key for key, value in vars(holder).items() if value is before]:
                setattr(holder, key, after)
        elif type(holder) is FunctionType and holder.__defaults__:
            holder.__defaults__ = tuple(after if value is before else value for value in holder.__defaults__)
        elif type(holder) is partial:
            function, *args = (after if value is before else value for value in (holder.func, *holder.args))
            state = function, tuple(args), holder.keywords, vars(holder)
            holder.__setstate__(state)  # type: ignore[attr-defined]
        elif type(holder) is CellType and _content(holder) is before:
            holder.cell_contents = after
        else:  # an instance: Python makes its dictionary of attributes only when it is asked for
            attributes = _attributes(holder)
            attributes.update({key: after for key, value in list(attributes.items()) if value is before})


def _attributes(thing: Any) -> dict[str, Any]:
    try:
        found = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return {}
    return found if type(found) is dict else {}


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None
