"""A sample submission: the upload ended in the middle of a line."""

import re


def tokens(text):
    return re.findall(r"[^\W_]+(?:'[^\W_]+)*", text.lower())


def ngrams(tokens, n):
    return [" ".join(tokens[i : i + n]) for i in range(len(tokens
