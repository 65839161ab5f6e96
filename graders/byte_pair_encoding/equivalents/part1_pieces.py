"""Other right ways to cut a text."""

import re

from reference import byte_pair_encoding as ref
from softmark import equivalent


def _kind(character):
    if character.isspace():
        return "space"
    if character.isdecimal():
        return "digit"
    return "letter" if character.isalnum() else "sign"


@equivalent(ref.pieces)
def character_by_character(text):
    runs = []
    for character in text:
        if runs and _kind(runs[-1][0]) == _kind(character):
            runs[-1] += character
        else:
            runs.append(character)
    found = []
    for i, run in enumerate(runs):
        if _kind(run[0]) != "space":
            takes_space = bool(i) and runs[i - 1].endswith(" ")
            found.append(" " * takes_space + run)
        elif i + 1 == len(runs):
            found.append(run)
        else:
            found += [part for part in (run[:-1], run[-1:].replace(" ", "")) if part]
    return found


@equivalent(ref.pieces)
def one_pattern_with_finditer(text):
    pattern = re.compile(r"[ ]?(?:[^\W\d_]+|\d+|(?:_|[^\w\s])+)|\s+(?=\s|$(?!\n))|\s+")
    cut, end = [], 0
    for found in pattern.finditer(text):
        assert found.start() == end
        end = found.end()
        cut.append(found.group())
    return cut


@equivalent(ref.segments)
def read_from_the_left(text, specials):
    found, start, i = [], 0, 0
    while i < len(text):
        fitting = [special for special in specials if text.startswith(special, i)]
        if not fitting:
            i += 1
            continue
        longest = max(fitting, key=len)
        if start < i:
            found.append(text[start:i])
        found.append(longest)
        start = i = i + len(longest)
    return found + ([text[start:]] if start < len(text) else [])


@equivalent(ref.segments)
def with_finditer(text, specials):
    found, end = [], 0
    if specials:
        pattern = "|".join(re.escape(s) for s in sorted(specials, key=lambda s: -len(s)))
        for match in re.finditer(pattern, text):
            found += [text[end : match.start()], match[0]]
            end = match.end()
    return list(filter(None, [*found, text[end:]]))
