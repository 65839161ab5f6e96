"""Repeats the message of an exception that Python, NumPy or torch raised, as far as a student may read it.

The message comes from a worker, and a submission may have put hidden inputs into it. So it is not repeated as it came.
It must have one of the known forms (message_forms.py), and the sentence consists of that form's own words. The gaps of
the form are filled only with

* numbers that the sizes of the test's own questions explain: a length of an axis or an integer that was passed, small
  numbers, and products, quotients, sums and neighbours of these;
* words of the submission's text, single letters, and names of types and dtypes from a list.

Every other number and word is replaced by "…". A message that the submission has written itself is not repeated at all,
even if it has a known form: if the line that raised contains `raise` or `assert`, no message is repeated.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Sequence
from functools import cache
from itertools import combinations_with_replacement, count

from softmark.grading.message_forms import NUMPY, PYTHON, TORCH
from softmark.intake.model import SubmittedFiles
from softmark.sandbox.failure_texts import class_name
from softmark.sandbox.wire import Raised
from softmark.sandbox.wire.protocol import Call
from softmark.verdict.values import is_numeric, leaves_in, tensor_of

CUT = "…"
_LONGEST, _MOST_NUMBERS = 600, 12
_MOST_SIZES, _LARGEST_SIZE = 12, 100_000
_SMALL = 4
"""Numbers up to this are always repeated, because they are numbers of axes and arguments."""

_OWN = re.compile(r"\b(?:raise|assert|throw)\b")
_SLOTS = {
    "{n}": r"(?P<n{}>-?\d{{1,9}})",
    "{s}": r"(?P<s{}>[\d\s,x*()\[\]-]{{1,120}}?)",
    "{w}": r"(?P<w{}>\w[\w.]{{0,60}})",
    "{a}": r"(?P<a{}>[\w.=, ]{{0,200}})",
    "{o}": r"(?P<o{}>[-+*/%@&|^<>=~]{{1,3}}|\*\* or pow\(\)|divmod\(\))",
}
_TYPES = frozenset(
    "NoneType Tensor TensorBase Parameter Size device dtype torch numpy nn Module ModuleList Generator ndarray float16"
    " bool int float complex str bytes list tuple dict set slice range type module function method generator ellipsis"
    " object super map zip enumerate reversed builtin_function_or_method method_descriptor numpy.ndarray"
    " bfloat16 float32 float64 int8 int16 int32 int64 uint8 long double half Float Double Half BFloat16 Long Int Short"
    " Bool Byte Char ComplexFloat ComplexDouble FloatTensor DoubleTensor HalfTensor LongTensor IntTensor BoolTensor"
    " Linear LayerNorm LSTM Embedding Dropout Sequential c10 self input other size shape dim dims tensor tensors weight"
    " bias mask value values index indices out mat1 mat2 vec end start step fill_value repeats dtypes".split()
)


def library_message(raised: Raised, handed: SubmittedFiles, asked: Sequence[Call]) -> str:
    """Return the message as far as a student may read it; empty if it is not a library's, or has no known form.

    `asked` are the calls of the test.
    """
    if not raised.frames or class_name(raised) != raised.cls:
        return ""
    innermost = raised.frames[-1]
    line = handed.line(innermost.file, innermost.line)
    if line is None or _OWN.search(line):
        return ""
    said = raised.message.strip().partition("\n")[0].strip()
    if len(said) > _LONGEST or not said.isascii():
        return ""
    found = next(filter(None, (form.fullmatch(said) for form in _forms(raised.cls == "KeyError"))), None)
    return _repeated(found, handed, _explained(_sizes(asked))) if found is not None else ""


@cache
def _forms(of_key: bool) -> tuple[re.Pattern[str], ...]:
    """Return the forms as patterns. The message of a KeyError is only the key, a form that no other exception has."""
    forms = [form for form in f"{PYTHON}{NUMPY}{TORCH}".splitlines() if form]
    keys = ("'{w}'", "{n}")
    return tuple(_pattern(form) for form in forms if (form in keys) is of_key)


def _pattern(form: str) -> re.Pattern[str]:
    whole = form.removesuffix(CUT)
    pieces = re.split(r"(\{[nswao]\})", whole)
    written = [_SLOTS[p].format(i) if p in _SLOTS else re.escape(p) for i, p in enumerate(pieces)]
    rest = "(?P<rest>.*)" if whole != form else ""
    return re.compile("".join(written) + rest, re.ASCII)


def _repeated(found: re.Match[str], handed: SubmittedFiles, explained: Container[int]) -> str:
    """Return the message with all numbers and words cut out that may not be repeated."""
    numbers = count(1)

    def number(digits: re.Match[str]) -> str:
        return digits[0] if next(numbers) <= _MOST_NUMBERS and int(digits[0]) in explained else CUT

    def word(name: re.Match[str]) -> str:
        known = all(piece in _TYPES or _is_written(piece, handed) for piece in name[0].split("."))
        return name[0] if known else CUT

    pieces, end = [], 0
    for slot, text in sorted(found.groupdict().items(), key=lambda item: found.start(item[0])):
        pieces.append(found.string[end : found.start(slot)])
        end = found.end(slot)
        match slot[0]:
            case "n" | "s":
                pieces.append(re.sub(r"\d+", number, text))
            case "w" | "a":
                pieces.append(re.sub(r"[\w.]+", word, text))
            case "o":
                pieces.append(text)
    pieces.append(found.string[end:])
    return "".join(pieces).replace(", )", ")").rstrip(" .,")


def _is_written(name: str, handed: SubmittedFiles) -> bool:
    """Return whether a name is in the submission, or is a single letter, as in einsum. A number is no name."""
    return not name[:1].isdecimal() and (len(name) == 1 or handed.has_word(name))


def _sizes(asked: Sequence[Call]) -> set[int]:
    """Return the integers and the lengths of axes in these calls."""
    leaves = [leaf for call in asked for leaf in leaves_in((call.args, call.kwargs))]
    arrays = [tensor_of(leaf) for leaf in leaves if is_numeric(leaf) and type(leaf) is not int]
    return {abs(leaf) for leaf in leaves if type(leaf) is int} | {n for a in arrays for n in (*a.shape, a.numel())}


def _explained(sizes: Collection[int]) -> frozenset[int]:
    """Return the numbers that code may compute from inputs of these sizes."""
    own = sorted({size for size in sizes if 0 < size <= _LARGEST_SIZE})[:_MOST_SIZES]
    pairs = list(combinations_with_replacement(own, 2))
    found = {*range(_SMALL + 1), *own}
    found |= {step for size in own for step in (size - 1, size + 1, 2 * size, 3 * size, 4 * size)}
    found |= {a * b for a, b in pairs} | {a + b for a, b in pairs} | {b // a for a, b in pairs if b % a == 0}
    found |= {a * b * c for a, b, c in combinations_with_replacement(own, 3)}
    return frozenset(found)
