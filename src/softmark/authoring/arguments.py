"""Notes in what form a function gets its arguments: shapes, dtypes and ranges, not the numbers.

The text of this file is also planted into submissions (sameness.py), so it uses nothing else of softmark.
"""

import json
from typing import Any

import torch

from softmark.authoring.conditions import noting
from softmark.authoring.facts import Facts, ObservedFunction, tensors_in, weights_of


def record_arguments(scope: dict[str, Any], name: str) -> None:
    """Print the form of each call of a function or class, each form once."""
    target = ObservedFunction(scope, name)
    note, seen = noting(), set()

    def calling(original: Any, module: Any, made: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        form = form_of(module, made, args, kwargs)
        text = json.dumps(form)
        if text not in seen and all(tensor.device.type == "cpu" for tensor in tensors_in([*args, kwargs])):
            seen.add(text)
            note(form)
        return original(*args, **kwargs)

    target.wrap(calling, scope)


def form_of(module: Any, made: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Facts:
    """Return the form of a call as plain data."""
    weights, seen = weights_of(module), list[torch.Tensor]()
    return {
        "made": _form([], made),
        "train": bool(getattr(module, "training", False)),
        "weights": str(weights[0].dtype) if weights else "",
        "args": [_form(seen, value) for value in args],
        "kwargs": {name: _form(seen, value) for name, value in kwargs.items()},
    }


def _form(seen: list[torch.Tensor], value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        for place, other in enumerate(seen):
            if other is value:
                return {"same": place}
        seen.append(value)
        return _form_of_tensor(value)
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {str(key): _form(seen, inner) for key, inner in value.items()}}
    if isinstance(value, dict):
        return {"entries": [[_form(seen, key), _form(seen, inner)] for key, inner in value.items()]}
    if isinstance(value, bytes):
        return {"bytes": value.decode("latin-1")}
    if isinstance(value, list | tuple):
        return {type(value).__name__: [_form(seen, inner) for inner in value]}
    if callable(value):
        return {"function": "tanh"}  # the test keeps its own one, which may stand for any elementwise function
    return {"plain": value if value is None or isinstance(value, bool | int | float | str) else repr(value)}


def _form_of_tensor(tensor: torch.Tensor) -> Facts:
    form: Facts = {"shape": list(tensor.shape), "dtype": str(tensor.dtype)}
    numbers = tensor.detach()
    if tensor.dtype is torch.bool:
        form["blocked"] = bool(tensor.dim()) and not bool(numbers.any(-1).all())
    elif tensor.is_floating_point():
        form["scale"] = float(f"{float(numbers.abs().max()) if numbers.numel() else 0.0:.0e}")
    elif numbers.numel():
        form["range"] = [int(numbers.min()), int(numbers.max())]
    return form
