"""Other right ways to count words and pairs."""

import itertools
from collections import Counter, defaultdict

from reference import byte_pair_encoding as ref
from softmark import equivalent


@equivalent(ref.count_words)
def with_a_dictionary(text, specials):
    counts = {}
    for segment in ref.segments(text, specials):
        for piece in [] if segment in specials else ref.pieces(segment):
            data = piece.encode("utf-8")
            counts[data] = counts.get(data, 0) + 1
    return [([data[i : i + 1] for i in range(len(data))], count) for data, count in counts.items()]


@equivalent(ref.count_words)
def with_tuples(text, specials):
    words = Counter(
        tuple(byte.to_bytes(1, "big") for byte in piece.encode())
        for segment in ref.segments(text, specials)
        if segment not in set(specials)
        for piece in ref.pieces(segment)
    )
    return list(words.items())


@equivalent(ref.pair_counts)
def with_a_counter(words):
    counts = Counter()
    for word, count in words:
        for pair in itertools.pairwise(word):
            counts[pair] += count
    return counts


@equivalent(ref.pair_counts)
def with_indices(words):
    counts = defaultdict(int)
    for word, count in words:
        for i in range(1, len(word)):
            counts[word[i - 1], word[i]] += count
    return dict(counts)


@equivalent(ref.pair_counts)
def each_word_by_itself(words):
    total = Counter()
    for word, count in words:
        total.update({pair: n * count for pair, n in Counter(itertools.pairwise(word)).items()})
    return dict(sorted(total.items()))
