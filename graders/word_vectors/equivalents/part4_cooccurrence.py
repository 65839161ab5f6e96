"""Other right counts of neighbours."""

import torch

from reference import word_vectors as ref
from softmark import equivalent


@equivalent(ref.cooccurrence)
def both_sides_of_each_place(ids, size, window):
    counts = [[0.0] * size for _ in range(size)]
    for i, word in enumerate(ids):
        for j in range(max(0, i - window), min(len(ids), i + window + 1)):
            if i != j:
                counts[word][ids[j]] += 1 / abs(i - j)
    return torch.tensor(counts, dtype=torch.float64)


@equivalent(ref.cooccurrence)
def distance_after_distance(ids, size, window):
    X = torch.zeros(size, size, dtype=torch.float64)
    words = torch.tensor(ids, dtype=torch.long)
    for r in range(1, window + 1):
        left, right = words[:-r], words[r:]
        X.index_put_((left, right), torch.full((len(left),), 1 / r, dtype=X.dtype), accumulate=True)
    return X + X.T


@equivalent(ref.cooccurrence)
def products_of_one_hot_rows(ids, size, window):
    rows = torch.nn.functional.one_hot(torch.tensor(ids, dtype=torch.long), size).double()
    places = torch.arange(len(ids))
    distance = (places - places[:, None]).abs()
    weight = torch.where((distance > 0) & (distance <= window), 1 / distance.clamp(min=1).double(), 0)
    return rows.T @ weight @ rows


@equivalent(ref.cooccurrence)
def sums_in_a_dictionary(ids, size, window):
    sums = {}
    for i in range(len(ids)):
        for j in range(i + 1, min(i + window, len(ids) - 1) + 1):
            for pair in ((ids[i], ids[j]), (ids[j], ids[i])):
                sums[pair] = sums.get(pair, 0) + 1 / (j - i)
    return torch.tensor([[float(sums.get((a, b), 0)) for b in range(size)] for a in range(size)])
