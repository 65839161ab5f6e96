"""Compares an answer with the expected value: type, shape, kind of number, then the numbers.

An answer is right only if its worst error is at most the tolerance. Every comparison asks whether an error is small
enough, and never whether it is too large, so a NaN is never right.

Nesting and types come first. An answer may have another type than the expected value only if nothing is lost: a list
for a tuple and the reverse, a numpy array for a tensor and the reverse, an array without axes for a plain number and
the reverse, a whole number for a real one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from operator import itemgetter
from typing import Any

import msgspec
import numpy as np
import torch

from softmark.records.verdict import Category, Regularity, Verdict
from softmark.verdict import values
from softmark.verdict.expected import Expected
from softmark.verdict.patterns import of_shapes, of_values
from softmark.verdict.picture_of_worst import picture_of
from softmark.verdict.plain_values import difference, is_plain, is_same
from softmark.verdict.values import NUMBERS, Path, dtype_name, is_numeric, kind, place, tensor_of

PRECISE = (torch.float64, torch.float32)


def mistyped(got: Any, want: Any, path: Path = ()) -> str:
    """Return a sentence about the first place with a wrong nesting or type; empty if there is none."""
    if isinstance(want, tuple | list):
        if not isinstance(got, tuple | list) or len(got) != len(want):
            return _expected(got, want, path)
        paths = [(*path, f"output {i + 1} of {len(want)}") for i in range(len(want))]
        return next(filter(None, map(mistyped, got, want, paths)), "")
    if isinstance(want, dict):
        return _dictionary(got, want, path)
    if is_numeric(want):
        right = (is_numeric(got) or isinstance(got, torch.Tensor)) and (
            type(got) not in NUMBERS or not getattr(want, "shape", ())
        )
    elif want is None or isinstance(want, str | bytes | int):
        right = type(got) is type(want)
    else:
        raise TypeError(f"the expected value holds {kind(want)}, which no answer can be compared with")
    return "" if right else _expected(got, want, path)


def _dictionary(got: Any, want: dict[Any, Any], path: Path) -> str:
    if not isinstance(got, dict):
        return _expected(got, want, path)
    missing = want.keys() - got.keys()
    if missing:
        return f"{place(path)}the entry {min(missing, key=repr)!r:.80} is missing"
    if len(got) > len(want):  # the additional names are not shown, because a student's code chooses them
        only = f"only the entries {', '.join(map(repr, want))}" if want else "none"
        return f"{place(path)}{'' if path else 'returned '}{kind(got)}, expected {only}"
    sentences = (mistyped(got[key], want[key], (*path, f"entry {key!r}")) for key in want)
    return next(filter(None, sentences), "")


def _expected(got: Any, want: Any, path: Path) -> str:
    return f"{place(path)}{'' if path else 'returned '}{kind(got)}, expected {kind(want)}"


def refused_numbers(got: Any, want: Any, coarsest_input: torch.dtype) -> str:
    """Return why a leaf's kind of number is wrong; empty if it is right.

    float32 is accepted for float64, because `keeps_dtype` checks the precision of a result. Half precision is accepted
    only if the inputs had it. Tensors of integers or booleans are not accepted for real numbers.
    """
    answer, true = tensor_of(got), tensor_of(want)
    own_name = got.dtype.name if isinstance(got, np.ndarray | np.generic) else dtype_name(answer.dtype)
    said = f"returned {kind(got)}" if type(got) in NUMBERS else f"dtype {own_name}"
    if true.is_complex():
        return "" if answer.dtype in (torch.complex64, torch.complex128) else f"{said}, expected complex numbers"
    if true.is_floating_point():
        if type(got) is int or answer.dtype in PRECISE or answer.dtype is coarsest_input:
            return ""
        if answer.is_floating_point():
            return f"{said} is too coarse, the inputs are {dtype_name(coarsest_input)}"
        return f"{said}, expected floating-point numbers"
    if true.dtype is torch.bool:
        return "" if answer.dtype is torch.bool else f"{said}, expected booleans (True and False)"
    whole = not answer.is_floating_point() and not answer.is_complex() and answer.dtype is not torch.bool
    return "" if whole else f"{said}, expected integers"


SEVERITY = {category: number for number, category in enumerate(Category)}
_ENTRY = "entry {!r}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome of comparing an answer, or one leaf of it: how far it is off, and its most severe difference.

    Only a difference that is shown is described, because making words takes the most time.
    """

    ratio: float
    """The worst error over its tolerance, inf if it cannot be measured."""
    category: Category | None = None
    """None for a right answer."""
    describe: Callable[[], Verdict] | None = None

    @property
    def verdict(self) -> Verdict | None:
        """The most severe difference in words; None for a right answer. The words are made anew each time."""
        return self.describe() if self.describe is not None else None


def compare(value: Any, expected: Expected, entry: str = _ENTRY) -> Comparison:
    """Compare a possibly nested answer with the expected one. The verdict is about the most severe difference.

    `entry` is the form in which a sentence names an entry of a dictionary.
    """
    if is_plain(expected.value) and is_same(value, expected.value):
        return Comparison(0.0)
    wrong_type = mistyped(value, expected.value)
    if wrong_type:
        plain = difference(value, expected.value, entry)
        if plain is not None:
            return Comparison(math.inf, plain.category, partial(_kept, plain))
        return Comparison(math.inf, Category.TYPE, partial(Verdict, Category.TYPE, wrong_type))
    pairs = _pairs(value, expected, entry)
    found = [_leaf(path, got, want, expected, number, pairs) for path, got, want, number in pairs]
    worst = max((leaf.ratio for leaf in found), default=0.0)
    wrong = [(SEVERITY[leaf.category], leaf) for leaf in found if leaf.category]
    if not wrong:
        return Comparison(worst)
    _, worst_leaf = min(wrong, key=itemgetter(0))
    plain = difference(value, expected.value, entry) if worst_leaf.category in (Category.VALUE, Category.TYPE) else None
    if plain is not None:
        return Comparison(worst, plain.category, partial(_kept, plain))
    return Comparison(worst, worst_leaf.category, worst_leaf.describe)


def _kept(verdict: Verdict) -> Verdict:
    return verdict


def agrees(value: Any, expected: Expected) -> bool:
    """Return whether `compare` would find nothing wrong. This is quicker for a wrong answer."""
    want = expected.value
    if is_plain(want):
        return is_same(value, want)
    if isinstance(want, tuple) and all(map(is_plain, want)):
        return isinstance(value, tuple | list) and len(value) == len(want) and all(map(is_same, value, want))
    if mistyped(value, want):
        return False
    return all(
        got == true if number < 0 else _is_right(got, true, expected, number)
        for _, got, true, number in _pairs(value, expected)
    )


def _is_right(got: Any, want: Any, expected: Expected, number: int) -> bool:
    """Return whether a numeric leaf of an answer is right."""
    return (
        tensor_of(got).shape == expected.leaves[number].shape
        and not refused_numbers(got, want, expected.coarsest_input)
        and _worst(_ratios(tensor_of(got), expected, number)) <= 1
    )


_Pair = tuple[values.Path, Any, Any, int]
"""The place of a leaf, the answer, the truth, and the leaf's number among the numeric leaves (-1 if it is none)."""


def _pairs(value: Any, expected: Expected, entry: str = _ENTRY) -> list[_Pair]:
    """Return the leaves of an answer, each with the true one."""
    numbers = count()
    return [
        (path, got, want, next(numbers) if is_numeric(want) else -1)
        for path, got, want in _in_true_order(value, expected.value, entry)
    ]


def _in_true_order(got: Any, want: Any, entry: str, path: values.Path = ()) -> Iterator[tuple[values.Path, Any, Any]]:
    """Yield the leaves of an answer in the order of the truth, because its dictionaries may have another order."""
    if isinstance(want, dict):
        for key in want:
            yield from _in_true_order(got[key], want[key], entry, (*path, entry.format(key)))
    elif isinstance(want, tuple | list):
        for i, item in enumerate(want):
            yield from _in_true_order(got[i], item, entry, (*path, f"output {i + 1} of {len(want)}"))
    else:
        yield path, got, want


def _leaf(
    path: values.Path, got: Any, want: Any, expected: Expected, number: int, pairs: Sequence[_Pair]
) -> Comparison:
    """Compare one leaf of an answer with the true one. `pairs` are all leaves."""
    at = place(path)
    if number < 0:
        return Comparison(0.0) if got == want else _wrong(Category.VALUE, f"{at}another value than expected")
    if isinstance(got, torch.Tensor) and got.device.type == "meta":
        return _wrong(Category.DEVICE, f"{at}the tensor is on the device meta, where there are no numbers")
    answer, true = tensor_of(got), expected.leaves[number]
    if answer.shape != true.shape:
        fact = f"shape {values.shape(answer.shape)}, expected {values.shape(true.shape)}"
        clause = _exchanged(got, expected, number, pairs) or of_shapes(_as_wide(answer, true), true)
        return _wrong(Category.SHAPE, at + fact + clause)
    refused = refused_numbers(got, want, expected.coarsest_input)
    if refused:
        return _wrong(Category.TYPE if type(got) in NUMBERS else Category.DTYPE, at + refused)
    ratios = _ratios(answer, expected, number)
    ratio = _worst(ratios)
    if ratio <= 1:
        return Comparison(ratio)
    wide = answer.to(true.dtype)
    strange = ~torch.isfinite(wide) & (ratios > 1)
    if bool(strange.any()):
        return Comparison(math.inf, Category.NAN, partial(_not_finite, at, wide, true, strange))

    def describe() -> Verdict:
        verdict = _wrong_numbers(at, wide, true, ratios, _exchanged(got, expected, number, pairs))
        if verdict.regularity == Regularity.NONE and answer.dtype != true.dtype:
            return msgspec.structs.replace(verdict, regularity="")  # an answer this coarse may hide a regularity
        return verdict

    return Comparison(ratio, Category.VALUE, describe)


def _ratios(answer: torch.Tensor, expected: Expected, number: int) -> torch.Tensor:
    """Return the error over the tolerance of each element; inf if it cannot be measured, and never NaN."""
    true = expected.leaves[number]
    if not true.is_floating_point() and not true.is_complex():
        unequal = answer.to(torch.int64) != true.to(torch.int64)
        return torch.zeros(true.shape, dtype=torch.float64).masked_fill_(unequal, float("inf"))
    limit = expected.tolerance(expected.level(answer.dtype), number)
    wide = answer.to(true.dtype)
    ratios = (wide - true).abs_().div_(limit) if not wide.is_complex() else (wide - true).abs() / limit
    if not bool(torch.isfinite(ratios).all()):
        same = (wide == true) | (torch.isnan(wide) & torch.isnan(true))
        ratios.nan_to_num_(float("inf"), float("inf")).masked_fill_(same, 0.0)
    return ratios


def _worst(ratios: torch.Tensor) -> float:
    return float(ratios.max()) if ratios.numel() else 0.0


def _as_wide(answer: torch.Tensor, true: torch.Tensor) -> torch.Tensor:
    """Return an answer in the precision of the truth. A complex answer stays complex."""
    return answer if answer.is_complex() and not true.is_complex() else answer.to(true.dtype)


def _exchanged(got: Any, expected: Expected, number: int, pairs: Sequence[_Pair]) -> str:
    """Return a clause if a leaf has the numbers of another output."""
    own = next((path for path, _, _, leaf in pairs if leaf == number), ())
    for path, answer, want, other in pairs:
        if other in (number, -1) or not _is_output(got, want, expected, other):
            continue
        its, ours = _name(path), _name(own)
        wanted = next(want for _, _, want, leaf in pairs if leaf == number)
        if _is_output(answer, wanted, expected, number):
            return f": these are the values of {its}, and {its} has those of {ours}: exchange them"
        return f": these are the values of {its}"
    return ""


def _is_output(got: Any, want: Any, expected: Expected, number: int) -> bool:
    """Return whether an answer is right for this leaf. A single number does not count: it is right for many leaves."""
    return is_numeric(got) and expected.leaves[number].numel() > 1 and _is_right(got, want, expected, number)


def _name(path: Path) -> str:
    """Return the name of a leaf: "output 2", or "output 1 of output 2"."""
    return " of ".join(part.partition(" of ")[0] for part in reversed(path))


def _not_finite(at: str, got: torch.Tensor, true: torch.Tensor, strange: torch.Tensor) -> Verdict:
    count, total = int(strange.sum()), got.numel()
    name = "NaN" if bool(torch.isnan(got[strange]).any()) else "infinite"
    fact = f"the value is {name}" if total == 1 else f"{_count(count, total)} {name}"
    index = tuple(int(i) for i in strange.nonzero()[0])
    where = f"expected {values.number(true[index].item())}"
    where = f"first at index {values.index(index)}, {where}" if index else where
    return Verdict(Category.NAN, at + fact, where, picture=picture_of(got, true, index))


def _wrong(category: Category, fact: str, where: str = "") -> Comparison:
    return Comparison(math.inf, category, partial(Verdict, category, fact, where))


def _wrong_numbers(at: str, got: torch.Tensor, true: torch.Tensor, ratios: torch.Tensor, clause: str) -> Verdict:
    """Return the verdict on wrong numbers: how many are wrong, how they differ, and where most."""
    wrong = ratios > 1
    count, total = int(wrong.sum()), got.numel()
    index = tuple(map(int, np.unravel_index(int(ratios.argmax()), got.shape)))
    fact = "the value is wrong" if total == 1 else f"{_count(count, total)} wrong"
    ratio = _worst(ratios)
    regularity, clause = (Regularity.OUTPUTS, clause) if clause else of_values(got, true, wrong)
    return Verdict(
        Category.VALUE,
        at + fact + clause,
        _where(got, true, index, ratio),
        picture=picture_of(got, true, index),
        regularity=regularity,
        clause=clause,
    )


def _count(count: int, total: int) -> str:
    number = f"all {total} values" if count == total else f"{count} of {total} values"
    return f"{number} {'is' if count == 1 else 'are'}"


def _where(got: torch.Tensor, true: torch.Tensor, index: tuple[int, ...], ratio: float) -> str:
    zero = true.dtype is not torch.bool and true[index].item() == 0  # distance and ratio would add nothing
    text = f"got {values.number(got[index].item())}, expected {values.number(true[index].item())}"
    if zero:
        text = f"got {values.number(got[index].item())}, expected exactly 0"
    elif true.dtype is not torch.bool:
        text += f", off by {values.number(abs(got[index].item() - true[index].item()))}"
    if ratio != float("inf") and not zero:
        text += f", {ratio:.2g} times the tolerance"
    if not index:
        return text
    text = f"worst at index {values.index(index)}: {text}"
    in_a_row = got.is_complex() or max(got.shape) == got.numel()  # a matrix is easier to read as a picture
    if in_a_row and got.numel() <= values.SHOWN_WHOLE:
        text += f"; got {values.whole(got)}, expected {values.whole(true)}"
    return text
