"""Other right ways to merge a pair."""

from reference import byte_pair_encoding as ref
from softmark import equivalent


@equivalent(ref.merge)
def with_the_last_symbol(word, pair):
    """Join a symbol with the last one of the result, if that has not been joined."""
    merged, may_join = [], False
    for symbol in word:
        may_join = may_join and (merged[-1], symbol) == tuple(pair)
        if may_join:
            merged[-1] += symbol
            may_join = False
        else:
            merged.append(symbol)
            may_join = True
    return merged


@equivalent(ref.merge)
def in_a_copy(word, pair):
    word, i = list(word), 0
    while i < len(word) - 1:
        if tuple(word[i : i + 2]) == tuple(pair):
            word[i : i + 2] = [b"".join(pair)]
        i += 1
    return word


@equivalent(ref.merge)
def with_an_iterator(word, pair):
    merged, skip = [], False
    for symbol, following in zip(word, [*word[1:], None], strict=False):
        if skip:
            skip = False
            continue
        skip = (symbol, following) == (pair[0], pair[1])
        merged.append(symbol + following if skip else symbol)
    return tuple(merged)


@equivalent(ref.merge)
def by_recursion(word, pair):
    for i in range(len(word) - 1):
        if word[i] == pair[0] and word[i + 1] == pair[1]:
            return [*word[:i], pair[0] + pair[1], *by_recursion(word[i + 2 :], pair)]
    return list(word)
