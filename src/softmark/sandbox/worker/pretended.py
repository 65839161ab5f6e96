"""Pretends a second device to torch on a machine that has none. Runs in the worker.

A tensor on this device is an ordinary tensor of torch's "meta" device, which has shapes and no numbers. Its storage
refers to a second storage, in main memory, with the numbers. While the device is on, a mode below autograd gets every
operator, runs it on the numbers, and puts the result on the device. So no Python object has to keep a mark. A view
shares its storage, and nn.Parameter, Variable, as_subclass, detach, torch.jit.script, vmap and autograd handle a tensor
that torch itself considers to be elsewhere. Values can be read, so code whose shapes depend on them works.

An operator that gets tensors of both devices is refused in torch's words, unless CUDA allows it (mixed_devices.py).
Functions of torch that decide by the name of the meta device before any operator runs are corrected by a second mode
(`_Functions`). What cannot be pretended raises CannotFollow.

Three other designs do not work. A mark on the Python object is lost wherever C++ makes a new one. FakeTensorMode has no
numbers, and its tensors have a class of their own. A backend written in Python (privateuse1) makes autograd start a
thread, which fails once a first gradient was computed on the CPU, and it moves no parameter in place.

This uses private parts of torch, and is tested with the versions in TESTED.
"""

from __future__ import annotations

import copyreg
import functools
import pickle
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from softmark.sandbox.worker.mixed_devices import (
    HERE,
    THERE,
    Generator,
    device_of_result,
    mapped,
    require_generator,
    tensors_in,
)

TESTED = ("2.13",)
_NUMBERS, _COUNTERPART = "_softmark_numbers", "_softmark_counterpart"


class CannotFollow(Exception):
    """Raised if the pretended device cannot do what code asks of it. The code may be right."""


def put(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor on the device, with the same numbers in the same memory."""
    if tensor.device == THERE:
        return tensor
    if tensor.layout is not torch.strided:
        return _sparse(tensor, put)
    if tensor._is_zerotensor():  # forward-mode AD has zeros without any memory
        tensor = tensor.clone()
    numbers = tensor.untyped_storage()
    if hasattr(numbers, _COUNTERPART) or tensor.storage_offset() or tensor.is_conj() or tensor.is_neg():
        return _over(_counterpart(numbers), tensor)
    made = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype, device=THERE)
    _joined(made.untyped_storage(), numbers)
    return made


def fetch(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor in main memory, with the same numbers in the same memory."""
    if tensor.device != THERE:
        return tensor
    if tensor.layout is not torch.strided:
        return _sparse(tensor, fetch)
    storage = tensor.untyped_storage()
    numbers = getattr(storage, _NUMBERS, None)
    if numbers is None:
        if storage.nbytes():
            raise CannotFollow("a tensor was made where the pretended device is not seen: it has no numbers")
        numbers = _joined(storage, torch.empty(0, device=HERE).untyped_storage())
    return _over(numbers, tensor)


def _counterpart(numbers: torch.UntypedStorage) -> torch.UntypedStorage:
    """Return the storage on the device that has these numbers; all views of them share it."""
    known = getattr(numbers, _COUNTERPART, None)
    storage: torch.UntypedStorage | None = known() if known is not None else None
    if storage is None:
        storage = torch.empty(numbers.nbytes(), dtype=torch.uint8, device=THERE).untyped_storage()
        _joined(storage, numbers)
    elif storage.nbytes() < numbers.nbytes():
        storage.resize_(numbers.nbytes())
    return storage


def _joined(storage: torch.UntypedStorage, numbers: torch.UntypedStorage) -> torch.UntypedStorage:
    setattr(storage, _NUMBERS, numbers)
    setattr(numbers, _COUNTERPART, weakref.ref(storage))
    return numbers


def _over(storage: torch.UntypedStorage, like: torch.Tensor) -> torch.Tensor:
    """Return a tensor over this storage, with the shape, strides and offset of `like`."""
    made = torch.empty(0, dtype=like.dtype, device=storage.device)
    made.set_(storage, like.storage_offset(), like.size(), like.stride())
    if like.is_conj():
        torch._C._set_conj(made, True)
    if like.is_neg():
        torch._C._set_neg(made, True)
    return made


def _sparse(tensor: torch.Tensor, change: Callable[[torch.Tensor], torch.Tensor]) -> torch.Tensor:
    if tensor.layout is not torch.sparse_coo:
        raise CannotFollow("the pretended device has dense tensors and sparse ones in COO format only")
    return torch.ops.aten._sparse_coo_tensor_with_dims_and_tensors(  # type: ignore[no-any-return]
        tensor.sparse_dim(),
        tensor.dense_dim(),
        tensor.shape,
        indices := change(tensor._indices()),
        change(tensor._values()),
        layout=torch.sparse_coo,
        device=indices.device,
        is_coalesced=tensor.is_coalesced(),
    )


@contextmanager
def on(modules: Sequence[nn.Module] = ()) -> Iterator[None]:
    """Have the device inside this block, with these modules on it. Afterwards the modules are as they were before."""
    children = (child for module in modules for child in module.modules())
    inner = [child for child in children if not isinstance(child, torch.jit.ScriptModule)]
    own = ((module.__dict__, module._parameters, module._buffers, module._modules) for module in inner)
    before = [(entries, dict(entries)) for dictionaries in own for entries in dictionaries]
    operators = _Operators()  # type: ignore[no-untyped-call]
    functions = _Functions(operators)
    reducers = dict(copyreg.dispatch_table)
    copyreg.pickle(torch.Tensor, _reduced)
    try:
        compiled = _instead(torch.jit.ScriptModule, "_apply", _do_not_move)  # its tensors are held by C++
        with operators, functions, compiled, _instead(torch, "Generator", Generator):
            for module in modules:
                module.to(THERE)
            yield
    except Exception as error:
        if operators.refused is not None and error is not operators.refused and _hides(error, operators.refused):
            raise operators.refused from error
        raise
    finally:
        copyreg.dispatch_table.clear()
        copyreg.dispatch_table.update(reducers)
        if modules:
            for pair in reversed(functions.moved):
                torch._C._swap_tensor_impl(*pair)
            for entries, kept in before:
                entries.clear()
                entries.update(kept)


def _hides(error: BaseException | None, refused: RuntimeError) -> bool:
    """Return whether an exception was raised because of a refusal. TorchScript does not repeat the refusal's words."""
    if type(error) is RuntimeError and "TorchScript" in str(error):
        return True
    while error is not None and error is not refused:
        error = error.__cause__ or error.__context__
    return error is refused


@contextmanager
def _instead(owner: Any, name: str, value: Any) -> Iterator[None]:
    own, before = name in vars(owner), getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        if own:
            setattr(owner, name, before)
        else:
            delattr(owner, name)


def _do_not_move(module: nn.Module, *_: Any, **__: Any) -> None:
    raise CannotFollow("a module that torch.jit has compiled does not move to the pretended device")


def _reduced(tensor: torch.Tensor) -> Any:
    """Return a function and its arguments with which copy.copy and pickle rebuild the tensor."""
    if tensor.device == THERE:
        return put, (fetch(tensor),)
    return tensor.__reduce_ex__(pickle.DEFAULT_PROTOCOL)  # type: ignore[no-untyped-call]


class _Operators(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Runs operators on the numbers of tensors that are on the device."""

    generator: torch.Generator | None = None
    """The generator that the Python function was given. What arrives here is another object, which C++ made of it."""
    refused: RuntimeError | None = None
    """The last refusal. TorchScript does not repeat the words of a Python exception."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Return False: nothing is compiled here, and the default would import torch's compiler for a second."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        given = tensors_in((*args, *kwargs.values()))
        away = any(tensor.device == THERE for tensor in given)
        target = kwargs.get("device")
        if not (away or target == THERE or self.generator):
            return func(*args, **kwargs)
        if _is_made_of_others(func):  # such an operator arrives here only from below autograd
            with self:
                return func.decompose(*args, **kwargs)
        if func.is_view or func.overloadpacket is torch.ops.aten.set_:
            return func(*args, **kwargs)  # the result shares the storage, and so the numbers
        try:
            place = target or (device_of_result(func, args, kwargs, given) if away else HERE)
            require_generator(self.generator if kwargs.get("generator") is not None else None, place)
        except RuntimeError as error:
            self.refused = error
            raise
        if func is torch.ops.aten._fused_sdp_choice.default:
            return 0  # choice 0 is the formula; the others are kernels for one device only
        return _on_numbers(func, args, {**kwargs, "device": HERE} if target == THERE else kwargs, given, place)


@functools.cache
def _is_made_of_others(func: Any) -> bool:
    return torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd")


def _on_numbers(
    func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], given: list[torch.Tensor], place: torch.device
) -> Any:
    """Run an operator on the numbers of tensors, and return the result in its place."""
    inside = {id(tensor): (tensor, fetch(tensor)) for tensor in given}
    originals = {id(one): tensor for tensor, one in inside.values()}
    args, named = mapped((args, tuple(kwargs.values())), lambda tensor: inside[id(tensor)][1])
    value = func(*args, **dict(zip(kwargs, named, strict=True)))
    if func._schema.is_mutable:
        for tensor, one in inside.values():
            _take_shape(tensor, one)
    if func is torch.ops.aten._pack_padded_sequence.default:
        return put(value[0]), value[1]  # torch keeps the number of sequences at each step on the CPU
    if place != THERE:
        return mapped(value, lambda one: originals.get(id(one), one))
    return mapped(value, lambda one: originals[id(one)] if id(one) in originals else put(one))


def _take_shape(tensor: torch.Tensor, numbers: torch.Tensor) -> None:
    """Give a tensor the shape that an operator has given to its numbers (`squeeze_`, `resize_`, `out=`)."""
    if tensor is numbers or tensor.layout is not torch.strided:
        return
    storage = _counterpart(numbers.untyped_storage())
    if tensor.untyped_storage() is not storage or _geometry(tensor) != _geometry(numbers):
        tensor.set_(storage, *_geometry(numbers))


def _geometry(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tensor.storage_offset(), tensor.size(), tensor.stride()


class _Functions(TorchFunctionMode):
    """Corrects what torch decides by the name of the meta device before any operator runs."""

    def __init__(self, operators: _Operators) -> None:
        super().__init__()
        self._operators = operators
        self.moved: list[tuple[torch.Tensor, torch.Tensor]] = []
        """Tensors that were moved in place, each with the tensor that it was swapped with."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func in _OURS:
            return _OURS[func](func, *args, **kwargs)
        if func == _SET_DATA and args[0].device != args[1].device:
            return self._replace(*args)
        self._operators.generator = kwargs.get("generator")
        return func(*args, **kwargs)

    def _replace(self, tensor: torch.Tensor, value: torch.Tensor) -> None:
        """Set `tensor.data` to a tensor of the other device; every reference to the tensor sees it moved."""
        if not tensor.is_leaf or nn.parameter.is_lazy(tensor):
            raise CannotFollow("a tensor that was computed, or has no shape yet, cannot be moved by its .data")
        moved = value.detach().requires_grad_(tensor.requires_grad)
        if tensor.grad is not None:
            moved.grad = tensor.grad.to(value.device)
        try:
            torch._C._swap_tensor_impl(tensor, moved)
        except RuntimeError as error:
            raise CannotFollow(f"a tensor that torch cannot replace: {error}") from error
        self.moved.append((tensor, moved))


def _from_data(func: Any, *args: Any, **kwargs: Any) -> Any:
    """Make a tensor of lists, numbers or arrays in main memory, and then move it."""
    like = args[0] if func is torch.Tensor.new_tensor else None
    rest = args if like is None else args[1:]
    data = rest[0] if rest else kwargs.get("data", kwargs.get("obj"))
    if isinstance(data, torch.Tensor):
        return func(*args, **kwargs)
    given = {name: value for name, value in kwargs.items() if name not in ("data", "obj", "device", "requires_grad")}
    if like is not None:
        given["dtype"] = given.get("dtype") or like.dtype
    device = kwargs.get("device") or (torch.get_default_device() if like is None else like.device)
    away = torch.device(device) == THERE
    make = torch.tensor if like is not None else func
    made = make(mapped(data, fetch), device=HERE if away else device, **given)
    made = made.to(THERE) if away else made
    return made.requires_grad_() if kwargs.get("requires_grad") else made


def _index(given: Any) -> Any:
    """Return an index with its lists of numbers as tensors in main memory."""
    if type(given) is tuple:
        return tuple(_index(item) for item in given)
    if type(given) is not list or any(type(item) not in (bool, int) for item in given):
        return given
    return torch.tensor(given, dtype=None if given else torch.long, device=HERE)


def _with_lengths(func: Any, scores: torch.Tensor, *given: Any, **named: Any) -> Any:
    """Call a function that takes lengths of any device, with the lengths on the device of the scores."""
    return func(scores, *mapped(given, lambda lengths: lengths.to(scores.device)), **named)


def _on_cpu_only(func: Any, tensor: torch.Tensor, *args: Any) -> Any:
    if tensor.device == THERE:
        raise TypeError(f"{func.__name__} is only implemented on CPU tensors")
    return func(tensor, *args)


_SET_DATA = torch.Tensor.data.__set__  # type: ignore[attr-defined]
_OURS: dict[Any, Callable[..., Any]] = {
    **dict.fromkeys((torch.tensor, torch.as_tensor, torch.asarray, torch.Tensor.new_tensor), _from_data),
    torch.Tensor.__getitem__: lambda func, tensor, index: func(tensor, _index(index)),
    torch.Tensor.__setitem__: lambda func, tensor, index, value: func(tensor, _index(index), value),
    **dict.fromkeys((torch.Tensor.apply_, torch.Tensor.map_), _on_cpu_only),
    **dict.fromkeys((torch.ctc_loss, nn.functional.ctc_loss), _with_lengths),
    torch._has_compatible_shallow_copy_type: lambda func, one, by: func(one, by) or one.device != by.device,
    torch.Tensor.is_meta.__get__: lambda func, tensor, *_: False,  # type: ignore[attr-defined]
    torch.Tensor.__format__: lambda func, tensor, *how: format(fetch(tensor), *how),
}
"""Functions that torch answers by the name of the meta device, or without numbers, before any operator runs."""
