"""Makes text that a student controls harmless: for terminals, web pages, spreadsheets and CI logs.

Every renderer passes every text of a result through `plain` before it does anything else with it. Nothing is
dropped: what would be invisible, or would move the cursor, is shown as an escape such as \\x1b or \\u202e.
"""

import re
import unicodedata

SHOWN_AS_THEY_ARE = "\n\t"
INVISIBLE_CATEGORIES = frozenset(("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"))
INVISIBLE_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
SHORT_ESCAPES = {"\r": "\\r", "\x1b": "\\x1b", "\x00": "\\0", "\x07": "\\a", "\x08": "\\b"}

STACKED_MARKS = re.compile(r"(?<=[\u0300-\u036f\u20d0-\u20f0]{3})[\u0300-\u036f\u20d0-\u20f0]+")
CI_COMMAND = re.compile(r"^\s*(?=::)|##(?=\[)", re.MULTILINE)
UNIX_PATH = re.compile(r"(?:file://|(?<![\w/.)\]]))(?:/[^/\s'\"<>:;,()\[\]]+){2,}")
WINDOWS_PATH = re.compile(r"(?<!\w)[A-Za-z]:\\(?:[^\\\s'\"<>:;,()\[\]]+\\)*[^\\\s'\"<>:;,()\[\]]+")
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
FORMULA = re.compile(r"(^|[\n,;])([ \t]*)([=+\-@|%\uff1d\uff0b\uff0d\uff20]|(?<=\t))")

CUT = " … (cut here)"


def plain(text: str) -> str:
    """Return the text with everything invisible or reordering written out; newline and tab stay."""
    text = text.replace("\r\n", "\n")
    if text.isascii() and text.isprintable():
        return text
    visible = "".join(_visible(character) for character in text)
    return STACKED_MARKS.sub(lambda marks: "".join(map(_escape, marks[0])), visible)


def one_line(text: str) -> str:
    """Return plain text on a single line, for names, titles and table cells."""
    return " ".join(plain(text).split())


def message(text: str) -> str:
    """Return plain text without what it could tell about the grading machine: paths become names, addresses go."""
    text = plain(text)
    text = UNIX_PATH.sub(_last_of_path, text)
    text = WINDOWS_PATH.sub(_last_of_path, text)
    return ADDRESS.sub("0x…", text)


def log_safe(text: str) -> str:
    """Return text that a CI system will not take for a command of its own (`::error::`, `##[group]`)."""
    return CI_COMMAND.sub(lambda found: found[0] + "\\", text)


def cell(text: str) -> str:
    """Return text for a CSV cell that no spreadsheet will evaluate, even if it splits the cell once more."""
    return FORMULA.sub(r"\1'\2\3", plain(text))


def cut(text: str, most_bytes: int) -> str:
    """Return the text, shortened to so many UTF-8 bytes, with a sign that it was shortened."""
    data = text.encode("utf-8", "replace")
    if len(data) <= most_bytes:
        return text
    mark = CUT.encode()
    if most_bytes <= len(mark):
        return ""
    return data[: most_bytes - len(mark)].decode("utf-8", "ignore").rstrip() + CUT


def _visible(character: str) -> str:
    if character in SHOWN_AS_THEY_ARE:
        return character
    if unicodedata.category(character) in INVISIBLE_CATEGORIES or character in INVISIBLE_LETTERS:
        return _escape(character)
    if "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef":
        return _escape(character)
    return character


def _escape(character: str) -> str:
    if character in SHORT_ESCAPES:
        return SHORT_ESCAPES[character]
    point = ord(character)
    if point <= 0xFF:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"


def _last_of_path(path: re.Match[str]) -> str:
    return re.split(r"[/\\]", path[0])[-1]
