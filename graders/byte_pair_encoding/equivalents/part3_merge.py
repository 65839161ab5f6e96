"""Other right ways to merge a pair."""

from reference import byte_pair_encoding as ref
from softmark import equivalent


@equivalent(ref.merge)
def with_the_last_symbol(word, pair):
    """Join a symbol with the last one of the result."""
    merged, open_for_merge = [], False
    for symbol in word:
        if open_for_merge and (merged[-1], symbol) == tuple(pair):
            merged[-1] += symbol
            open_for_merge = False
        else:
            merged.append(symbol)
            open_for_merge = True
    return merged
