"""Names that others chose: shown without harm, compared as people compare them, made into safe ones."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType

LONGEST_ID = 80
_UNSEEN = frozenset(("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"))  # controls, bidi marks, halves of surrogate pairs
_JUNK = {"__macosx", "__pycache__", "thumbs.db", "desktop.ini", ".ds_store", ".ipynb_checkpoints"}
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""Windows knows no folders of these names, whatever follows after a dot."""
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_DRIVE = re.compile(r"[A-Za-z]:")
LONGEST_COMPONENT, DEEPEST = 255, 30


def show(name: str) -> str:
    """The name with everything that a reader would not see written out, and not too long."""
    visible = "".join(_escape(character) if unseen(character) else character for character in name[:200])
    return visible if len(name) <= 200 else visible + "…"


def unseen(character: str) -> bool:
    """Whether a reader sees nothing of this character, or sees the others in another order because of it."""
    return unicodedata.category(character) in _UNSEEN


def nfc(name: str) -> str:
    """The name in composed form: a Mac writes an ü as two characters."""
    return unicodedata.normalize("NFC", name)


def key(name: str) -> str:
    """Names with the same key are the same file for somebody: on a Mac, on Windows, to the eye."""
    return nfc(nfc(name).casefold())


def is_junk(name: str) -> bool:
    """Whether an operating system or an editor left this behind, and nobody meant to hand it in."""
    return name.casefold() in _JUNK or name.startswith(("._", "~$"))


def is_plain(name: str) -> bool:
    """Whether a name is safe wherever it is used: as a file, in a shell, in a table."""
    return bool(_PLAIN.fullmatch(name)) and not name.endswith(".")


def safe_id(text: str) -> str:
    """The text as a folder's name on any system.

    A fingerprint stands for letters that it cannot have: two students of whose names only `hw` is left are still two.
    """
    letters = [c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)]
    whole = re.sub(r"[^A-Za-z0-9._-]+", "-", "".join(filter(str.isascii, letters))).strip(".-")
    identity = whole[:LONGEST_ID].rstrip(".-")
    reserved = _RESERVED.fullmatch(identity)
    lost = identity != whole or not all(map(str.isascii, letters)) or reserved
    if identity and not lost:
        return identity
    if reserved:
        identity = identity.replace(".", "-")
    return f"{identity[: LONGEST_ID - 9].rstrip('.-') or 'student'}-{_fingerprint(text)}"


def unique_ids(
    identities: Sequence[str], origins: Sequence[str], before: Mapping[str, str] = MappingProxyType({})
) -> list[str]:
    """Return an id for each entry; all are different, even where case does not count.

    Of several entries with one id, one keeps it: the one that had it `before` (ids by origin), else the one whose own
    name is most like it. The others have a fingerprint of their origin in theirs, the same in every run.
    """
    first: dict[str, str] = {}
    for identity, origin in zip(identities, origins, strict=True):
        rival = first.setdefault(key(identity), origin)
        if rival != origin:
            first[key(identity)] = min(rival, origin, key=lambda one: _claim(one, identity, before))
    taken = set(first)
    unique = []
    for identity, origin in zip(identities, origins, strict=True):
        candidate = identity
        if first.get(key(identity)) == origin:
            del first[key(identity)]
        else:
            candidate, number = f"{identity}-{_fingerprint(origin)}", 1
            while key(candidate) in taken:
                number += 1
                candidate = f"{identity}-{_fingerprint(origin)}-{number}"
        taken.add(key(candidate))
        unique.append(candidate)
    return unique


def _claim(origin: str, identity: str, before: Mapping[str, str]) -> tuple[object, ...]:
    """Return how well an id fits what lies at an origin; the smallest fits best."""
    name = PurePath(origin.rpartition("/")[2]).stem
    had_it = key(before.get(origin, "")) == key(identity)
    return not had_it, name != identity, nfc(name) != name, name.casefold() != name, len(name), origin


def inner_path(name: str) -> tuple[str, ...] | None:
    """The folders and the file of a name in an archive; None if it could lead anywhere but into the archive."""
    parts = tuple(part for part in name.removesuffix("/").split("/") if part != ".")  # `./hw.py` is `hw.py`
    if _DRIVE.match(name) or "\\" in name or any(part in ("", "..") for part in parts):
        return None
    if any(unseen(character) for character in name) or len(parts) > DEEPEST:
        return None
    if any(len(part.encode()) > LONGEST_COMPONENT for part in parts):
        return None
    return parts


def _fingerprint(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:8]


def _escape(character: str) -> str:
    point = ord(character)
    if point <= 0xFF:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"
