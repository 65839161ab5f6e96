"""Says what is so in one call of a function: its sizes, numbers, masks and dtype.

The text of this file is also planted into submissions (conditional.py), so it uses nothing of softmark.
"""

import functools
import inspect
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch

Facts = dict[str, Any]
DocumentedShape = tuple[bool, list[str]]
"""True if there may be batch dimensions in front, and the names of the other axes."""

_LARGE = 50.0


class ObservedFunction:
    """A function, a method, or a class with its `forward`: its parameters, and the shapes in its docstring."""

    def __init__(self, scope: dict[str, Any], name: str) -> None:
        owner, _, method = name.partition(".")
        self.thing = scope[owner]
        self.of_class = inspect.isclass(self.thing)
        self.has_modes = self.of_class and issubclass(self.thing, torch.nn.Module)
        self.objects: dict[int, Any] = {}
        """The objects that were called, by identity. None of them ends, so no later object has the identity of one."""
        self.method = method or "forward"
        self.call = getattr(self.thing, self.method) if self.of_class else self.thing
        self.signature = inspect.signature(self.call)
        made = inspect.signature(self.thing.__init__).parameters if self.of_class else {}
        self.made = {name: p for name, p in made.items() if name != "self"}
        self.taken = {name: p for name, p in self.signature.parameters.items() if name != "self"}
        self.shapes = {**_shapes_of_all(scope), **dict(_shapes(inspect.getdoc(self.call) or ""))}

    def wrap(self, calling: Callable[..., Any], scope: dict[str, Any]) -> None:
        """Have `calling(original, instance, made, args, kwargs)` make every call."""
        original = self.call
        if not self.of_class:

            @functools.wraps(original)
            def function(*args: Any, **kwargs: Any) -> Any:
                return calling(original, None, {}, args, kwargs)

            scope[original.__name__] = function
            return
        begin, made = self.thing.__init__, {}

        @functools.wraps(begin)
        def construct(module: Any, *args: Any, **kwargs: Any) -> None:
            begin(module, *args, **kwargs)
            bound = inspect.signature(begin).bind(module, *args, **kwargs)
            bound.apply_defaults()
            made[id(module)] = dict(list(bound.arguments.items())[1:])

        @functools.wraps(original)
        def method(module: Any, *args: Any, **kwargs: Any) -> Any:
            return calling(functools.partial(original, module), module, made[id(module)], args, kwargs)

        self.thing.__init__ = construct
        setattr(self.thing, self.method, method)


def _shapes_of_all(scope: dict[str, Any]) -> dict[str, DocumentedShape]:
    """Return the shape of each argument as the docstring says it that is first in the file."""
    found: dict[str, DocumentedShape] = {}
    for thing in list(scope.values()):
        if inspect.isfunction(thing):
            found = {**dict(_shapes(inspect.getdoc(thing) or "")), **found}
    return found


def _shapes(doc: str) -> Iterator[tuple[str, DocumentedShape]]:
    """Yield each argument of a docstring with its shape: "X: (…, T, D)" has a batch in front, and the axes T and D."""
    doc = doc.partition("returns")[0]
    for names, batch, axes in re.findall(r"((?:\w+, )*\w+): \((…)?(?:, )?([^()]*)\)", doc):
        for name in names.split(", "):
            yield name, (bool(batch), [axis.strip() for axis in axes.split(",") if axis.strip()])


def facts_of(target: ObservedFunction, module: Any, made: dict[str, Any], args: tuple[Any, ...], kwargs: Any) -> Facts:
    """Return the facts of a call: `sizes` by name, `batch`, `given`, and a word for each thing that is so."""
    bound = target.signature.bind(*((module,) if target.of_class else ()), *args, **kwargs)
    bound.apply_defaults()
    target.objects[id(module)] = module
    passed = {name: value for name, value in bound.arguments.items() if name != "self"}
    numbers = {name: value for name, value in {**made, **passed}.items() if isinstance(value, int | float | str)}
    tensors = [tensor for value in passed.values() for tensor in tensors_in(value)]
    masks = [tensor for tensor in tensors if tensor.dtype is torch.bool and tensor.device.type == "cpu"]
    reals = [tensor for tensor in tensors if tensor.is_floating_point()]
    weights = weights_of(module)
    facts: Facts = {
        "test": torch.initial_seed(),
        "module": id(module),
        "numbers": numbers,
        "given": sorted(name for name, value in passed.items() if value is not None),
        "sizes": {},
        "batch": [],
        "dims": {},
        "train": bool(getattr(module, "training", False)),
        "float32": any(tensor.dtype is torch.float32 for tensor in reals or weights),
        "large": any(bool((np.abs(_array(tensor)) >= _LARGE).any()) for tensor in reals),
        "gradients": torch.is_grad_enabled() and any(tensor.requires_grad for tensor in [*reals, *weights]),
        "reals": len(reals),
        "weights": len(weights),
        "masks": len(masks),
        "blocked": any(not _array(mask).any(-1).all() for mask in masks if mask.dim()),
        "allowed": bool(masks) and all(_array(mask).all() for mask in masks),
        "of masks": _digest(masks),
        "tensors": len(tensors),
        "of values": [_digest(tensors), numbers],
        "of sizes": [[list(tensor.shape) for tensor in tensors], numbers],
    }
    for name, value in passed.items():
        if isinstance(value, torch.Tensor):
            _note_sizes(facts, target, name, value)
    facts["sizes"] |= {name: value for name, value in numbers.items() if type(value) is int}
    return facts


def _note_sizes(facts: Facts, target: ObservedFunction, name: str, tensor: torch.Tensor) -> None:
    batch, axes = target.shapes.get(name, (False, []))
    sizes = list(tensor.shape)
    if not (axes or batch) or tensor.dim() < len(axes):
        facts["dims"][name] = tensor.dim()
        axes = [f"{name}[{axis - len(sizes)}]" for axis in range(len(sizes))]
    if batch:
        facts["batch"].append(sizes[: len(sizes) - len(axes)])
    for axis, size in zip(reversed(axes), reversed(sizes), strict=False):
        if axis.isdigit():
            continue  # it has this size in every call
        symbol, unit = _symbol(axis, facts["numbers"])
        if unit and size % unit == 0:
            facts["sizes"].setdefault(symbol or f"{name}[{axis}]", size // unit)


def _symbol(axis: str, numbers: dict[str, Any]) -> tuple[str, int]:
    """Return what an axis is called, and how many times that it is: "4H" is four times H."""
    unit, symbols = 1, []
    for factor in re.split(r"\s*[·*]\s*", re.sub(r"^(\d+)([A-Za-z]\w*)$", r"\1·\2", axis)):
        if factor.isdigit():
            unit *= int(factor)
        elif isinstance(numbers.get(factor), int):
            unit *= numbers[factor]
        else:
            symbols.append(factor)
    return (symbols[0], unit) if len(symbols) == 1 else (axis, 1)


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from tensors_in(inner)


def _array(tensor: torch.Tensor) -> Any:
    """Return the numbers of a tensor; none of one that has no numbers here."""
    return tensor.detach().numpy() if tensor.device.type == "cpu" else np.empty(0)


def _digest(tensors: Sequence[torch.Tensor]) -> int:
    return zlib.crc32(b"".join(_array(tensor).tobytes() for tensor in tensors))


def weights_of(module: Any) -> list[torch.Tensor]:
    return list(module.parameters()) if isinstance(module, torch.nn.Module) else []
