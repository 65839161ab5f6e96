"""Inputs that the hidden tests draw: texts, documents with given counts, padded ids, and counts."""

import torch

from reference import text_features as ref
from softmark import draw, draw_integers, draw_text

BATCHES = [(), (3,), (2, 4), (1,), (1, 3)]
BOTH_DTYPES = [torch.float64, torch.float32]
NAMES_OF_BATCHES = [f"batch{'x'.join(map(str, batch))}" for batch in BATCHES]
NAMES_OF_DTYPES = ["float64", "float32"]
_PIECES = ["'", "''", "_", "-", " ", " ", "\n", "\t", ".", ",", "’", "a", "Bc", "É", "ß", "ж", "学", "7", "40", "eF"]


def draw_order(count):
    """Draw an order of this many things."""
    return draw("count", count=count).argsort().tolist()


def draw_signs(count):
    """Draw a text of this many pieces in which letters, apostrophes and other signs meet in any order."""
    return "".join(_PIECES[piece] for piece in draw_integers(0, len(_PIECES), "count", count=count).tolist())


def draw_words(count):
    """Draw different words, in lower case."""
    return ref.tokens(draw_text(count, different=count)) if count else []


def draw_counted(*times, documents=3):
    """Draw documents in which one word occurs as often as the first number says, another one as the second, …"""
    words = draw_words(len(times))
    drawn = [word for word, often in zip(words, times, strict=True) for _ in range(often)]
    drawn = [drawn[place] for place in draw_order(len(drawn))]
    return [" ".join(drawn[start::documents]) for start in range(documents)]


def draw_known(count):
    """Draw the ids of this many words. The dictionary is in no order, and the words are in the order of the ids."""
    words = draw_words(count)
    return {words[rank]: 4 + rank for rank in draw_order(count)}, words


def draw_ids(size, batch=(), T=6):
    """Draw padded ids: in each text some words occur repeatedly, and each reserved id may occur in the middle, too."""
    ids = draw_integers(0, size + 4, "batch T", batch=batch, T=T)
    repeated = draw_integers(0, 2, "batch T", batch=batch, T=T).bool()
    ids = torch.where(repeated, 4 + ids % max(1, size // 2), ids)
    return torch.where(torch.arange(T) > max(1, 2 * T // 3), 0, ids)


def draw_counts(N, V, dtype=torch.float64):
    """Draw counts of words in texts: many are 0; of several words one is in no text, another one in all of them."""
    counts = draw_integers(0, 6, "N V", N=N, V=V) * draw_integers(0, 2, "N V", N=N, V=V)
    counts[:1, : max(1, V // 2)] += 1
    if V > 2:
        counts[:, V // 2] = 0
        counts[:, -1] += 1
    return counts.to(dtype)


def draw_rows(batch, m, d, dtype=torch.float64):
    """Draw rows of numbers, none of them short."""
    rows = draw("batch m d", batch=batch, m=m, d=d)
    return (rows + rows.sign() / 2).to(dtype)
