"""Other right ways to write part 3."""

from itertools import chain, islice, repeat

from reference import text_features as ref
from softmark import equivalent


@equivalent(ref.encode)
def written_into_zeros(text, vocabulary, length):
    """Begin with padding alone."""
    ids = [0] * length
    ids[0] = 1
    for place, word in enumerate(ref.tokens(text), start=1):
        if place == length:
            break
        if word not in vocabulary:
            ids[place] = 2
        else:
            ids[place] = vocabulary[word]
    return ids


@equivalent(ref.encode)
def endless_padding(text, vocabulary, length):
    """Cut a sequence that has no end."""
    words = (vocabulary.get(word, 2) for word in ref.tokens(text))
    return list(islice(chain([1], words, repeat(0)), length))


@equivalent(ref.encode)
def cut_words_first(text, vocabulary, length):
    """Leave a place for START when the words are cut."""
    ids = [1]
    for word in ref.tokens(text)[: length - 1]:
        try:
            ids.append(vocabulary[word])
        except KeyError:
            ids.append(2)
    while len(ids) < length:
        ids.append(0)
    return ids


@equivalent(ref.decode)
def one_word_at_a_time(ids, vocabulary):
    """Look for the word of each id in the vocabulary."""
    found = ""
    for i in ids:
        if i == 0:
            continue
        word = {1: "[START]", 2: "[UNK]", 3: "[UNUSED]"}.get(i, "?")
        for known, its_id in vocabulary.items():
            if its_id == i:
                word = known
        found += " " + word
    return found.strip(" ")


@equivalent(ref.decode)
def turned_round(ids, vocabulary):
    """Turn the vocabulary round, and let None stand for PAD."""
    words = dict(zip(vocabulary.values(), vocabulary.keys(), strict=True))
    words |= {0: None, 1: "[START]", 2: "[UNK]", 3: "[UNUSED]"}
    return " ".join(filter(None, [words.get(i, "?") for i in ids]))
