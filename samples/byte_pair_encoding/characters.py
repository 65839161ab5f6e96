"""A sample submission: it works with characters and not with bytes, and writes part 7 not at all."""

import re


def pieces(text):
    return re.findall(r" ?[^\W\d_]+| ?\d+| ?(?:[^\w\s]|_)+|\s+(?!\S)|\s+", text)


def segments(text, specials):
    return [part for part in re.split("|".join(specials), text) if part]


def count_words(text, specials):
    counts = {}
    for part in segments(text, specials):
        for piece in pieces(part):
            counts[piece] = counts.get(piece, 0) + 1
    return [(list(piece), count) for piece, count in counts.items()]


def pair_counts(words):
    counts = {}
    for word, count in words:
        for pair in zip(word, word[1:]):
            counts[pair] = counts.get(pair, 0) + count
    return counts


def merge(word, pair):
    i = 0
    while i + 1 < len(word):
        if (word[i], word[i + 1]) == pair:
            word[i] += word.pop(i + 1)
        i += 1
    return word


def train(text, size, specials):
    raise NotImplementedError("part 4: train")


def decode(ids, vocabulary):
    return b"".join(vocabulary[i] for i in ids).decode(errors="replace")
