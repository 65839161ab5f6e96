"""The calls of the public worked examples; `softmark build` writes the reference's answers into the handout."""

import torch

from reference import word_vectors as ref
from softmark import example, numbers

IDS = [4, 2, 0, 2, 5, 1]
E, U = numbers("E", 6, 3), numbers("U", 6, 3)
CONTEXTS = torch.tensor([[1, 3, 5], [0, 4, 4], [2, 0, 1], [5, 5, 3]])
MASK = torch.tensor([[True, True, True], [True, False, True], [False, False, True], [False, True, False]])
CENTRES, TARGETS = torch.tensor([3, 0, 3, 5]), torch.tensor([2, 5, 0, 1])
NEGATIVES = torch.tensor([[1, 4], [2, 2], [0, 3], [5, 1]])
FAR_E = torch.tensor([[400.0, 0.3], [0.2, 1.0]], dtype=torch.float64)
FAR_U = torch.tensor([[-2.0, 0.5], [0.0, 1.5]], dtype=torch.float64)
COUNTS = torch.tensor([[0.5, 3.0, 1.5], [2.0, 0.25, 6.0], [4.0, 1.0, 2.5]], dtype=torch.float64)
SOME_COUNTS = torch.tensor([[0.0, 3.0, 0.5], [2.0, 0.0, 0.0], [0.0, 1.0, 9.0]], dtype=torch.float64)
GLOVE = numbers("W", 3, 2, most=1), numbers("W2", 3, 2, most=1), numbers("b", 3, most=1), numbers("b2", 3, most=1)
TIED = torch.tensor([[1, 0], [2, 0], [0, 2], [0, 4], [0, 3], [4, 0], [0, 0], [0, 5], [1, 1]], dtype=torch.float64)

EXAMPLES = {
    "skip_gram_pairs": example(ref.skip_gram_pairs, IDS, 2),
    "skip_gram_pairs, a repeated word": example(ref.skip_gram_pairs, [3, 3, 1, 3], 1),
    "skip_gram_pairs, one word": example(ref.skip_gram_pairs, [7], 2),
    "cbow_examples": example(ref.cbow_examples, IDS, 2),
    "cbow_examples, a repeated word": example(ref.cbow_examples, [3, 3, 1, 3], 1),
    "cbow_examples, one word": example(ref.cbow_examples, [7], 2),
    "cbow_loss": example(ref.cbow_loss, E, U, CONTEXTS, torch.ones_like(MASK), TARGETS),
    "cbow_loss, padding": example(ref.cbow_loss, E, U, CONTEXTS, MASK, TARGETS),
    "cbow_loss, an empty context": example(
        ref.cbow_loss, E, U, CONTEXTS[:2], torch.tensor([[False, False, False], [True, False, True]]), TARGETS[:2]
    ),
    "cbow_loss, far out": example(ref.cbow_loss, 300 * E, U, CONTEXTS, MASK, TARGETS),
    "skip_gram_loss": example(ref.skip_gram_loss, E, U, CENTRES, TARGETS),
    "skip_gram_loss, far out": example(ref.skip_gram_loss, 300 * E, U, CENTRES, TARGETS),
    "negative_sampling_loss": example(ref.negative_sampling_loss, E, U, CENTRES, TARGETS, NEGATIVES),
    "negative_sampling_loss, a word drawn twice": example(
        ref.negative_sampling_loss, E, U, CENTRES[1:2], TARGETS[1:2], NEGATIVES[1:2]
    ),
    "negative_sampling_loss, a far neighbour": example(
        ref.negative_sampling_loss, FAR_E, FAR_U, torch.tensor([0]), torch.tensor([0]), torch.tensor([[1, 1]])
    ),
    "negative_sampling_loss, far out": example(ref.negative_sampling_loss, 300 * E, U, CENTRES, TARGETS, NEGATIVES),
    "cooccurrence": example(ref.cooccurrence, [3, 0, 4, 1, 2], 5, 3),
    "cooccurrence, repeated words": example(ref.cooccurrence, [1, 1, 0, 2, 1], 4, 2),
    "cooccurrence, one word": example(ref.cooccurrence, [1], 2, 3),
    "glove_loss": example(ref.glove_loss, COUNTS, *GLOVE, 5.0, 0.75),
    "glove_loss, counts of zero": example(ref.glove_loss, SOME_COUNTS, *GLOVE, 5.0, 0.75),
    "glove_loss, all weights 1": example(ref.glove_loss, SOME_COUNTS, *GLOVE, 5.0, 0.0),
    "subwords": example(ref.subwords, "glove", 3, 5),
    "subwords, a repeated piece": example(ref.subwords, "papa", 2, 2),
    "subwords, a short word": example(ref.subwords, "a", 3, 6),
    "fasttext": example(ref.fasttext, "glove", numbers("table", 8, 3), 3, 4),
    "fasttext, a repeated piece": example(ref.fasttext, "papa", numbers("table", 8, 3), 2, 2),
    "fasttext, an accent": example(ref.fasttext, "é", numbers("table", 8, 3), 3, 3),
    "fasttext, no piece": example(ref.fasttext, "a", numbers("table", 8, 3), 4, 6),
    "analogy": example(ref.analogy, numbers("E", 9, 3), 4, 0, 6, 4),
    "analogy, equal words": example(ref.analogy, numbers("E", 7, 2), 2, 5, 2, 3),
    "analogy, ties and zeros": example(ref.analogy, TIED, 0, 1, 2, 6),
}
