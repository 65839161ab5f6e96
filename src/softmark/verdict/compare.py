"""One answer against one truth: type, shape, kind of number, then the numbers.

Every test is written positively: an answer is right only if its worst error is at most the tolerance, which no NaN is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from softmark.records.verdict import Category, Picture
from softmark.verdict import describe
from softmark.verdict.describe import place
from softmark.verdict.leaves import NUMBERS, flatten, is_numeric, tensor_of
from softmark.verdict.patterns import of_shapes, of_values
from softmark.verdict.structure import mistyped, refused_numbers
from softmark.verdict.truth import Truth

SEVERITY = list(Category)
LARGEST_PICTURE = 32


@dataclass(frozen=True, slots=True)
class Difference:
    """What is wrong with an answer. `ratio` is the worst error over its tolerance, inf where it cannot be measured."""

    category: Category
    fact: str
    where: str = ""
    ratio: float = float("inf")
    picture: Picture | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """`ratio` is the worst of all numbers; `difference` the most severe thing wrong, None for a right answer."""

    ratio: float
    difference: Difference | None = None


def compare(value: Any, truth: Truth) -> Comparison:
    """Compare an answer, however nested, with the truth."""
    wrong_type = mistyped(value, truth.value)
    if wrong_type:
        difference = Difference(Category.TYPE, wrong_type)
        return Comparison(difference.ratio, difference)
    found = [_leaf(path, got, want, truth, number) for path, got, want, number in _pairs(value, truth)]
    differences = [leaf for leaf in found if isinstance(leaf, Difference)]
    worst = max((leaf.ratio if isinstance(leaf, Difference) else leaf for leaf in found), default=0.0)
    first = min(differences, key=lambda leaf: SEVERITY.index(leaf.category), default=None)
    return Comparison(worst, first)


def agrees(value: Any, truth: Truth) -> bool:
    """Whether `compare` would find nothing wrong; quicker where something is."""
    if mistyped(value, truth.value):
        return False
    for _, got, want, number in _pairs(value, truth):
        if number < 0:
            right = got == want
        else:
            right = (
                tensor_of(got).shape == truth.leaves[number].shape
                and not refused_numbers(got, want, truth.coarsest_input)
                and _worst(_ratios(tensor_of(got), truth, number)) <= 1
            )
        if not right:
            return False
    return True


def _pairs(value: Any, truth: Truth) -> list[tuple[describe.Path, Any, Any, int]]:
    """Leaves of an answer of the right nesting with the true ones, and the number of each numeric one (else -1)."""
    numbers = iter(range(len(truth.leaves)))
    expected = dict(flatten(truth.value))
    return [
        (path, got, expected[path], next(numbers) if is_numeric(expected[path]) else -1)
        for path, got in _in_order_of(value, truth.value)
    ]


def _in_order_of(value: Any, like: Any, path: describe.Path = ()) -> Any:
    """Leaves of a value in the order of another one of the same nesting: dictionaries may be ordered differently."""
    if isinstance(like, dict):
        for key in like:
            yield from _in_order_of(value[key], like[key], (*path, f"entry {key!r}"))
    elif isinstance(like, tuple | list):
        for i, item in enumerate(like):
            yield from _in_order_of(value[i], item, (*path, f"output {i + 1} of {len(like)}"))
    else:
        yield path, value


def _leaf(path: describe.Path, got: Any, want: Any, truth: Truth, number: int) -> Difference | float:
    """Compare one leaf: what is wrong, or the ratio of its worst error when it is right."""
    at = place(path)
    if number < 0:
        words = f"got {got!r:.80}, expected {want!r:.80}"
        return 0.0 if got == want else Difference(Category.VALUE, f"{at}another text than expected", words)
    if isinstance(got, torch.Tensor) and got.device.type == "meta":
        return Difference(Category.DEVICE, f"{at}the tensor is on the device meta, where there are no numbers")
    answer, true = tensor_of(got), truth.leaves[number]
    if answer.shape != true.shape:
        others = [leaf.shape for i, leaf in enumerate(truth.leaves) if i != number]
        fact = f"shape {describe.shape(answer.shape)}, expected {describe.shape(true.shape)}"
        return Difference(Category.SHAPE, at + fact + of_shapes(answer.shape, true.shape, others))
    refused = refused_numbers(got, want, truth.coarsest_input)
    if refused:
        return Difference(Category.TYPE if type(got) in NUMBERS else Category.DTYPE, at + refused)
    ratios = _ratios(answer, truth, number)
    ratio = _worst(ratios)
    if ratio <= 1:
        return ratio
    wide = answer.to(true.dtype)
    strange = ~torch.isfinite(wide) & (ratios > 1)
    if bool(strange.any()):
        return _not_finite(at, wide, true, strange)
    return _wrong(at, wide, true, ratios, _exchanged(answer, truth, number))


def _ratios(answer: torch.Tensor, truth: Truth, number: int) -> torch.Tensor:
    """Error over tolerance of each element; inf where it cannot be measured, never NaN."""
    true = truth.leaves[number]
    if not true.is_floating_point() and not true.is_complex():
        unequal = answer.to(torch.int64) != true.to(torch.int64)
        return torch.zeros(true.shape, dtype=torch.float64).masked_fill_(unequal, float("inf"))
    limit = truth.tolerance(truth.level(answer.dtype), number)
    wide = answer.to(true.dtype)
    ratios = (wide - true).abs_().div_(limit) if not wide.is_complex() else (wide - true).abs() / limit
    if not bool(torch.isfinite(ratios).all()):
        same = (wide == true) | (torch.isnan(wide) & torch.isnan(true))
        ratios.nan_to_num_(float("inf"), float("inf")).masked_fill_(same, 0.0)
    return ratios


def _worst(ratios: torch.Tensor) -> float:
    return float(ratios.max()) if ratios.numel() else 0.0


def _exchanged(answer: torch.Tensor, truth: Truth, number: int) -> str:
    """A clause for an answer that is another one of the outputs."""
    for other, true in enumerate(truth.leaves):
        if other == number or true.shape != answer.shape or true.dtype != truth.leaves[number].dtype:
            continue
        if true.numel() > 1 and _worst(_ratios(answer, truth, other)) <= 1:
            return f": that is output {other + 1}, are the outputs exchanged?"
    return ""


def _not_finite(at: str, got: torch.Tensor, true: torch.Tensor, strange: torch.Tensor) -> Difference:
    count, total = int(strange.sum()), got.numel()
    name = "NaN" if bool(torch.isnan(got[strange]).any()) else "infinite"
    fact = f"the value is {name}" if total == 1 else f"{_count(count, total)} {name}"
    index = tuple(int(i) for i in strange.nonzero()[0])
    where = f"first at index {describe.index(index)}, expected {describe.number(true[index].item())}"
    return Difference(Category.NAN, at + fact, where, picture=_picture(got, true, index))


def _wrong(at: str, got: torch.Tensor, true: torch.Tensor, ratios: torch.Tensor, clause: str) -> Difference:
    """The numbers differ: how many, in what way, and where most."""
    wrong = ratios > 1
    count, total = int(wrong.sum()), got.numel()
    index = tuple(int(i) for i in torch.unravel_index(ratios.argmax(), got.shape))
    fact = "the value is wrong" if total == 1 else f"{_count(count, total)} wrong"
    ratio = _worst(ratios)
    fact = at + fact + (clause or of_values(got, true, wrong))
    return Difference(Category.VALUE, fact, _where(got, true, index, ratio), ratio, _picture(got, true, index))


def _count(count: int, total: int) -> str:
    number = f"all {total} values" if count == total else f"{count} of {total} values"
    return f"{number} {'is' if count == 1 else 'are'}"


def _where(got: torch.Tensor, true: torch.Tensor, index: tuple[int, ...], ratio: float) -> str:
    zero = true.dtype is not torch.bool and true[index].item() == 0  # then neither distance nor ratio says more
    text = f"got {describe.number(got[index].item())}, expected {describe.number(true[index].item())}"
    if zero:
        text = f"got {describe.number(got[index].item())}, expected exactly 0"
    elif true.dtype is not torch.bool:
        text += f", off by {describe.number(abs(got[index].item() - true[index].item()))}"
    if ratio != float("inf") and not zero:
        text += f", {ratio:.2g} times the tolerance"
    if not index:
        return text
    text = f"worst at index {describe.index(index)}: {text}"
    if got.numel() <= describe.SHOWN_WHOLE:
        text += f"; got {describe.whole(got)}, expected {describe.whole(true)}"
    return text


def _picture(got: torch.Tensor, true: torch.Tensor, index: tuple[int, ...]) -> Picture | None:
    """The matrix with the worst number, if it is small enough to be looked at."""
    if got.is_complex() or got.dim() == 0:
        return None
    leading = index[:-2]
    pair = [matrix[leading] if leading else matrix for matrix in (true, got)]
    pair = [matrix.unsqueeze(0) if matrix.dim() == 1 else matrix for matrix in pair]
    if max(pair[0].shape) > LARGEST_PICTURE:
        return None
    expected, seen = (tuple(tuple(float(x) for x in row) for row in matrix) for matrix in pair)
    return Picture(expected, seen, leading)
