"""Checks how a function behaves as a callee: it leaves its inputs, keeps the dtype, works on any device, raises errors.

Some tests check no values, but names of parameters or the number of operations. They use `uses_inputs` and
`uses_weights` to require an output that changes with its inputs. So a mistake elsewhere does not fail the test, and a
constant of the right shape earns nothing.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import torch

from softmark.records.verdict import Category, Code, Failed, Verdict
from softmark.verdict.answered import chosen_output, fail, record
from softmark.verdict.callee import StudentCallable, StudentModule, ask, named
from softmark.verdict.context import current_test
from softmark.verdict.draw import draw
from softmark.verdict.expected import numeric_leaves
from softmark.verdict.values import dtype_name, flatten, kind, map_tensors, place, shape, tensors_in


def leaves_inputs(got: StudentCallable, *args: Any, **kwargs: Any) -> None:
    """Raise `Failed` if the call modifies an input."""
    changed = got.call(args, kwargs).changed
    if changed:
        fail(
            got, Category.INPUT_CHANGED, named(got, f"changes its input in place: {', '.join(changed)}; make a new one")
        )
    record(got, False)


def keeps_dtype(
    got: StudentCallable,
    *args: Any,
    dtypes: Sequence[torch.dtype] = (torch.float64, torch.float32),
    **kwargs: Any,
) -> None:
    """Raise `Failed` unless inputs of each of the dtypes give an output of the same dtype.

    Of several outputs, all tensors of real numbers must have it. float64 comes first, because code that keeps a table
    from its first call then answers float32 with float64.
    """
    for dtype in dtypes:
        cast = map_tensors((args, kwargs), lambda t, to=dtype: t.to(to) if t.is_floating_point() else t)
        value = ask(got, *cast).value
        first = chosen_output(got, value, cast, 0)
        tensors = [(path, leaf) for path, leaf in flatten(value) if isinstance(leaf, torch.Tensor)]
        for path, answer in [pair for pair in tensors if pair[1].is_floating_point()] or [((), first)]:
            if answer.dtype is not dtype:
                place_or_verb = place(path) or "returned "
                fact = f"{place_or_verb}dtype {dtype_name(answer.dtype)} for inputs of dtype {dtype_name(dtype)}"
                fail(got, Category.DTYPE, f"{fact}: the result must have the dtype of the inputs")
        record(got, False)


def works_on_meta(got: StudentCallable, *args: Any, **kwargs: Any) -> None:
    """Raise `Failed` if the call does not work on another device, because it creates a tensor on a fixed one.

    Code that raises on the CPU as well fails with that exception. The other device may be pretended. If code works on
    the CPU, and raises there an exception that torch does not raise for a tensor's device, the check is not judged: the
    result says so, and it costs no marks.
    """
    try:
        value = got.on_meta(args, kwargs)
    except Failed as failure:
        if failure.verdict.category is not Category.ERROR:
            raise
        ask(got, args, kwargs)  # a failure on the CPU has nothing to do with devices
        if failure.verdict.code != Code.WRONG_DEVICE:
            current_test().unfollowed.append(got.name)
            record(got, False)
            return
        record(got, True, Category.DEVICE)
        fact = "works on the CPU only: something is created on, or moved to, a device other than that of the inputs"
        inner = failure.verdict
        fact += f" (on another device, {inner.fact})"
        raise Failed(Verdict(Category.DEVICE, fact, inner.where, frames=inner.frames)) from failure
    tensors = list(tensors_in(value))
    if not tensors:
        fail(got, Category.TYPE, f"returned {kind(value)} on another device than the CPU, expected a tensor")
    if not all(tensor.device.type == "meta" for tensor in tensors):
        fail(got, Category.DEVICE, "the result is on the CPU, wherever the inputs are")
    record(got, False)


def ops_independent_of(
    what: str, got: StudentCallable, small: Sequence[Any], large: Sequence[Any], **kwargs: Any
) -> None:
    """Raise `Failed` if the number of tensor operations grows from the small arguments to the large ones.

    `what` says how they differ: "the number of tokens". A few more operations are allowed.
    """
    few, many = got.count_ops(small, kwargs).total, got.count_ops(large, kwargs).total
    grows = many > few + max(3, few // 4)
    if grows:
        fail(got, Category.PROPERTY, f"the number of tensor operations grows with {what}: from {few} to {many}")
    record(got, False)


def raises(exception: type[Exception], got: StudentCallable, *args: Any, **kwargs: Any) -> None:
    """Raise `Failed` unless the call raises this exception, or one derived from it.

    The sentence says what came instead, the text of another exception included, and the shapes of the arguments.
    """
    try:
        value = ask(got, args, kwargs).value
    except Failed as failure:
        inner = failure.verdict
        if inner.category is not Category.ERROR or not inner.exception:
            raise
        known = getattr(builtins, inner.exception, None)
        if inner.exception == exception.__name__ or (isinstance(known, type) and issubclass(known, exception)):
            record(got, False)
            return
        if inner.code in (Code.NOT_WRITTEN, Code.WRONG_ARGUMENTS):
            raise
        record(got, True)
        fact = f"{inner.fact}; {_must_raise(exception, got, args)}"
        raise Failed(Verdict(Category.PROPERTY, fact, inner.where, frames=inner.frames)) from failure
    fact = f"returned {kind(value)}; {_must_raise(exception, got, args)}"
    fail(got, Category.PROPERTY, fact, _plain_arguments(got, args))


def _must_raise(exception: type[Exception], got: StudentCallable, args: Sequence[Any]) -> str:
    """Return a clause that says for which arguments an exception is asked for."""
    shapes = [
        named(got, f"argument {position}") + f" of shape {shape(arg.shape)}"
        for position, arg in enumerate(args, start=1)
        if isinstance(arg, torch.Tensor)
    ]
    return f"it must raise {exception.__name__} for {' and '.join(shapes) or 'these arguments'}"


def uses_weights(own: StudentModule, *args: Any) -> None:
    """Raise `Failed` if the module's output stays the same with other parameters. Inputs are cast to their dtype.

    Parameters of a new module that are not initialised hold any numbers, so they are brought to the range from -1 to 1.
    """
    parameters = {name: _within_one(value) for name, value in own.parameters().items()}
    dtype = next((value.dtype for value in parameters.values()), torch.float32)
    inputs = map_tensors(args, lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor)
    own.load_state_dict(parameters)
    before = ask(own, inputs, {}).value
    own.load_state_dict({name: value + 0.1 for name, value in parameters.items()})
    _require_other(own, before, ask(own, inputs, {}).value, "the parameters change")


def _within_one(value: torch.Tensor) -> torch.Tensor:
    return value.nan_to_num().clamp(-1, 1) if value.is_floating_point() else value


def uses_inputs(got: StudentCallable, *args: Any) -> None:
    """Raise `Failed` if the output stays the same when one of the real tensors among the inputs is replaced."""
    before = ask(got, args, {}).value
    for position, arg in enumerate(args):
        if isinstance(arg, torch.Tensor) and arg.is_floating_point():
            other = draw("shape", shape=tuple(arg.shape), dtype=arg.dtype)
            after = ask(got, (*args[:position], other, *args[position + 1 :]), {}).value
            _require_other(got, before, after, named(got, f"argument {position + 1} changes"))


def _require_other(got: StudentCallable, before: Any, after: Any, what: str) -> None:
    ones, others = numeric_leaves(before), numeric_leaves(after)
    same = [(one.shape, one.dtype) for one in ones] == [(other.shape, other.dtype) for other in others] and all(
        torch.allclose(one, other, equal_nan=True) for one, other in zip(ones, others, strict=True)
    )
    current_test().record(got.name, float("inf") if same else 0.0, Category.PROPERTY if same else None)
    if same:
        raise Failed(Verdict(Category.PROPERTY, f"{got.name}: the output stays the same when {what}"))


def _plain_arguments(got: StudentCallable, args: Sequence[Any]) -> str:
    """Return the arguments that are short and no tensors, for students who may see the numbers of a test."""
    told = [
        f"{named(got, f'argument {position}')} was {arg!r}"
        for position, arg in enumerate(args, start=1)
        if isinstance(arg, str | bytes | int | float | list | tuple | None) and len(repr(arg)) <= _LONGEST_ARGUMENT
    ]
    return ", ".join(told)


_LONGEST_ARGUMENT = 60
