"""A sample submission: of equally frequent pairs the first one is merged, and every word is looked at for each merge."""

import re


def pieces(text):
    return re.findall(r" ?[^\W\d_]+| ?\d+| ?(?:[^\w\s]|_)+|\s+(?!\S)|\s+", text)


def segments(text, specials):
    if not specials:
        return [text] if text else []
    pattern = "|".join(map(re.escape, sorted(specials, key=len, reverse=True)))
    return [part for part in re.split("(" + pattern + ")", text) if part]


def count_words(text, specials):
    counts = {}
    for part in segments(text, specials):
        if part in specials:
            continue
        for piece in pieces(part):
            counts[piece] = counts.get(piece, 0) + 1
    return [([bytes([b]) for b in piece.encode()], count) for piece, count in counts.items()]


def pair_counts(words):
    counts = {}
    for word, count in words:
        for i in range(len(word) - 1):
            counts[word[i], word[i + 1]] = counts.get((word[i], word[i + 1]), 0) + count
    return counts


def merge(word, pair):
    merged = []
    i = 0
    while i < len(word):
        if i + 1 < len(word) and word[i] == pair[0] and word[i + 1] == pair[1]:
            merged.append(pair[0] + pair[1])
            i += 2
        else:
            merged.append(word[i])
            i += 1
    return merged


def trained(text, size, specials, best_of):
    words = count_words(text, specials)
    merges = []
    while 256 + len(merges) + len(specials) < size:
        counts = pair_counts(words)
        if not counts:
            break
        best = best_of(counts)
        if counts[best] < 2:
            break
        merges.append(best)
        words = [(merge(word, best), count) for word, count in words]
    tokens = [bytes([b]) for b in range(256)] + [a + b for a, b in merges] + [s.encode() for s in specials]
    return dict(enumerate(tokens)), merges


def train(text, size, specials):
    return trained(text, size, specials, lambda counts: max(counts, key=counts.get))


def encode(text, merges, specials):
    ids = []
    token = {a + b: 256 + rank for rank, (a, b) in enumerate(merges)}
    for part in segments(text, specials):
        if part in specials:
            ids.append(256 + len(merges) + specials.index(part))
            continue
        for piece in pieces(part):
            word = [bytes([b]) for b in piece.encode()]
            for pair in merges:
                word = merge(word, pair)
            ids += [symbol[0] if len(symbol) == 1 else token[symbol] for symbol in word]
    return ids


def decode(ids, vocabulary):
    return "".join(vocabulary[i].decode("utf-8", errors="replace") for i in ids)


def fast_train(text, size, specials):
    return trained(text, size, specials, lambda counts: max(counts, key=lambda pair: (counts[pair], pair)))
