"""The table of conditions under which a function may be wrong, and how it is made wrong while one of them holds.

`conditions_for` lists the conditions that can apply to a function: some for each, others for what its signature, its
docstring and its calls contain. A condition holds or does not hold, given the facts of a call (facts.py) and those of
the earlier calls in the same test.

The text of this file is also planted into submissions (conditional.py), so it uses nothing else of softmark. There,
`record` prints the facts of each call, and `spoil` changes the answers, or only the gradients, by a percent.
"""

import base64
import inspect
import json
import math
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from softmark.authoring.facts import Facts, ObservedFunction, facts_of, tensors_in, weights_of

RECORD = "softmark-call"
"""The beginning of a line with a process and the facts of a call."""
_BATCH = ("no batch dimension", "one batch dimension", "two batch dimensions")
_COUNTS = ("n_", "num_")
"""Beginnings of the names of numbers that count heads or layers."""
_WIDTHS = ("d", "D", "H")
"""Sizes that a module has for good."""


Holds = Callable[[Facts, Sequence[Facts]], bool]


@dataclass(frozen=True)
class Condition:
    """A condition on a call: its words, and what must hold of the call, given the earlier ones of the same test."""

    words: str
    holds: Holds
    of_gradients: bool = False
    """True if the answer stays right and only the gradients are wrong."""


def seen_in(calls: Sequence[Facts]) -> Facts:
    """Return what the table has to know of the calls that a function got: sizes, numbers of dimensions, masks."""
    return {
        "sizes": list(dict.fromkeys(name for facts in calls for name in facts["sizes"])),
        "dims": sorted({(name, dims) for facts in calls for name, dims in facts["dims"].items()}),
        "masks": any(facts["masks"] for facts in calls),
        "tensors": any(facts["tensors"] for facts in calls),
        "signed": list(dict.fromkeys(name for facts in calls for name, size in facts["sizes"].items() if size < 1)),
        "reals": any(facts["reals"] for facts in calls),
        "weights": any(facts["weights"] for facts in calls),
    }


def conditions_for(target: ObservedFunction, seen: Facts) -> list[Condition]:
    """Return the conditions that can apply to a function: some for each, others for what its calls contain."""
    found = [Condition("in every call", lambda now, before: True)]
    found += _of_sizes(target, seen)
    found += _of_numbers(target)
    found += _of_values(target, seen)
    found += _of_earlier_calls(target, seen)
    return found


def _of_sizes(target: ObservedFunction, seen: Facts) -> Iterator[Condition]:
    if any(target.shapes[name][0] for name in target.taken if name in target.shapes):
        for count, words in enumerate(_BATCH):
            yield Condition(words, partial(_has_batch, count))
        yield Condition("a batch of one", lambda now, before: any(1 in batch for batch in now["batch"]))
    for name, dims in seen["dims"]:
        if sum(name == one for one, _ in seen["dims"]) > 1:
            yield Condition(f"`{name}` with {dims} dimensions", partial(_has_dims, name, dims))
    names = seen["sizes"]
    for name in names:
        yield Condition(f"{name} = 1", _sized(name, lambda size: size == 1))
        if name.startswith(_COUNTS):
            yield Condition(f"{name} = 2", _sized(name, lambda size: size == 2))
            yield Condition(f"{name} > 2", _sized(name, lambda size: size > 2))
        elif name in target.taken:
            yield Condition(f"{name} is even", _sized(name, lambda size: size % 2 == 0))
            yield Condition(f"{name} is odd", _sized(name, lambda size: size % 2 == 1))
        if name in seen["signed"]:
            yield Condition(f"{name} = 0", _sized(name, lambda size: size == 0))
            yield Condition(f"{name} < 0", _sized(name, lambda size: size < 0))
        for other in filter(partial(_alike, name), names):
            yield Condition(f"{name} < {other}", _compared(name, other, int.__lt__))
            if name < other:
                yield Condition(f"{name} = {other}", _compared(name, other, int.__eq__))
    yield from _of_roots(names)


def _of_roots(names: Sequence[str]) -> Iterator[Condition]:
    """Yield conditions on the width of a head, whose root scales the scores."""
    heads = next((name for name in names if "heads" in name), "")
    if "d_k" in names:
        yield Condition("d_k is no square", _sized("d_k", _is_no_square))
    elif heads and (width := next((name for name in names if name in ("D", "d_model")), "")):
        fits = _compared(width, heads, lambda features, count: _is_no_square(features // count))
        yield Condition(f"{width} / {heads} is no square", fits)


def _is_no_square(size: int) -> bool:
    return math.isqrt(size) ** 2 != size


def _alike(one: str, other: str) -> bool:
    """Return whether two sizes are of one kind, such as d_k and d_v, or m and n."""
    if one == other or any(name.startswith(_COUNTS) or "[" in name for name in (one, other)):
        return False
    return {one, other} == {"m", "n"} or one.split("_")[0] == other.split("_")[0]


def _sized(name: str, fits: Callable[[int], bool]) -> Holds:
    return lambda now, before: name in now["sizes"] and fits(now["sizes"][name])


def _compared(one: str, other: str, fits: Callable[[int, int], bool]) -> Holds:
    def holds(now: Facts, before: Sequence[Facts]) -> bool:
        sizes = now["sizes"]
        return one in sizes and other in sizes and fits(sizes[one], sizes[other])

    return holds


def _has_batch(count: int, now: Facts, before: Sequence[Facts]) -> bool:
    return any(len(batch) == count for batch in now["batch"])


def _has_dims(name: str, dims: int, now: Facts, before: Sequence[Facts]) -> bool:
    return bool(now["dims"].get(name) == dims)


def _of_numbers(target: ObservedFunction) -> Iterator[Condition]:
    for name, parameter in {**target.made, **target.taken}.items():
        default = parameter.default
        if default is None:
            yield Condition(f"`{name}` left out", partial(_is_given, name, False))
            yield Condition(f"`{name}` given", partial(_is_given, name, True))
        elif default is not inspect.Parameter.empty and type(default) is not int:
            yield Condition(f"`{name}` is {default}", partial(_is_default, name, default, True))
            yield Condition(f"`{name}` is not {default}", partial(_is_default, name, default, False))


def _is_given(name: str, given: bool, now: Facts, before: Sequence[Facts]) -> bool:
    return (name in now["given"]) is given


def _is_default(name: str, default: Any, same: bool, now: Facts, before: Sequence[Facts]) -> bool:
    return (now["numbers"].get(name, default) == default) is same


def _of_values(target: ObservedFunction, seen: Facts) -> Iterator[Condition]:
    if seen["reals"] or seen["weights"]:
        yield Condition("float32", partial(_is_so, "float32"))
        yield Condition("only the gradients", partial(_is_so, "gradients"), of_gradients=True)
    if seen["reals"]:
        yield Condition("large numbers", partial(_is_so, "large"))
        words = "only the gradients, large numbers"
        yield Condition(words, lambda now, before: now["gradients"] and now["large"], of_gradients=True)
    if target.of_class:
        yield Condition("in train()", partial(_is_so, "train"))
        yield Condition("in eval()", lambda now, before: not now["train"])
    if seen["masks"]:
        yield Condition("a mask that allows everything", partial(_is_so, "allowed"))
        yield Condition("a row that is blocked wholly", partial(_is_so, "blocked"))


def _is_so(fact: str, now: Facts, before: Sequence[Facts]) -> bool:
    return bool(now[fact])


def _of_earlier_calls(target: ObservedFunction, seen: Facts) -> Iterator[Condition]:
    """Yield conditions on the calls of the same function or module that the same test made before."""
    yield Condition("from the second call on", lambda now, before: bool(_own(now, before)))
    yield Condition("after the same call", partial(_after, "of values", True))
    if seen["tensors"]:
        yield Condition("after other numbers of the same sizes", _after_other_numbers)
    if seen["reals"] or seen["weights"]:
        yield Condition("after another dtype", partial(_after, "float32", False))
    for name in seen["sizes"]:
        if "[" not in name and not (target.of_class and (name in target.made or name in _WIDTHS)):
            yield Condition(f"after a larger {name}", partial(_after_size, name, 1))
            yield Condition(f"after a smaller {name}", partial(_after_size, name, -1))
    for name, parameter in target.taken.items():
        if parameter.default is None:
            yield Condition(f"`{name}` left out after it was given", partial(_after_other_use, name, False))
            yield Condition(f"`{name}` given after it was left out", partial(_after_other_use, name, True))
    if seen["masks"]:
        yield Condition("after another mask", _after_another_mask)
    if target.of_class:
        yield Condition("after a call in the other mode", partial(_after, "train", False))
        words = "after a call of another module"
        yield Condition(words, lambda now, before: any(one["module"] != now["module"] for one in before))


def _own(now: Facts, before: Sequence[Facts]) -> list[Facts]:
    """Return the earlier calls of the same function or the same module."""
    return [facts for facts in before if facts["module"] == now["module"]]


def _after(key: str, same: bool, now: Facts, before: Sequence[Facts]) -> bool:
    return any((one[key] == now[key]) is same for one in _own(now, before))


def _after_other_numbers(now: Facts, before: Sequence[Facts]) -> bool:
    earlier = [one for one in _own(now, before) if one["of sizes"] == now["of sizes"]]
    return any(one["of values"] != now["of values"] for one in earlier)


def _after_size(name: str, sign: int, now: Facts, before: Sequence[Facts]) -> bool:
    sizes = [one["sizes"][name] for one in _own(now, before) if name in one["sizes"]]
    return name in now["sizes"] and any(sign * size > sign * now["sizes"][name] for size in sizes)


def _after_other_use(name: str, given: bool, now: Facts, before: Sequence[Facts]) -> bool:
    return (name in now["given"]) is given and any((name in one["given"]) is not given for one in _own(now, before))


def _after_another_mask(now: Facts, before: Sequence[Facts]) -> bool:
    earlier = [one for one in _own(now, before) if one["masks"]]
    return bool(now["masks"]) and any(one["of masks"] != now["of masks"] for one in earlier)


# In a submission -----------------------------------------------------------------------------------------


def noting() -> Callable[[Facts], None]:
    """Return a function that prints what is noted of a call, as one packed line."""
    packer = zlib.compressobj(9)  # one for all lines, which are much alike

    def note(facts: Facts) -> None:
        packed = packer.compress(json.dumps(facts, default=bool).encode()) + packer.flush(zlib.Z_SYNC_FLUSH)
        print(RECORD, os.getpid(), base64.b85encode(packed).decode(), flush=True)

    return note


def record(scope: dict[str, Any], name: str) -> None:
    """Print the facts of each call that succeeds, and let it be right."""
    target = ObservedFunction(scope, name)
    note = noting()

    def calling(original: Any, module: Any, made: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        facts = facts_of(target, module, made, args, kwargs)
        answer = original(*args, **kwargs)
        note(facts)
        return answer

    target.wrap(calling, scope)


def spoil(scope: dict[str, Any], name: str, words: str, seen: Facts) -> None:
    """Make the function or class wrong while the condition of these words holds, and only then."""
    target = ObservedFunction(scope, name)
    condition = next(found for found in conditions_for(target, seen) if found.words == words)
    before: list[Facts] = []

    def calling(original: Any, module: Any, made: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        facts = facts_of(target, module, made, args, kwargs)
        before[:] = [one for one in before if one["test"] == facts["test"]]
        off = 0.01 * condition.holds(facts, before)
        answer = original(*args, **kwargs)
        before.append(facts)
        if condition.of_gradients:
            return _with_other_gradients(answer, [*tensors_in([*args, kwargs]), *weights_of(module)], off)
        return _moved(answer, lambda tensor: _off(tensor, off))

    target.wrap(calling, scope)


def _off(tensor: torch.Tensor, off: float) -> torch.Tensor:
    """Return the tensor, a little off. As many operations are used if `off` is 0: a test may count them."""
    if tensor.dtype is torch.bool:
        return tensor ^ bool(off)
    return tensor + off * (1 + tensor.abs()) if tensor.is_floating_point() else tensor + math.ceil(off)


def _with_other_gradients(answer: Any, inputs: Sequence[torch.Tensor], off: float) -> Any:
    """Return the same answer, with gradients that are a little off for every input."""
    reals = [tensor for tensor in inputs if tensor.is_floating_point() and tensor.requires_grad]
    zero = sum((off * (tensor - tensor.detach()).sum() for tensor in reals), 0.0)
    return _moved(answer, lambda tensor: tensor + zero if tensor.is_floating_point() else tensor)


def _moved(answer: Any, move: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    if isinstance(answer, torch.Tensor):
        return move(answer)
    if isinstance(answer, bool | int | float):
        return move(torch.tensor(answer, dtype=torch.float64 if isinstance(answer, float) else None)).item()
    if isinstance(answer, str | bytes):
        end: Any = "?" if isinstance(answer, str) else b"?"
        return answer + end * bool(move(torch.tensor(0)))
    if isinstance(answer, list | tuple):
        return type(answer)(_moved(inner, move) for inner in answer)
    if isinstance(answer, dict):
        return {key: _moved(inner, move) for key, inner in answer.items()}
    return answer
