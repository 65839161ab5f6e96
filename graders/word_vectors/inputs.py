"""Draws the inputs of hidden tests of several parts."""

import torch

from softmark import draw, draw_integers

BOTH_DTYPES = [torch.float64, torch.float32]
NAMES_OF_DTYPES = ["float64", "float32"]


def draw_ids(length, words):
    """Draw a text as a list of ids. Words repeat, and one of them stands beside itself if there is room."""
    ids = draw_integers(0, words, "n", n=length).tolist()
    return ids[:2] + ids[1:-1] if length > 2 else ids


def different_ids(length):
    """Return a text in which no word repeats, and ids are in no order."""
    return [(7 * place + 3) % 101 for place in range(length)]


def vectors(V, d, dtype=torch.float64):
    """Draw two matrices with a row for each word."""
    return draw("V d", "V d", V=V, d=d, dtype=dtype)
