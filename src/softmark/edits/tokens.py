"""Splits Python text into tokens, so that spaces, comments and line breaks do not matter when old text is searched.

Python's own `tokenize` refuses pieces of programs, such as `softmax(s,`. Old text is usually such a piece.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(
    r"""
    (?P<skipped> \s+ | \#[^\n]* | \\\r?\n )
    | [^\W\d]\w*+ (?!["'])
    | [][(){},:;] (?!=)
    | [rRbBuUfF]{0,2} (?: \"{3}(?:[^\\]|\\.)*?\"{3} | '{3}(?:[^\\]|\\.)*?'{3} )
    | [rRbBuUfF]{0,2} (?: "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' )
    | 0[xXoObB][0-9a-fA-F_]+
    | (?: \d[\d_]*\.?[\d_]* | \.\d[\d_]* ) (?: [eE][+-]?\d[\d_]* )? [jJ]?
    | \w+
    | \*\*= | //= | >>= | <<= | \.\.\. | -> | := | [-+*/%@&|^=!<>]= | \*\* | // | << | >>
    | .
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class PythonToken:
    """A token, with its place in the text."""

    text: str
    start: int
    end: int


@lru_cache(maxsize=4096)
def tokens_of(text: str) -> tuple[PythonToken, ...]:
    """Return the tokens of a piece of Python text, without comments, spaces and line breaks."""
    return tuple(
        PythonToken(found[0], found.start(), found.end()) for found in _TOKEN.finditer(text) if found["skipped"] is None
    )


def words_of(text: str) -> tuple[str, ...]:
    """Return the texts of the tokens. Texts with the same words differ at most in spaces, comments and line breaks."""
    return tuple(token.text for token in tokens_of(text))
