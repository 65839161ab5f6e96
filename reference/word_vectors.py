"""Word vectors: from a text without labels to a vector for each word.

A text is its own teacher: words that stand among the same neighbours shall get similar vectors. Three ways to do it:

    ids ──► pairs (word, neighbour) ────────► predict one from the other     word2vec   parts 1, 2, 3
        ──► counts of neighbours X_ij ──────► w_i · w'_j ≈ log X_ij          GloVe      parts 4, 5
    word ─► pieces of its spelling ─────────► the sum of their vectors       fastText   part 6

    the vectors ──► which word is to c what b is to a?                                  part 7

Conventions: a word is a whole number, its id, and a vector is a row. There are two matrices with a row for each word,
E for what goes in and U for what comes out (W and W2 in GloVe). A text is a plain list of ids.

Letters: V words in the vocabulary, d features of a vector, N examples in a batch, C words of a context,
K words that are drawn at random, B rows of a table of pieces. i and j count places in a text, or words in X.
"""

import torch
import torch.nn.functional as F

# ------------------------------------------------------------------------------------------------------------
# Part 1: windows
# ------------------------------------------------------------------------------------------------------------


def skip_gram_pairs(ids: list[int], window: int) -> list[tuple[int, int]]:
    """Return each word with each of its neighbours: pairs (centre, context).

    ids                the text, a list of whole numbers; it may be empty
    window             how many words to the left and to the right are neighbours, at least 1
    returns            a list of pairs, in the order of the centres in the text, then in that of their neighbours
    """
    # BEGIN SOLUTION
    pairs = []
    for i, centre in enumerate(ids):
        first, end = max(0, i - window), min(len(ids), i + window + 1)  # the window ends where the text ends
        for j in range(first, end):
            if j != i:  # a place is no neighbour of itself
                pairs.append((centre, ids[j]))
    return pairs
    # END SOLUTION


def cbow_examples(ids: list[int], window: int) -> list[tuple[list[int], int]]:
    """Return all neighbours of each word, with the word: examples (context, target).

    ids                the text, a list of whole numbers; it may be empty
    window             how many words to the left and to the right are neighbours, at least 1
    returns            a list of pairs, one for each place of the text: the ids of the neighbours, in the order of
                       the text, and the id of the word between them
    """
    # BEGIN SOLUTION
    examples = []
    for i, target in enumerate(ids):
        left = ids[max(0, i - window) : i]  # at most `window` ids
        right = ids[i + 1 : i + 1 + window]
        examples.append((left + right, target))
    return examples
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 2: word2vec with the full softmax
# ------------------------------------------------------------------------------------------------------------


def cbow_loss(
    E: torch.Tensor, U: torch.Tensor, contexts: torch.Tensor, mask: torch.Tensor, targets: torch.Tensor
) -> torch.Tensor:
    """Compute -log P(target | context), as a mean over the batch; P is a softmax over the whole vocabulary.

    E: (V, d)          the vectors of words in a context
    U: (V, d)          the vectors of words that are predicted
    contexts: (N, C)   ids; where the mask is False stands any id, which does not count
    mask: (N, C)       True at the words of the context; a context may be empty, its mean is 0
    targets: (N,)      ids
    returns ()         a tensor without axes, with the dtype of E
    """
    # BEGIN SOLUTION
    counted = mask.to(E.dtype)  # (N, C)     1 for a word, 0 for none
    total = (E[contexts] * counted[:, :, None]).sum(dim=1)  # (N, d)     the sum of the words' vectors
    words = counted.sum(dim=1, keepdim=True).clamp(min=1)  # (N, 1)     how many there are
    h = total / words  # (N, d)     their mean
    log_p = torch.log_softmax(h @ U.T, dim=-1)  # (N, V)     for each word of the vocabulary
    of_target = log_p.gather(1, targets[:, None])  # (N, 1)
    return -of_target.mean()  # ()
    # END SOLUTION


def skip_gram_loss(E: torch.Tensor, U: torch.Tensor, centres: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Compute -log P(target | centre), as a mean over the batch; P is a softmax over the whole vocabulary.

    E: (V, d)          the vectors of centres
    U: (V, d)          the vectors of words that are predicted
    centres: (N,)      ids
    targets: (N,)      ids, one neighbour of each centre
    returns ()         a tensor without axes, with the dtype of E
    """
    # BEGIN SOLUTION
    logits = E[centres] @ U.T  # (N, V)
    log_total = torch.logsumexp(logits, dim=-1)  # (N,)       log Σ_w exp(u_w · v)
    of_target = (E[centres] * U[targets]).sum(dim=-1)  # (N,)       u · v of the right word
    return (log_total - of_target).mean()  # ()
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 3: negative sampling
# ------------------------------------------------------------------------------------------------------------


def negative_sampling_loss(
    E: torch.Tensor, U: torch.Tensor, centres: torch.Tensor, positives: torch.Tensor, negatives: torch.Tensor
) -> torch.Tensor:
    """Compute -log σ(u · v) - Σ_k log σ(-u_k · v), as a mean over the batch: real neighbours and words drawn at random.

    E: (V, d)          the vectors v of centres
    U: (V, d)          the vectors u of other words
    centres: (N,)      ids
    positives: (N,)    ids, one real neighbour of each centre
    negatives: (N, K)  ids drawn at random; each counts as often as it stands there, whatever it is
    returns ()         a tensor without axes, with the dtype of E; finite for products up to ±1000
    """
    # BEGIN SOLUTION
    v = E[centres]  # (N, d)
    near = (U[positives] * v).sum(dim=-1)  # (N,)       u · v of the neighbour
    far = (U[negatives] @ v[:, :, None]).squeeze(-1)  # (N, K)     u_k · v of the others
    log_p = F.logsigmoid(near) + F.logsigmoid(-far).sum(dim=-1)  # (N,)
    return -log_p.mean()  # ()
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 4: counts of neighbours
# ------------------------------------------------------------------------------------------------------------


def cooccurrence(ids: list[int], size: int, window: int) -> torch.Tensor:
    """Count how often two words stand near each other; two words at a distance of r places count 1/r.

    ids                the text, a list of whole numbers from 0 to size - 1; it may be empty
    size               the number of words in the vocabulary
    window             how many words to the left and to the right are neighbours, at least 1
    returns            (size, size), float64 (float32 will do): row i has the neighbours of word i, on both sides
    """
    # BEGIN SOLUTION
    X = torch.zeros(size, size, dtype=torch.float64)  # (V, V)
    for j, later in enumerate(ids):
        for r in range(1, min(window, j) + 1):
            earlier = ids[j - r]  # r places to the left
            X[later, earlier] += 1 / r
            X[earlier, later] += 1 / r  # neighbours are so for each other
    return X
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 5: GloVe
# ------------------------------------------------------------------------------------------------------------


def glove_loss(
    X: torch.Tensor,
    W: torch.Tensor,
    W2: torch.Tensor,
    b: torch.Tensor,
    b2: torch.Tensor,
    x_max: float,
    alpha: float,
) -> torch.Tensor:
    """Compute Σ f(X_ij) (w_i · w'_j + b_i + b'_j - log X_ij)² over all i and j with X_ij > 0.

    f(x) = min(1, (x / x_max)^alpha)

    X: (V, V)          counts of neighbours, none below 0, not symmetric in general
    W: (V, d)          the vectors w
    W2: (V, d)         the vectors w'
    b: (V,)            the biases b
    b2: (V,)           the biases b'
    x_max, alpha       numbers of f: x_max above 0, alpha 0 or above
    returns ()         a tensor without axes, with the dtype of W: the sum, not a mean; 0 if no count is above 0
    """
    # BEGIN SOLUTION
    i, j = torch.nonzero(X > 0, as_tuple=True)  # (P,), (P,) the P pairs that occur
    x = X[i, j]  # (P,)
    f = ((x / x_max) ** alpha).clamp(max=1)  # (P,)       frequent pairs count 1
    error = (W[i] * W2[j]).sum(dim=-1) + b[i] + b2[j] - torch.log(x)  # (P,)
    return (f * error**2).sum()  # ()
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 6: fastText
# ------------------------------------------------------------------------------------------------------------


def subwords(word: str, shortest: int, longest: int) -> list[str]:
    """Return the pieces of <word>, the word between two marks: all runs of `shortest` to `longest` characters.

    word               a text, whose characters count, not its bytes; it may be empty
    shortest, longest  1 ≤ shortest ≤ longest
    returns            the pieces, the shortest first, those of one length from left to right; equal ones stay
    """
    # BEGIN SOLUTION
    marked = "<" + word + ">"
    pieces = []
    for n in range(shortest, longest + 1):
        for i in range(len(marked) - n + 1):  # none if the marked word is too short
            pieces.append(marked[i : i + n])
    return pieces
    # END SOLUTION


def fasttext(word: str, table: torch.Tensor, shortest: int, longest: int) -> torch.Tensor:
    """Return the vector of a word, known or not: the sum of the rows of its pieces.

    A piece has the row h mod B, where h is its hash: FNV-1a with 32 bits over its bytes in UTF-8.

    word               as for `subwords`
    table: (B, d)      one vector for each bin; pieces with one bin share its vector
    shortest, longest  as for `subwords`
    returns (d,)       zeros if the word has no piece
    """
    # BEGIN SOLUTION
    rows = []
    for piece in subwords(word, shortest, longest):
        h = 2166136261
        for byte in piece.encode("utf-8"):  # 0, …, 255
            h = (h ^ byte) * 16777619 % 2**32  # first the byte, then the factor
        rows.append(h % len(table))
    return table[rows].sum(dim=0)  # (d,)       a row counts as often as it comes
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 7: analogies
# ------------------------------------------------------------------------------------------------------------


def analogy(E: torch.Tensor, a: int, b: int, c: int, k: int) -> list[int]:
    """Find the words that are to c what b is to a: those whose cosine with b - a + c is largest.

    E: (V, d)          the vectors of the words; one of zeros has the cosine 0 with everything
    a, b, c            ids, which may be equal; none of these words is an answer
    k                  how many answers there are, at least 1 and at most as many as there are other words
    returns            a list of k ids, the best first; of equal cosines the smaller id comes first
    """
    # BEGIN SOLUTION
    q = E[b] - E[a] + E[c]  # (d,)
    lengths = E.norm(dim=-1) * q.norm()  # (V,)
    cosine = (E @ q) / torch.where(lengths > 0, lengths, 1)  # (V,)
    best = torch.sort(cosine, descending=True, stable=True).indices  # (V,)       stable: ties stay in order
    return [i for i in best.tolist() if i not in (a, b, c)][:k]
    # END SOLUTION
