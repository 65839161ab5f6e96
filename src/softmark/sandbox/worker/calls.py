"""The ways in which a hidden test may use the student's functions and objects. Runs in the worker.

plain      the value
vjp        the value, and the gradient of <cotangent, value> for every input and every parameter
count_ops  how many torch operations the call dispatched, by name
weights    the state_dict or the parameters of a module object, by name; with weights given, they are loaded first and
           the module takes their dtype
mode       train() or eval() on a module object
on_meta    the call on tensors of another device than the CPU, pretended if there is no other (pretended.py). So a
           tensor that was made on a fixed device shows even without a GPU

All but weights and mode also tell which inputs the call changed in place (changed_inputs.py). If submissions run on
another device than the CPU (devices.py), all but on_meta do the same there.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from softmark.sandbox.wire import CAPS, Handle, Meta, Unsupported
from softmark.sandbox.wire.protocol import RESULTS, Call, CallResult
from softmark.sandbox.wire.repeats import parts_of
from softmark.sandbox.worker.changed_inputs import changed, copied
from softmark.sandbox.worker.devices import CPU, Device, Pretended, map_tensors, once_each, tensors_in
from softmark.sandbox.worker.loading import SubmissionModule
from softmark.sandbox.worker.warned import at_the_students_line

_COMPUTES = ("plain", "vjp", "count_ops")  # uses whose value must be on the device of the inputs


class Missing(Exception):
    """Raised if the test asks for something that the submission does not define."""


class SignatureMismatch(TypeError):
    """Raised if the student's function does not take the arguments that the handout names."""


def perform(submission: SubmissionModule, call: Call, device: Device | None = None) -> CallResult:
    """Carry out one call, on the CPU if no other device is given."""
    device = device or Device()
    _run_stand_ins_on(device, submission)
    function, owner = _find(submission, call.target, call.method)
    given = device.send((call.args, call.kwargs))
    args = tuple(_unwrap(submission, value) for value in given[0])
    kwargs = {name: _unwrap(submission, value) for name, value in given[1].items()}
    args, kwargs = _with_lent(submission, call, args, kwargs)
    guarded = submission.guard.watching(_root_name(submission, call.target))
    with device.running():
        before = copied(given)
        with at_the_students_line(), guarded:
            try:
                done = _made(submission, call, device, (function, owner), args, kwargs)
            except TypeError:
                if call.how not in ("weights", "mode"):
                    _require_fit(function, args, kwargs)
                raise
        if inspect.isclass(function) and _is_made_by(function, done["value"]):
            if isinstance(done["value"], nn.Module):
                device.settle(done["value"])
            done["value"] = submission.keep(done["value"], call.id)
        else:
            done["value"] = _in_plain_containers(done["value"])
            if device.name != CPU and call.how in _COMPUTES and (owner is not None or tensors_in(given)):
                device.require(done["value"])
        if call.how in ("plain", "count_ops"):
            done["changed"] = changed(before, given)
    return RESULTS[call.how](**device.fetch(done))


def _made(
    submission: SubmissionModule,
    call: Call,
    device: Device,
    found: tuple[Callable[..., Any], Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> dict[str, Any]:
    """Make the call in the way that it asks for, and return the fields of its result."""
    function, owner = found
    match call.how:
        case "plain":
            return {"value": function(*args, **kwargs)}
        case "vjp":
            return _vjp(function, owner, args, kwargs, device.send(call.cotangent))
        case "count_ops":
            return _count_ops(function, args, kwargs)
        case "on_meta":
            return _elsewhere(function, owner, args, kwargs, device, submission)
        case "weights":
            return _weights(_module(owner), *args)
        case "mode":
            _module(owner).train(args[0])
            return {"value": None}


def _with_lent(
    submission: SubmissionModule, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments; in the place of each function that the test has lent is one that asks the trusted side."""
    if not call.lent or submission.stand_ins is None:
        return args, kwargs
    asking = {name: submission.stand_ins.lent(name) for name in call.lent}
    return (
        tuple(asking.get(f"argument {position + 1}", value) for position, value in enumerate(args)),
        {name: asking.get(f"argument {name}", value) for name, value in kwargs.items()},
    )


def _run_stand_ins_on(device: Device, submission: SubmissionModule) -> None:
    if submission.stand_ins is not None:
        submission.stand_ins.device = device


def _find(submission: SubmissionModule, target: Any, method: str | None) -> tuple[Callable[..., Any], Any]:
    """Return the callable, and the module object whose parameters its gradients may reach (or None)."""
    if isinstance(target, Handle):
        thing = submission.held(target)
    elif hasattr(submission.module, target):
        thing = getattr(submission.module, target)
    else:
        raise Missing(target)
    owner = thing if isinstance(thing, nn.Module) else None
    if method is not None:
        if not hasattr(thing, method):
            raise Missing(method)
        thing = getattr(thing, method)
    return thing, owner


def _is_made_by(cls: type, value: Any) -> bool:
    """Return whether a call of a class has made an object. With `__new__` or a metaclass it may be a function."""
    return cls in type(value).__mro__ or isinstance(value, nn.Module)


def _root_name(submission: SubmissionModule, target: Any) -> str:
    return target if type(target) is str else type(submission.held(target)).__name__


def _unwrap(submission: SubmissionModule, value: Any) -> Any:
    return submission.held(value) if type(value) is Handle else value


def _require_fit(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise SignatureMismatch if the arguments do not fit the function's signature.

    It is called only when a call has failed, because a signature may be misleading, for instance that of a decorator.
    """
    target = function.forward if isinstance(function, nn.Module) else function
    try:
        signature = inspect.signature(target)
    except (TypeError, ValueError):
        return  # a callable without a readable signature: the exception of the call is all there is
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        raise SignatureMismatch(f"it is defined as {signature}: {error}") from None


def _vjp(
    function: Callable[..., Any],
    owner: nn.Module | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    cotangent: Any,
) -> dict[str, Any]:
    leaf, clone = once_each(_leaf), once_each(torch.Tensor.clone)
    args, kwargs = map_tensors((args, kwargs), leaf)
    parameters = dict(owner.named_parameters()) if owner is not None else {}
    torch.set_grad_enabled(True)  # an earlier call of the same test may have switched gradients off
    # The function gets copies, because autograd does not let it change a leaf in place.
    before = copied((args, kwargs))
    given = map_tensors((args, kwargs), clone)
    value = function(*given[0], **given[1])
    spoilt = changed(before, given)
    leaves = parts_of(args)
    wanted = [*leaves, *kwargs.values(), *parameters.values()]
    torch.set_grad_enabled(True)  # this call may have switched them off, too
    gradients = _gradients(value, cotangent, wanted)
    split = len(leaves), len(leaves) + len(kwargs)
    return {
        "value": value,
        "changed": spoilt,
        "args": gradients[: split[0]],
        "kwargs": dict(zip(kwargs, gradients[split[0] : split[1]], strict=True)),
        "parameters": dict(zip(parameters, gradients[split[1] :], strict=True)),
    }


def _leaf(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.is_floating_point() or tensor.is_complex():
        return tensor.detach().requires_grad_(True)
    return tensor


def _gradients(value: Any, cotangent: Any, wanted: list[Any]) -> list[Any]:
    """Return the gradients; None for what is no tensor or not reached, or if the value does not fit the cotangent."""
    gradients: list[Any] = [None] * len(wanted)
    outputs, cotangents = parts_of(value), parts_of(cotangent)
    if len(outputs) != len(cotangents):
        return gradients
    pairs = []
    for out, cot in zip(outputs, cotangents, strict=True):
        if isinstance(out, torch.Tensor) and isinstance(cot, torch.Tensor) and out.requires_grad:
            if out.shape != cot.shape:
                return gradients
            pairs.append((out, cot.to(out)))
    places = [i for i, thing in enumerate(wanted) if isinstance(thing, torch.Tensor) and thing.requires_grad]
    if pairs and places:
        # The gradient of <cotangent, value>, one number. Cotangents as arguments of their own would make autograd
        # import sympy (0.2 s).
        first, *others = [(out * cot).sum() for out, cot in pairs]
        found = torch.autograd.grad(sum(others, first), [wanted[i] for i in places], allow_unused=True)
        for position, gradient in zip(places, found, strict=True):
            gradients[position] = gradient
    return gradients


def _module(owner: nn.Module | None) -> nn.Module:
    if owner is None:
        raise TypeError("it is not an nn.Module: derive the class from nn.Module and call super().__init__()")
    return owner


def _weights(module: nn.Module, which: str, given: dict[str, torch.Tensor] | None = None) -> dict[str, Any]:
    if given is not None:
        module.to(dtype=next((tensor.dtype for tensor in given.values() if tensor.is_floating_point()), None))
        module.load_state_dict({**module.state_dict(), **given})
    found = module.named_parameters() if which == "parameters" else module.state_dict().items()
    return {"value": {name: tensor.detach() for name, tensor in found}}


class _Counter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False: nothing is compiled here, and the default would import torch's compiler for a second."""
        return False

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.counts: Counter[str] = Counter()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.counts[str(func)] += 1
        return func(*args, **(kwargs or {}))


def _count_ops(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    with _Counter() as counter:
        value = function(*args, **kwargs)
    return {"value": value, "ops": dict(counter.counts)}


def _elsewhere(
    function: Callable[..., Any],
    owner: nn.Module | None,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    device: Device,
    submission: SubmissionModule,
) -> dict[str, Any]:
    """Make the call on the device of the submission, or on the pretended device if that is the CPU."""
    elsewhere = Pretended() if device.name == CPU else device
    _run_stand_ins_on(elsewhere, submission)
    modules = [thing for thing in (owner, *args, *kwargs.values()) if isinstance(thing, nn.Module)]
    before = copied(elsewhere.fetch((args, kwargs)))
    args, kwargs = elsewhere.send((args, kwargs))
    with elsewhere.running(modules):
        value = _in_plain_containers(function(*args, **kwargs))
    spoilt = changed(before, elsewhere.fetch((args, kwargs)))
    described = map_tensors(value, lambda tensor: _describe(tensor) if elsewhere.holds(tensor) else tensor)
    return {"value": described, "changed": spoilt}


def _in_plain_containers(value: Any, depth: int = CAPS.depth) -> Any:
    """Return a value with named tuples and the like as the tuples, lists and dictionaries that they are.

    Only what the base type holds is taken, whatever a class of the student's says of itself.
    """
    cls = type(value)
    if not issubclass(cls, (tuple, list, dict)):
        return value
    if not depth:  # a list may hold itself
        raise Unsupported(f"a value nested too deeply (over {CAPS.depth} levels) cannot be sent")
    if issubclass(cls, dict):
        return {key: _in_plain_containers(item, depth - 1) for key, item in dict.items(value)}
    items = tuple.__iter__(value) if issubclass(cls, tuple) else list.__iter__(value)
    plain = [_in_plain_containers(item, depth - 1) for item in items]
    return tuple(plain) if issubclass(cls, tuple) else plain


def _describe(tensor: torch.Tensor) -> Meta:
    return Meta(str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape))
