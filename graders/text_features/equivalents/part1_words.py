"""Other right ways to write part 1."""

import re
from itertools import groupby

from reference import text_features as ref
from softmark import equivalent


@equivalent(ref.tokens)
def letter_by_letter(text):
    """Look at each sign and its neighbours."""
    text = text.lower()
    found, word = [], ""
    for place, sign in enumerate(text):
        inside = 0 < place < len(text) - 1 and text[place - 1].isalnum() and text[place + 1].isalnum()
        if sign.isalnum() or (sign == "'" and inside):
            word += sign
        elif word:
            found.append(word)
            word = ""
    return [*found, word] if word else found


@equivalent(ref.tokens)
def grouped(text):
    """Cut into runs of letters and of other signs, and join runs with a single apostrophe in between."""
    runs = ["".join(group) for _, group in groupby(text.lower(), str.isalnum)]
    found, joined = [], False
    for run in runs:
        if not run[0].isalnum():
            joined = run == "'"
        elif joined and found:
            found[-1] += "'" + run
        else:
            found.append(run)
    return found


@equivalent(ref.tokens)
def split_by_the_rest(text):
    """Split at everything that belongs to no word."""
    separators = r"(?:[\W_](?<!')|(?<![^\W_])'|'(?![^\W_]))+"
    return [word for word in re.split(separators, text.lower()) if word]


@equivalent(ref.ngrams)
def shifted_lists(tokens, n):
    """Put n shifted copies of the list side by side."""
    return [" ".join(words) for words in zip(*(tokens[shift:] for shift in range(n)), strict=False)]


@equivalent(ref.ngrams)
def in_a_loop(tokens, n):
    """Append to a window, and drop its first word."""
    found, window = [], []
    for word in tokens:
        window = [*window, word][-n:]
        if len(window) == n:
            found.append(" ".join(window))
    return found


@equivalent(ref.char_ngrams)
def shifted_words(word, n):
    """Put n shifted copies of the word side by side."""
    return list(map("".join, zip(*(word[shift:] for shift in range(n)), strict=False)))


@equivalent(ref.char_ngrams)
def by_their_ends(word, n):
    """Let the end run, not the beginning."""
    found = []
    for end in range(n, len(word) + 1):
        found.append(word[end - n : end])
    return found
