"""Other right analogies."""

import torch
import torch.nn.functional as F

from reference import word_vectors as ref
from softmark import equivalent


@equivalent(ref.analogy)
def cosine_of_the_library(E, a, b, c, k):
    cosine = F.cosine_similarity(E, (E[c] + E[b] - E[a])[None], dim=-1)
    others = sorted(set(range(len(E))) - {a, b, c}, key=lambda word: -cosine[word].item())
    return others[:k]


@equivalent(ref.analogy)
def masked_and_sorted(E, a, b, c, k):
    q = E[b] - E[a] + E[c]
    cosine = F.normalize(E, dim=-1) @ F.normalize(q, dim=-1)
    cosine[[a, b, c]] = -torch.inf
    return torch.argsort(-cosine, stable=True)[:k].tolist()


@equivalent(ref.analogy)
def one_word_after_the_other(E, a, b, c, k):
    q = (E[b] + E[c] - E[a]).tolist()
    near = []
    for word, e in enumerate(E.tolist()):
        squares = sum(x * x for x in q) * sum(x * x for x in e)
        product = sum(x * y for x, y in zip(q, e, strict=True))
        if word not in (a, b, c):
            near.append((-product / squares**0.5 if squares else 0.0, word))
    return [word for _, word in sorted(near)[:k]]


@equivalent(ref.analogy)
def best_again_and_again(E, a, b, c, k):
    q = E[b] - E[a] + E[c]
    cosine = (E @ q) / (E.norm(dim=1) * q.norm()).clamp(min=1e-30)
    left, answers = [word for word in range(len(E)) if word not in {a, b, c}], []
    while len(answers) < k:
        best = max(left, key=lambda word: (cosine[word].item(), -word))
        answers.append(best)
        left.remove(best)
    return answers
