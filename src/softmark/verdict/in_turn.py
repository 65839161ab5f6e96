"""Compares the answers to several calls that a test makes one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from softmark.verdict.agree import agree
from softmark.verdict.callee import StudentCallable
from softmark.verdict.draw import to_float32
from softmark.verdict.expected import has_weights
from softmark.verdict.values import map_tensors


def agree_in_turn(got: StudentCallable, want: Callable[..., Any], *calls: Sequence[Any]) -> None:
    """Raise `Failed` unless the answers are right whatever was asked before. Each call is a tuple of arguments.

    After the calls, the first one is made again: as it was, with its numbers in other places, in float32 (not a
    module or a method of one, whose weights have one dtype), and once more as it was. So give the first call sizes
    between those of the others. What a function keeps from one call to the next shows here.
    """
    first = tuple(calls[0])
    moved = map_tensors(first, lambda tensor: tensor.roll(1) if tensor.is_floating_point() else tensor)
    single = () if has_weights(want) else (to_float32(first),)
    for args in (*calls, first, moved, *single, first):
        agree(got, want, *args)
