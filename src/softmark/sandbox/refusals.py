"""Says what a value is called that cannot be compared, and what to return instead. Trusted side.

The worker says in its own words why a value cannot be sent (wire/values.py, wire/packer.py). How those words begin
chooses a sentence here; nothing else of them is repeated.
"""

from __future__ import annotations

import re

from softmark.sandbox.wire.values import MAX_ITEMS

_LIST, _RESULT = "return a list", "return its result"
_PLAIN = "return numbers, lists, arrays or tensors"
_KINDS = (  # how the worker's words begin, what that is called, what to return instead
    *((kind, kind, _LIST) for kind in ("a generator", "an iterator", "a set", "a frozenset", "a range")),
    ("a view of a dict", "a view of a dict", _LIST),
    *((kind, kind, "define the function without async") for kind in ("an async generator", "a coroutine")),
    *((kind, kind, _RESULT) for kind in ("a function", "a built-in function", "a method")),
    *((kind, kind, "return bytes") for kind in ("a bytearray", "a memoryview")),
    ("a Python module", "a Python module", _PLAIN),
    ("a class", "a class", "return an object of it, or a value"),
    ("a nested tensor", "a nested tensor", "return a list of tensors"),
    ("a quantised tensor", "a quantised tensor", "return an ordinary tensor"),
    ("a sparse tensor", "a sparse tensor", "return a dense one, as .to_dense() gives it"),
    (
        "a tensor on the meta device",
        "a tensor on the meta device, which has no values",
        "create it with device=x.device",
    ),
    ("a tensor of dtype", "a tensor of a dtype that is not used here", "convert it to torch.float32"),
    ("a tensor whose values", "a tensor whose values cannot be read", "return an ordinary tensor"),
    ("an array of", "an array of something else than numbers", "return an array of numbers"),
    ("a value nested too deeply", "a value nested too deeply", "return a tensor, or a list of tensors"),
    ("an int of more than", "an int of thousands of digits", "return a number of ordinary size"),
    ("a str with a lone surrogate", "a str with half a character in it", "return a str of whole characters"),
    ("a dict with a key of", "a dict with a key that is neither a str nor an int", "use str or int as keys"),
    (
        f"more than {MAX_ITEMS} items",
        f"more than {MAX_ITEMS:,} items in lists and dicts",
        "return an array or a tensor",
    ),
    ("more than", "more than can be compared", "return numbers, arrays or tensors"),
)


def no_plain_value(detail: str) -> str:
    """Return a sentence for the student about a value that the worker could not send for this reason."""
    kind, instead = _called(detail)
    contains = "a value that contains " if re.search(r"\((?:item|key) [^()]*\)$", detail) else ""
    return f"returned {contains}{kind}, not a plain value that can be compared: {instead}"


def _called(own: str) -> tuple[str, str]:
    if "a subclass of" in own:
        base = "torch.Tensor" if "Tensor" in own.partition("a subclass of")[2] else "another type"
        return f"an instance of a subclass of {base}", "return the plain type"
    if "is too large" in own:
        return "far too many elements", "check the shape of what you create"
    known = ((kind, instead) for beginning, kind, instead in _KINDS if own.startswith(beginning))
    return next(known, ("an instance of a class of its own", _PLAIN))
