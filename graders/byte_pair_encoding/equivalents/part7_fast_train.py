"""Other right ways to train with little work."""

import heapq
import itertools
from collections import Counter, defaultdict

from reference import byte_pair_encoding as ref
from softmark import equivalent


def _result(merges, specials):
    tokens = [bytes([i]) for i in range(256)] + [a + b for a, b in merges] + [s.encode() for s in specials]
    return dict(enumerate(tokens)), merges


@equivalent(ref.fast_train)
def all_counts_are_looked_through(text, size, specials):
    words = ref.count_words(text, specials)
    counts, places = Counter(), defaultdict(set)
    for i, (word, count) in enumerate(words):
        for pair in itertools.pairwise(word):
            counts[pair] += count
            places[pair].add(i)
    merges = []
    while 256 + len(merges) + len(specials) < size and counts:
        best = max(counts, key=lambda pair: (counts[pair], pair))
        if counts[best] < 2:
            break
        merges.append(best)
        for i in list(places[best]):
            word, count = words[i]
            for pair in itertools.pairwise(word):
                counts[pair] -= count
                places[pair].discard(i)
            word = ref.merge(word, best)
            for pair in itertools.pairwise(word):
                counts[pair] += count
                places[pair].add(i)
            words[i] = word, count
        del counts[best]
    return _result(merges, specials)


class _Greatest:
    """A pair in a heap: the most frequent one first, of equally frequent ones the greatest."""

    def __init__(self, count, pair):
        self.count, self.pair = count, pair

    def __lt__(self, other):
        return (self.count, self.pair) > (other.count, other.pair)


@equivalent(ref.fast_train)
def with_a_heap(text, size, specials):
    words = [list(word) for word, _ in ref.count_words(text, specials)]
    times = [count for _, count in ref.count_words(text, specials)]
    counts, places = defaultdict(int), defaultdict(set)
    for i, word in enumerate(words):
        for pair in itertools.pairwise(word):
            counts[pair] += times[i]
            places[pair].add(i)
    heap = [_Greatest(count, pair) for pair, count in counts.items()]
    heapq.heapify(heap)
    merges = []
    while heap and len(merges) < size - 256 - len(specials):
        top = heapq.heappop(heap)
        if counts[top.pair] != top.count or top.count < 2:
            continue
        merges.append(top.pair)
        touched = set()
        for i in places.pop(top.pair):
            before = list(zip(words[i], words[i][1:], strict=False))
            words[i] = ref.merge(words[i], top.pair)
            after = list(zip(words[i], words[i][1:], strict=False))
            for pair in before:
                counts[pair] -= times[i]
            for pair in after:
                counts[pair] += times[i]
                places[pair].add(i)
            touched.update(before, after)
        for pair in touched:
            heapq.heappush(heap, _Greatest(counts[pair], pair))
    return _result(merges, specials)
