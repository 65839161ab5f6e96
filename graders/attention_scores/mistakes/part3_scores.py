"""Wrong solutions of part 3: the score matrix."""

import math

import torch

from reference import attention_scores as ref
from softmark import mistake


@mistake(
    ref.scores,
    says="Your scores are √d_k times too large: they are not scaled.",
    hint="Divide the dot products by the square root of the key's width.",
    id="S01",
)
def scores_unscaled(Q, K):
    return Q @ K.transpose(-1, -2)


@mistake(
    ref.scores,
    says="You divide by d_k itself, as one of the lectures does, and not by its square root.",
    hint="This course scales by the square root of the key's width.",
    id="S02",
)
def scores_divided_by_width(Q, K):
    return Q @ K.transpose(-1, -2) / K.shape[-1]


@mistake(
    ref.scores,
    says="Your scale is upside down: you multiply by √d_k.",
    hint="Scores must get smaller by the scaling: divide.",
    id="S05",
)
def scores_multiplied(Q, K):
    return Q @ K.transpose(-1, -2) * math.sqrt(K.shape[-1])


@mistake(
    ref.scores,
    says="You scale by the square root of the number of keys.",
    hint="√d_k is about how wide a key is, not about how many there are: read the last axis of K.",
    id="S07",
)
def scores_root_of_keys(Q, K):
    return Q @ K.transpose(-1, -2) / math.sqrt(K.shape[-2])


@mistake(
    ref.scores,
    says="You scale by the square root of the number of queries.",
    hint="√d_k is about how wide a key is: read the last axis of K.",
)
def scores_root_of_queries(Q, K):
    return Q @ K.transpose(-1, -2) / math.sqrt(Q.shape[-2])


@mistake(
    ref.scores,
    says="You round √d_k to a whole number.",
    hint="Divide by the square root as it is, with its decimals.",
)
def scores_rounded_root(Q, K):
    return Q @ K.transpose(-1, -2) / math.isqrt(K.shape[-1])


@mistake(
    ref.scores,
    says="You divide by half the width: Python reads d ** 1/2 as (d ** 1) / 2.",
    hint="Powers come before quotients: put the exponent in brackets, or use math.sqrt.",
)
def scores_half_width(Q, K):
    return Q @ K.transpose(-1, -2) / (K.shape[-1] ** 1 / 2)


@mistake(
    ref.scores,
    says="You divide by the width and then by 2: Python reads S / d ** 1/2 as (S / d) / 2.",
    hint="Powers come before quotients: put the exponent in brackets, or use math.sqrt.",
)
def scores_width_and_half(Q, K):
    return Q @ K.transpose(-1, -2) / K.shape[-1] ** 1 / 2


@mistake(
    ref.scores,
    says="You divide by 2, however wide a key is.",
    hint="Read the width from the last axis of K.",
)
def scores_divided_by_two(Q, K):
    return Q @ K.transpose(-1, -2) / 2


@mistake(
    ref.scores,
    says="You scale by the first axis of Q: the number of queries, or the batch as soon as there is one.",
    hint="√d_k is about how wide a key is: read the last axis of K.",
)
def scores_root_of_first_axis_of_queries(Q, K):
    return Q @ K.transpose(-1, -2) / math.sqrt(Q.shape[0])


@mistake(
    ref.scores,
    says="You scale by the first axis of K: the number of keys, or the batch as soon as there is one.",
    hint="√d_k is about how wide a key is: read the last axis of K.",
)
def scores_root_of_first_axis_of_keys(Q, K):
    return Q @ K.transpose(-1, -2) / math.sqrt(K.shape[0])


@mistake(
    ref.scores,
    says="You divide with //, which throws the decimals of the scores away.",
    hint="Scores are real numbers: use the ordinary division.",
    id="S42",
)
def scores_floor_division(Q, K):
    return (Q @ K.transpose(-1, -2)) // math.sqrt(K.shape[-1])


@mistake(
    ref.scores,
    says="Row i of your matrix belongs to key i: you computed K Qᵀ instead of Q Kᵀ.",
    hint="Queries are the rows of S, keys its columns: m rows, n columns.",
    id="S09",
)
def scores_transposed(Q, K):
    return K @ Q.transpose(-1, -2) / math.sqrt(K.shape[-1])


@mistake(
    ref.scores,
    says="You exchange the first two axes of K, and one of them is the batch as soon as there is one.",
    hint="Count axes from the end: only the last two change places.",
    id="S10",
)
def scores_first_axes_exchanged(Q, K):
    return Q @ K.transpose(0, 1) / math.sqrt(K.shape[-1])


@mistake(
    ref.scores,
    says="K.T turns all axes around, the batch included.",
    hint="Only the last two axes change places.",
    id="S11",
)
def scores_all_axes_reversed(Q, K):
    return Q @ K.permute(*reversed(range(K.dim()))) / math.sqrt(K.shape[-1])


@mistake(
    ref.scores,
    says="You reshape K to (…, d_k, n) instead of transposing it, which mixes numbers of different keys.",
    hint="Exchange the last two axes; reshape only reads the same numbers in another rhythm.",
)
def scores_reshaped_keys(Q, K):
    return Q @ K.reshape(*K.shape[:-2], K.shape[-1], K.shape[-2]) / math.sqrt(K.shape[-1])


@mistake(
    ref.scores,
    says="You multiply the queries with each other; the keys are not used.",
    hint="S_ij is the dot product of query i and key j.",
    id="S39",
)
def scores_queries_only(Q, K):
    return Q @ Q.transpose(-1, -2) / math.sqrt(K.shape[-1])


@mistake(
    ref.scores,
    says="You multiply the keys with each other; the queries are not used.",
    hint="S_ij is the dot product of query i and key j.",
)
def scores_keys_only(Q, K):
    return K @ K.transpose(-1, -2) / math.sqrt(K.shape[-1])


@mistake(
    ref.scores,
    says="You return the products of the features and have not added them up.",
    hint="A score is one number per query and key: sum over the features.",
    id="S21",
)
def scores_not_summed(Q, K):
    return Q.unsqueeze(-2) * K.unsqueeze(-3) / math.sqrt(K.shape[-1])


@mistake(
    ref.scores,
    says="You average over the features, which divides by d_k, and then divide by √d_k as well.",
    hint="Sum over the features, then scale once.",
)
def scores_mean_and_root(Q, K):
    return (Q.unsqueeze(-2) * K.unsqueeze(-3)).mean(dim=-1) / math.sqrt(K.shape[-1])


@mistake(
    ref.scores,
    says="You add queries and keys instead of multiplying them.",
    hint="Doubling a query must double its scores: use the dot product.",
    id="S37",
)
def scores_additive(Q, K):
    return (Q.unsqueeze(-2) + K.unsqueeze(-3)).sum(dim=-1) / math.sqrt(K.shape[-1])


@mistake(
    ref.scores,
    says="You divide by the length ‖k_j‖ of each key as a vector.",
    hint="length(k_j) in the lecture means how many numbers a key has: d_k.",
)
def scores_norm_of_key(Q, K):
    return Q @ K.transpose(-1, -2) / K.norm(dim=-1).unsqueeze(-2)


@mistake(
    ref.scores,
    says="You divide by √‖k_j‖, the root of each key's length as a vector.",
    hint="length(k_j) in the lecture means how many numbers a key has: d_k.",
)
def scores_root_of_norm(Q, K):
    return Q @ K.transpose(-1, -2) / K.norm(dim=-1).sqrt().unsqueeze(-2)


@mistake(
    ref.scores,
    says="You compute cosines: queries and keys are normalised to length 1.",
    hint="Use the plain dot product and divide by √d_k.",
)
def scores_cosine(Q, K):
    Q = Q / Q.norm(dim=-1, keepdim=True)
    K = K / K.norm(dim=-1, keepdim=True)
    return Q @ K.transpose(-1, -2)


@mistake(
    ref.scores,
    says="You measure distances between queries and keys.",
    hint="A score is a dot product; the lecture says it is not a distance.",
)
def scores_distance(Q, K):
    return -((Q.unsqueeze(-2) - K.unsqueeze(-3)) ** 2).sum(dim=-1) / math.sqrt(K.shape[-1])


@mistake(
    ref.scores,
    says="You return weights: the softmax belongs to part 4, not to the scores.",
    hint="Return Q Kᵀ / √d_k before any softmax.",
)
def scores_with_softmax(Q, K):
    return torch.softmax(Q @ K.transpose(-1, -2) / math.sqrt(K.shape[-1]), dim=-1)


@mistake(
    ref.scores,
    says="You subtract the largest score of each row here.",
    hint="Making the softmax stable belongs to part 4; the scores are plain Q Kᵀ / √d_k.",
)
def scores_minus_max(Q, K):
    S = Q @ K.transpose(-1, -2) / math.sqrt(K.shape[-1])
    return S - S.amax(dim=-1, keepdim=True)


@mistake(
    ref.scores,
    says="You take the absolute values of the dot products.",
    hint="A score may be negative: the key does not fit the query then.",
)
def scores_absolute(Q, K):
    return (Q @ K.transpose(-1, -2)).abs() / math.sqrt(K.shape[-1])


@mistake(
    ref.scores,
    says="You compute in float32 although the input is float64.",
    hint="Results keep the dtype of the input.",
)
def scores_in_float32(Q, K):
    return Q.float() @ K.float().transpose(-1, -2) / math.sqrt(K.shape[-1])


@mistake(
    ref.scores,
    says="You scale Q in place: the caller's queries are changed, and a second call gives other scores.",
    hint="Make a new tensor; operators such as /= and methods that end in _ write into their input.",
    id="S34",
)
def scores_in_place(Q, K):
    Q.div_(math.sqrt(K.shape[-1]))
    return Q @ K.transpose(-1, -2)
