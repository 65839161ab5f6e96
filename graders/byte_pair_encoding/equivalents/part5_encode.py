"""Other right ways from text to ids."""

import itertools
from functools import lru_cache

from reference import byte_pair_encoding as ref
from softmark import equivalent


@equivalent(ref.encode)
def with_infinite_ranks(text, merges, specials):
    rank = {tuple(pair): r for r, pair in enumerate(merges)}
    first_special = 256 + len(merges)
    ids = []
    for segment in ref.segments(text, specials):
        if segment in specials:
            ids.append(first_special + specials.index(segment))
        else:
            for piece in ref.pieces(segment):
                data = piece.encode("utf-8")
                word = [data[i : i + 1] for i in range(len(data))]
                while len(word) > 1:
                    lowest = min(itertools.pairwise(word), key=lambda pair: rank.get(pair, float("inf")))
                    if lowest not in rank:
                        break
                    word = ref.merge(word, lowest)
                made = {a + b: 256 + r for (a, b), r in rank.items()}
                ids.extend(symbol[0] if len(symbol) == 1 else made[symbol] for symbol in word)
    return ids


@equivalent(ref.encode)
def with_a_cache_in_the_call(text, merges, specials):
    ids = {bytes([i]): i for i in range(256)} | {a + b: 256 + r for r, (a, b) in enumerate(merges)}

    @lru_cache
    def encoded(piece):
        word = [bytes([byte]) for byte in piece.encode()]
        changed = True
        while changed:
            changed = False
            for pair in merges:
                if pair in list(itertools.pairwise(word)):
                    word, changed = ref.merge(word, pair), True
                    break
        return tuple(ids[symbol] for symbol in word)

    number = {special: 256 + len(merges) + i for i, special in enumerate(specials)}
    parts = ref.segments(text, specials)
    of_parts = [(number[p],) if p in number else sum(map(encoded, ref.pieces(p)), ()) for p in parts]
    return [i for part in of_parts for i in part]


@equivalent(ref.encode)
def on_numbers(text, merges, specials):
    known = {bytes([i]): i for i in range(256)} | {a + b: 256 + r for r, (a, b) in enumerate(merges)}
    rule = {(known.get(a), known.get(b)): 256 + r for r, (a, b) in enumerate(merges)}
    result = []
    for segment in ref.segments(text, specials):
        if segment in specials:
            result += [256 + len(merges) + specials.index(segment)]
            continue
        for piece in ref.pieces(segment):
            ids = list(piece.encode())
            while new := min((rule[p] for p in itertools.pairwise(ids) if p in rule), default=None):
                merged, i = [], 0
                while i < len(ids):
                    fits = rule.get(tuple(ids[i : i + 2])) == new
                    merged.append(new if fits else ids[i])
                    i += 2 if fits else 1
                ids = merged
            result += ids
    return result
