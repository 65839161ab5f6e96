"""The small slips of file names: another case, a download's number, "Copy of", a .txt at the end."""

from __future__ import annotations

import re

from softmark.intake.names import key

_ENDING = re.compile(r"(\.(?:py|ipynb))(?:\.txt|\.json)?$")
_COPY_OF = re.compile(r"^(?:(?:copy|kopie) (?:of|von) )+")
_NUMBER = re.compile(
    r"(?:[ _-]*\(\d+\)"  # hw (1).py, as a browser names a second download
    r"|[ _-]+\d+"  # hw-1.py
    r"|[ _-]+(?:copy|kopie)"  # hw_copy.py, hw - Copy.py
    r")+$"
)
_GAP = re.compile(r"[ _-]+")


def ending(name: str) -> str:
    """`.py` or `.ipynb`, also if an editor or a browser has put its own ending behind it; otherwise nothing."""
    found = _ENDING.search(key(name).strip())
    return found[1] if found else ""


def is_slip(name: str, wanted: str) -> bool:
    """Whether somebody who wrote `name` meant `wanted`."""
    return ending(name) == ending(wanted) and _bare(name) == _bare(wanted, numbered=False)


def _bare(name: str, numbered: bool = True) -> str:
    stem = _COPY_OF.sub("", _ENDING.sub("", key(name).strip()))
    if numbered:
        stem = _NUMBER.sub("", stem)
    return _GAP.sub("_", stem.strip())
