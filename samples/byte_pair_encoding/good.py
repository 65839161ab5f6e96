"""A sample submission: everything is right; words are tuples, and training looks through all counts."""

import re
from collections import Counter, defaultdict

PIECE = re.compile(r" ?[^\W\d_]+| ?\d+| ?(?:[^\w\s]|_)+|\s+(?!\S)|\s+")


def pieces(text):
    return PIECE.findall(text)


def segments(text, specials):
    if not specials:
        return [text] if text else []
    pattern = "|".join(re.escape(special) for special in sorted(specials, key=len, reverse=True))
    return [part for part in re.split(f"({pattern})", text) if part]


def _symbols(piece):
    return [bytes([byte]) for byte in piece.encode("utf-8")]


def _pairs(word):
    return list(zip(word, word[1:]))


def count_words(text, specials):
    counts = Counter()
    for part in segments(text, specials):
        if part not in specials:
            counts.update(pieces(part))
    return [(_symbols(piece), count) for piece, count in counts.items()]


def pair_counts(words):
    counts = Counter()
    for word, count in words:
        for pair in _pairs(word):
            counts[pair] += count
    return counts


def merge(word, pair):
    merged, i = [], 0
    while i < len(word):
        if tuple(word[i : i + 2]) == tuple(pair):
            merged.append(word[i] + word[i + 1])
            i += 2
        else:
            merged.append(word[i])
            i += 1
    return merged


def train(text, size, specials):
    return fast_train(text, size, specials)


def encode(text, merges, specials):
    rank = {tuple(pair): number for number, pair in enumerate(merges)}
    token = {a + b: 256 + number for (a, b), number in rank.items()}
    ids = []
    for part in segments(text, specials):
        if part in specials:
            ids.append(256 + len(merges) + specials.index(part))
            continue
        for piece in pieces(part):
            word = _symbols(piece)
            while len(word) > 1:
                best = min(_pairs(word), key=lambda pair: rank.get(pair, len(rank)))
                if best not in rank:
                    break
                word = merge(word, best)
            ids += [symbol[0] if len(symbol) == 1 else token[symbol] for symbol in word]
    return ids


def decode(ids, vocabulary):
    return b"".join(vocabulary[i] for i in ids).decode("utf-8", "replace")


def fast_train(text, size, specials):
    words = count_words(text, specials)
    counts, places = Counter(), defaultdict(set)
    for number, (word, count) in enumerate(words):
        for pair in _pairs(word):
            counts[pair] += count
            places[pair].add(number)
    vocabulary = {i: bytes([i]) for i in range(256)}
    merges = []
    while len(vocabulary) + len(specials) < size and counts:
        best = max(counts, key=lambda pair: (counts[pair], pair))
        if counts[best] < 2:
            break
        vocabulary[len(vocabulary)] = best[0] + best[1]
        merges.append(best)
        for number in places.pop(best):
            word, count = words[number]
            for pair in _pairs(word):
                counts[pair] -= count
            word = merge(word, best)
            for pair in _pairs(word):
                counts[pair] += count
                places[pair].add(number)
            words[number] = word, count
        del counts[best]
    for special in specials:
        vocabulary[len(vocabulary)] = special.encode()
    return vocabulary, merges
