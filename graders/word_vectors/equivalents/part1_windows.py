"""Other right windows."""

from reference import word_vectors as ref
from softmark import equivalent


@equivalent(ref.skip_gram_pairs)
def pairs_from_examples(ids, window):
    return [(target, word) for context, target in ref.cbow_examples(ids, window) for word in context]


@equivalent(ref.skip_gram_pairs)
def pairs_from_slices(ids, window):
    pairs = []
    for place, centre in enumerate(ids):
        left, right = ids[max(place - window, 0) : place], ids[place + 1 : place + window + 1]
        pairs += [(centre, word) for word in left] + [(centre, word) for word in right]
    return pairs


@equivalent(ref.skip_gram_pairs)
def pairs_from_offsets(ids, window):
    offsets = [offset for offset in range(-window, window + 1) if offset]
    places = range(len(ids))
    return [[ids[place], ids[place + offset]] for place in places for offset in offsets if place + offset in places]


@equivalent(ref.skip_gram_pairs)
def pairs_from_all_places(ids, window):
    found = []
    for i in range(len(ids)):
        for j in range(len(ids)):
            if 0 < abs(i - j) <= window:
                found.append((ids[i], ids[j]))
    return found


@equivalent(ref.cbow_examples)
def contexts_from_places(ids, window):
    return [([word for j, word in enumerate(ids) if 1 <= abs(i - j) <= window], target) for i, target in enumerate(ids)]


@equivalent(ref.cbow_examples)
def contexts_without_the_target(ids, window):
    examples = []
    for i in range(len(ids)):
        start = max(0, i - window)
        context = ids[start : i + window + 1]
        target = context.pop(i - start)
        examples.append([context, target])
    return examples


@equivalent(ref.cbow_examples)
def contexts_of_a_padded_text(ids, window):
    padded = [None] * window + list(ids) + [None] * window
    examples = []
    for i, target in enumerate(ids):
        around = padded[i : i + window] + padded[i + window + 1 : i + 2 * window + 1]
        examples.append(([word for word in around if word is not None], target))
    return examples
