"""Other right ways to write part 1."""

from reference import text_features as ref
from softmark import equivalent


@equivalent(ref.char_ngrams)
def slices(word, n):
    found = []
    for end in range(n, len(word) + 1):
        found.append(word[end - n : end])
    return found
