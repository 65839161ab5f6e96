"""Other right ways to write part 2."""

from collections import defaultdict

from reference import text_features as ref
from softmark import equivalent


@equivalent(ref.vocabulary)
def with_places(documents, size):
    """Order by the count and then by the first place, in one sort."""
    words = [word for document in documents for word in ref.tokens(document)]
    order = sorted(set(words), key=lambda word: (-words.count(word), words.index(word)))
    return {word: rank + 4 for rank, word in enumerate(order[:size])}


@equivalent(ref.vocabulary)
def stable_sort(documents, size):
    """A plain dictionary keeps the order of appearance, and sorting keeps the order of ties."""
    counts = {}
    for word in ref.tokens(" ".join(documents)):
        counts[word] = counts.get(word, 0) + 1
    order = sorted(counts, key=counts.get, reverse=True)
    return dict(zip(order[:size], range(4, 4 + len(order)), strict=False))


@equivalent(ref.vocabulary)
def one_after_the_other(documents, size):
    """Take the most frequent word that is left, `size` times."""
    counts = defaultdict(int)
    for document in documents:
        for word in ref.tokens(document):
            counts[word] += 1
    ids = {}
    while counts and len(ids) < size:
        best = max(counts, key=counts.__getitem__)
        ids[best] = 4 + len(ids)
        del counts[best]
    return ids
