"""Handles names that others chose: shows them without harm, compares them as people do, makes safe names of them.

Names of files have small slips: another case, a download's number, "Copy of", a .txt at the end. Platforms write times
in several ways.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from pathlib import PurePath
from types import MappingProxyType
from zoneinfo import ZoneInfo

LONGEST_ID = 80
_UNSEEN = frozenset(("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"))  # controls, bidi marks, halves of surrogate pairs
_JUNK = {"__macosx", "__pycache__", "thumbs.db", "desktop.ini", ".ds_store", ".ipynb_checkpoints"}
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""Windows has no folders of these names, whatever follows after a dot."""
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_DRIVE = re.compile(r"[A-Za-z]:")
LONGEST_COMPONENT, DEEPEST = 255, 30


def show(name: str) -> str:
    """Return the name, not too long, with every character written out that a reader would not see."""
    visible = "".join(_escape(character) if unseen(character) else character for character in name[:200])
    return visible if len(name) <= 200 else visible + "…"


def unseen(character: str) -> bool:
    """Return True for a character that a reader does not see, or that changes the order in which others are seen."""
    return unicodedata.category(character) in _UNSEEN


def nfc(name: str) -> str:
    """Return the name in composed form: a Mac writes an ü as two characters."""
    return unicodedata.normalize("NFC", name)


def key(name: str) -> str:
    """Return a key: names with the same key are one file for somebody, on a Mac, on Windows or to the eye."""
    return nfc(nfc(name).casefold())


def is_junk(name: str) -> bool:
    """Return True for a file that an operating system or an editor left behind: nobody meant to hand it in."""
    return name.casefold() in _JUNK or name.startswith(("._", "~$"))


def is_plain(name: str) -> bool:
    """Return True for a name that is safe wherever it is used: as a file, in a shell, in a table."""
    return bool(_PLAIN.fullmatch(name)) and not name.endswith(".")


def safe_id(text: str) -> str:
    """Return the text as a folder's name on any system.

    Letters that a folder cannot have are replaced by a fingerprint, so that two names of which only `hw` is left stay
    different.
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

    Of several entries with the same id, one keeps it: the one that had it `before` (ids by origin), else the one whose
    own name is most similar. The others have a fingerprint of their origin in theirs, which is the same in every run.
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
    """Return how well an id fits the thing at an origin; the smallest value fits best."""
    name = PurePath(origin.rpartition("/")[2]).stem
    had_it = key(before.get(origin, "")) == key(identity)
    return not had_it, name != identity, nfc(name) != name, name.casefold() != name, len(name), origin


def inner_path(name: str) -> tuple[str, ...] | None:
    """Return the folders and the file of a name in an archive; None if it could lead out of the archive."""
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


_ENDING = re.compile(r"(\.(?:py|ipynb))(?:\.txt|\.json)?$")
_COPY_OF = re.compile(r"^(?:(?:copy|kopie)_(?:of|von)_)+")
_NUMBER = re.compile(
    r"(?:[ _-]*\(\d+\)"  # hw (1).py, as a browser names a second download
    r"|[ _-]+\d+"  # hw-1.py
    r"|[ _-]+(?:copy|kopie)"  # hw_copy.py, hw - Copy.py
    r")$"
)
_GAP = re.compile(r"[ _-]+")


def ending(name: str) -> str:
    """Return `.py` or `.ipynb`, also if an editor or a browser has put its own ending behind it; otherwise nothing."""
    found = _ENDING.search(key(name).strip())
    return found[1] if found else ""


def is_slip(name: str, wanted: str) -> bool:
    """Return True if somebody who wrote `name` meant `wanted`. A number may be the wanted name's own: hw_2 (1).py."""
    return ending(name) == ending(wanted) and _stem(wanted) in _stems(_COPY_OF.sub("", _stem(name)))


def _stems(stem: str) -> Iterator[str]:
    """Yield what is left of a stem without one number or "copy" after the other."""
    yield stem
    while (shorter := _NUMBER.sub("", stem)) != stem:
        stem = shorter
        yield stem


def _stem(name: str) -> str:
    """Return a name without its ending, in which all gaps are alike."""
    return _GAP.sub("_", _ENDING.sub("", key(name).strip()).strip())


_MOMENT = re.compile(
    r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)?[ ]*"
    r"(?:(?P<utc>Z|UTC|GMT)|(?P<sign>[+-])(?P<hours>\d\d):?(?P<minutes>\d\d)|(?P<zone>[A-Za-z_]+/[A-Za-z_/]+))?"
)


def moment(text: str) -> datetime | None:
    """Return the first time in the text, to the second, with its zone if it has one; None if there is none."""
    found = _MOMENT.search(text)
    if not found:
        return None
    try:
        return datetime.fromisoformat(f"{found[1]} {found[2]}").replace(tzinfo=_zone(found))
    except (ValueError, LookupError, OSError):  # the 31st of June; a zone that this machine does not know
        return None


def _zone(found: re.Match[str]) -> tzinfo | None:
    if found["utc"]:
        return UTC
    if found["zone"]:
        return ZoneInfo(found["zone"])
    if found["sign"]:
        offset = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"]))
        return timezone(-offset if found["sign"] == "-" else offset)
    return None
