"""Other right ways to train."""

import itertools
from collections import Counter

from reference import byte_pair_encoding as ref
from softmark import equivalent


@equivalent(ref.train)
def with_a_dictionary_of_words(text, size, specials):
    words = {tuple(word): count for word, count in ref.count_words(text, specials)}
    vocabulary = {i: bytes([i]) for i in range(256)}
    merges = []
    for _ in range(size - 256 - len(specials)):
        counts = Counter()
        for word, count in words.items():
            for pair in itertools.pairwise(word):
                counts[pair] += count
        if not counts or max(counts.values()) == 1:
            break
        most = max(counts.values())
        best = max(pair for pair, count in counts.items() if count == most)
        vocabulary[len(vocabulary)] = best[0] + best[1]
        merges.append(best)
        words = {tuple(ref.merge(list(word), best)): count for word, count in words.items()}
    for special in specials:
        vocabulary[len(vocabulary)] = special.encode("utf-8")
    return vocabulary, merges


@equivalent(ref.train)
def by_sorting(text, size, specials):
    words = ref.count_words(text, specials)
    merges = []
    while True:
        ranked = sorted(((count, *pair) for pair, count in ref.pair_counts(words).items()), reverse=True)
        if size <= 256 + len(specials) + len(merges) or not ranked or ranked[0][0] == 1:
            break
        _, first, second = ranked[0]
        merges += [(first, second)]
        words = [(ref.merge(word, (first, second)), count) for word, count in words]
    made = [a + b for a, b in merges]
    every = [i.to_bytes(1, "little") for i in range(256)] + made + [s.encode() for s in specials]
    return dict(enumerate(every)), merges


@equivalent(ref.train)
def on_ids(text, size, specials):
    """Words are lists of ids; ties are decided by what the ids stand for."""
    words = [([symbol[0] for symbol in word], count) for word, count in ref.count_words(text, specials)]
    token = [bytes([i]) for i in range(256)]
    merges = []
    while len(token) + len(specials) < size:
        counts = Counter()
        for word, count in words:
            for i in range(len(word) - 1):
                counts[word[i], word[i + 1]] += count
        best = max(counts, key=lambda pair: (counts[pair], token[pair[0]], token[pair[1]]), default=None)
        if best is None or counts[best] == 1:
            break
        merges.append((token[best[0]], token[best[1]]))
        token.append(token[best[0]] + token[best[1]])
        words = [(_joined(word, best, len(token) - 1), count) for word, count in words]
    return dict(enumerate(token + [special.encode() for special in specials])), merges


def _joined(word, pair, new):
    joined, i = [], 0
    while i < len(word):
        fits = tuple(word[i : i + 2]) == pair
        joined.append(new if fits else word[i])
        i += 1 + fits
    return joined
