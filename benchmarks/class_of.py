"""Makes classes of any size for measurements: most submissions are right, some wrong, broken or hostile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tests.support.classes import (
    BROKEN,
    ENDLESS,
    ENDS_ITSELF,
    FILE,
    HELPER,
    LEAVES_A_PROCESS,
    LOUD,
    NOTHING,
    RIGHT,
    WITH_A_HELPER,
    WRONG,
)

HUNGRY = RIGHT.replace("return x * 2", "return bytearray(10**12)")
LITTERS = f"import tempfile\nfor number in range(20):\n    tempfile.mkdtemp()\n{RIGHT}"
CHANGES_TORCH = f"import torch\ntorch.equal = torch.allclose = lambda *a, **k: True\n{WRONG}"
ODD = ((WRONG, 2.0), (NOTHING, 0.0), (BROKEN, 0.0), (LEAVES_A_PROCESS, 4.0), (ENDS_ITSELF, 2.0), (LOUD, 4.0),
       (WITH_A_HELPER, 4.0), (HUNGRY, 2.0), (LITTERS, 4.0), (CHANGES_TORCH, 2.0))  # fmt: skip
RIGHT_BEFORE_EACH = 3
ENDLESS_EVERY = 100


@dataclass(frozen=True)
class Example:
    """A submission, and the mark it deserves."""

    student: str
    files: Mapping[str, str]
    mark: float


def class_of(number: int) -> Iterator[Example]:
    """Yield a class, always in the same order: three of four submissions are right, the fourth is wrong or odd."""
    for position in range(number):
        turn, place = divmod(position, RIGHT_BEFORE_EACH + 1)
        source, mark = (RIGHT, 4.0) if place < RIGHT_BEFORE_EACH else ODD[turn % len(ODD)]
        if position % ENDLESS_EVERY == ENDLESS_EVERY // 2:
            source, mark = ENDLESS, 2.0
        files = {FILE: f"{source}# {position}\n", **({"helper.py": HELPER} if source is WITH_A_HELPER else {})}
        yield Example(f"student{position:06}", files, mark)
