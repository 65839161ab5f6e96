"""Wrong solutions with a name: what students write when they get a part of `attention_scores` wrong.

Each one stands for a misunderstanding, is attached to the function in which it is made, and differs from the
reference on the inputs of the hidden tests. A student whose answer agrees with one of them is told its `says` and
`hint`. The ids are those of the course's catalogue (S: scores, softmax and values; M: masking).
"""

import math

import torch

from reference import attention_scores as ref
from softmark.verdict import mistake

# Part 1: attend ---------------------------------------------------------------------------------------------


@mistake(
    ref.attend,
    says="You divide the dot products by √d before the softmax.",
    hint="This layer of the lecture has no scaling: p = softmax(X h) as it stands.",
)
def attend_scaled(h, X):
    s = (X @ h.unsqueeze(-1)).squeeze(-1) / math.sqrt(X.shape[-1])
    return (torch.softmax(s, dim=-1).unsqueeze(-1) * X).sum(dim=-2)


@mistake(
    ref.attend,
    says="Your context is the plain average of the tokens: it does not depend on h.",
    hint="Weigh every token by how well it fits the query before you add them up.",
)
def attend_average(h, X):
    return X.mean(dim=-2) + 0 * h


@mistake(
    ref.attend,
    says="You use the dot products themselves as weights; there is no softmax.",
    hint="Weights are positive and sum to 1: pass the dot products through a softmax over the tokens.",
    id="S38",
)
def attend_without_softmax(h, X):
    s = (X @ h.unsqueeze(-1)).squeeze(-1)
    return (s.unsqueeze(-1) * X).sum(dim=-2)


@mistake(
    ref.attend,
    says="Your weights are exp(hᵀx_t) and are not divided by their sum.",
    hint="Look at the denominator of p_t: the weights of one query must sum to 1.",
)
def attend_unnormalised(h, X):
    p = torch.exp((X @ h.unsqueeze(-1)).squeeze(-1))
    return (p.unsqueeze(-1) * X).sum(dim=-2)


@mistake(
    ref.attend,
    says="You take the one token that fits best instead of a weighted sum of all tokens.",
    hint="Attention is soft: every token enters with its weight p_t.",
)
def attend_hard(h, X):
    s = (X @ h.unsqueeze(-1)).squeeze(-1)
    p = (s == s.amax(dim=-1, keepdim=True)).to(X.dtype)
    return (p.unsqueeze(-1) * X).sum(dim=-2)


@mistake(
    ref.attend,
    says="You take a softmax for every feature by itself: the products h·x_t are not added up first.",
    hint="hᵀx_t is one number per token: sum over the features, then take the softmax over the tokens.",
    id="S21",
)
def attend_per_feature(h, X):
    return (torch.softmax(h.unsqueeze(-2) * X, dim=-2) * X).sum(dim=-2)


@mistake(
    ref.attend,
    says="You compare directions only: h and the tokens are normalised to length 1 before the dot product.",
    hint="Use the plain dot product hᵀx_t, not the cosine.",
)
def attend_cosine(h, X):
    s = ((X / X.norm(dim=-1, keepdim=True)) @ (h / h.norm(dim=-1, keepdim=True)).unsqueeze(-1)).squeeze(-1)
    return (torch.softmax(s, dim=-1).unsqueeze(-1) * X).sum(dim=-2)


@mistake(
    ref.attend,
    says="You weigh the tokens by their distance from h instead of the dot product with h.",
    hint="The score of token t is hᵀx_t.",
)
def attend_distance(h, X):
    s = -((X - h.unsqueeze(-2)) ** 2).sum(dim=-1)
    return (torch.softmax(s, dim=-1).unsqueeze(-1) * X).sum(dim=-2)


@mistake(
    ref.attend,
    says="You give the largest weights to the tokens that fit worst: the sign of the dot products is flipped.",
    hint="A large hᵀx_t must give a large weight.",
)
def attend_negative(h, X):
    s = -(X @ h.unsqueeze(-1)).squeeze(-1)
    return (torch.softmax(s, dim=-1).unsqueeze(-1) * X).sum(dim=-2)


@mistake(
    ref.attend,
    says="You return the weights p instead of the context c.",
    hint="The answer has the width of a token: add up the tokens, each times its weight.",
    id="S26",
)
def attend_returns_weights(h, X):
    return torch.softmax((X @ h.unsqueeze(-1)).squeeze(-1), dim=-1)


@mistake(
    ref.attend,
    says="Your softmax runs over the first axis, which is the batch as soon as there is one.",
    hint="The weights of one query sum to 1 over its tokens: name the axis of the tokens, counted from the end.",
    id="S14",
)
def attend_softmax_first_axis(h, X):
    s = (X @ h.unsqueeze(-1)).squeeze(-1)
    return (torch.softmax(s, dim=0).unsqueeze(-1) * X).sum(dim=-2)


@mistake(
    ref.attend,
    says="You divide the weighted sum by the number of tokens as well.",
    hint="The weights sum to 1 already, so the sum is an average as it stands.",
)
def attend_divided_twice(h, X):
    p = torch.softmax((X @ h.unsqueeze(-1)).squeeze(-1), dim=-1)
    return (p.unsqueeze(-1) * X).mean(dim=-2)


@mistake(
    ref.attend,
    says="You add the query to the context.",
    hint="The context is Σ p_t x_t and nothing else; there is no residual connection here.",
)
def attend_residual(h, X):
    p = torch.softmax((X @ h.unsqueeze(-1)).squeeze(-1), dim=-1)
    return (p.unsqueeze(-1) * X).sum(dim=-2) + h


# Part 2: project --------------------------------------------------------------------------------------------


@mistake(
    ref.project,
    says="You return the keys first and the queries second.",
    hint="The order is Q, K, V.",
)
def project_keys_first(X, W_Q, W_K, W_V):
    return X @ W_K, X @ W_Q, X @ W_V


@mistake(
    ref.project,
    says="You return the values before the keys.",
    hint="The order is Q, K, V.",
)
def project_values_before_keys(X, W_Q, W_K, W_V):
    return X @ W_Q, X @ W_V, X @ W_K


@mistake(
    ref.project,
    says="You compute the values with W_K; W_V is not used.",
    hint="Each of the three has a weight of its own.",
    id="S23",
)
def project_values_with_key_weight(X, W_Q, W_K, W_V):
    return X @ W_Q, X @ W_K, X @ W_K


@mistake(
    ref.project,
    says="You compute the keys with W_Q; W_K is not used.",
    hint="Each of the three has a weight of its own.",
)
def project_keys_with_query_weight(X, W_Q, W_K, W_V):
    return X @ W_Q, X @ W_Q, X @ W_V


@mistake(
    ref.project,
    says="You compute the queries with W_K; W_Q is not used.",
    hint="Each of the three has a weight of its own.",
)
def project_queries_with_key_weight(X, W_Q, W_K, W_V):
    return X @ W_K, X @ W_K, X @ W_V


@mistake(
    ref.project,
    says="You use the transposed weights.",
    hint="A weight of this course is (in, out) and multiplies rows from the right.",
)
def project_transposed_weights(X, W_Q, W_K, W_V):
    return X @ W_Q.T, X @ W_K.T, X @ W_V.T


@mistake(
    ref.project,
    says="You take the tokens themselves as values.",
    hint="The values are projected too: V = X W_V.",
)
def project_values_unprojected(X, W_Q, W_K, W_V):
    return X @ W_Q, X @ W_K, X


@mistake(
    ref.project,
    says="You divide the queries by √d_k here.",
    hint="The scaling belongs to the scores; the queries are X W_Q as they stand.",
)
def project_scaled_queries(X, W_Q, W_K, W_V):
    return X @ W_Q / math.sqrt(W_K.shape[-1]), X @ W_K, X @ W_V


@mistake(
    ref.project,
    says="You pass the projections through a ReLU.",
    hint="Queries, keys and values are linear in X: there is no non-linearity.",
)
def project_relu(X, W_Q, W_K, W_V):
    return torch.relu(X @ W_Q), torch.relu(X @ W_K), torch.relu(X @ W_V)


@mistake(
    ref.project,
    says="You project the last token only for the queries.",
    hint="Every token asks: Q has as many rows as X.",
)
def project_last_query_only(X, W_Q, W_K, W_V):
    return X[..., -1:, :] @ W_Q, X @ W_K, X @ W_V


@mistake(
    ref.project,
    says="You glue Q, K and V together into one tensor.",
    hint="Return the three of them as a tuple.",
)
def project_concatenated(X, W_Q, W_K, W_V):
    return torch.cat([X @ W_Q, X @ W_K, X @ W_V], dim=-1)


# Part 3: scores ---------------------------------------------------------------------------------------------


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


# Part 4: softmax_rows ---------------------------------------------------------------------------------------


@mistake(
    ref.softmax_rows,
    says="Your columns sum to 1 instead of your rows.",
    hint="Each query spreads its attention over the keys: normalise along the last axis.",
    id="S13",
)
def softmax_columns(S):
    E = torch.exp(S - S.amax(dim=-2, keepdim=True))
    return E / E.sum(dim=-2, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="You normalise along the first axis, which is the batch as soon as there is one.",
    hint="Count the axis from the end: the keys are the last one.",
    id="S14",
)
def softmax_first_axis(S):
    E = torch.exp(S - S.amax(dim=0, keepdim=True))
    return E / E.sum(dim=0, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="You normalise along axis 1, which is the axis of the keys only as long as there is no batch.",
    hint="Count the axis from the end: the keys are the last one.",
)
def softmax_second_axis(S):
    E = torch.exp(S - S.amax(dim=1, keepdim=True))
    return E / E.sum(dim=1, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="The weights of a whole matrix sum to 1, so each row gets only a share of that.",
    hint="Every row must sum to 1 by itself.",
    id="S15",
)
def softmax_whole_matrix(S):
    E = torch.exp(S - S.amax(dim=(-2, -1), keepdim=True))
    return E / E.sum(dim=(-2, -1), keepdim=True)


@mistake(
    ref.softmax_rows,
    says="Large scores overflow: exp(1000) is inf, and inf / inf is NaN.",
    hint="Softmax does not change if you subtract the same number from a whole row; choose it so that exp is safe.",
    id="S17",
)
def softmax_overflow(S):
    E = torch.exp(S)
    return E / E.sum(dim=-1, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="You subtract the largest score of the whole tensor: rows with small scores underflow to 0 / 0.",
    hint="Each row has its own largest score.",
    id="S18",
)
def softmax_global_max(S):
    E = torch.exp(S - S.max())
    return E / E.sum(dim=-1, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="You subtract the largest score of the whole tensor: rows with small scores underflow to 0.",
    hint="Each row has its own maximum: amax over the last axis, keepdim=True.",
)
def softmax_global_max_guarded(S):
    E = torch.exp(S - S.max())
    return E / E.sum(dim=-1, keepdim=True).clamp(min=1e-12)


@mistake(
    ref.softmax_rows,
    says="You subtract the largest score of each column, but normalise rows.",
    hint="Take the largest score along the same axis as the sum: the keys.",
    id="S19",
)
def softmax_column_max(S):
    E = torch.exp(S - S.amax(dim=-2, keepdim=True))
    return E / E.sum(dim=-1, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="You cut large scores off, so that different large scores get equal weights.",
    hint="Subtracting a number per row keeps the differences between scores; clamping does not.",
)
def softmax_clamped(S):
    E = torch.exp(S.clamp(-80, 80))
    return E / E.sum(dim=-1, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="You replace the NaN of an overflow by 0, and the largest scores lose their weight.",
    hint="Avoid the overflow instead of covering it up.",
)
def softmax_nan_to_zero(S):
    E = torch.exp(S)
    return torch.nan_to_num(E / E.sum(dim=-1, keepdim=True), nan=0.0)


@mistake(
    ref.softmax_rows,
    says="You divide the scores by their sum; the exponential is missing.",
    hint="Weights are exp(S_ij) over the sum of such terms.",
)
def softmax_without_exp(S):
    return S / S.sum(dim=-1, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="You return exp(S - max) without dividing by the row's sum.",
    hint="Rows must sum to 1.",
)
def softmax_unnormalised(S):
    return torch.exp(S - S.amax(dim=-1, keepdim=True))


@mistake(
    ref.softmax_rows,
    says="You return the logarithms of the weights.",
    hint="That is log_softmax; weights are between 0 and 1.",
)
def softmax_logarithm(S):
    S = S - S.amax(dim=-1, keepdim=True)
    return S - torch.log(torch.exp(S).sum(dim=-1, keepdim=True))


@mistake(
    ref.softmax_rows,
    says="You use a sigmoid on every score by itself.",
    hint="The keys of a row compete: their weights sum to 1.",
)
def softmax_sigmoid(S):
    return torch.sigmoid(S)


@mistake(
    ref.softmax_rows,
    says="You use powers of 2 instead of powers of e.",
    hint="exp is the exponential function of base e.",
)
def softmax_base_two(S):
    E = torch.exp2(S - S.amax(dim=-1, keepdim=True))
    return E / E.sum(dim=-1, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="Your sign is flipped: the smallest score gets the largest weight.",
    hint="A larger score must give a larger weight.",
)
def softmax_flipped_sign(S):
    E = torch.exp(S.amin(dim=-1, keepdim=True) - S)
    return E / E.sum(dim=-1, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="You give all weight to the largest score of a row.",
    hint="Softmax is soft: use exp, not a comparison.",
)
def softmax_one_hot(S):
    E = (S.amax(dim=-1, keepdim=True) == S).to(S.dtype)
    return E / E.sum(dim=-1, keepdim=True)


@mistake(
    ref.softmax_rows,
    says="There is an extra 1 in your denominator.",
    hint="The denominator is the sum over the keys of the row and nothing else.",
)
def softmax_plus_one(S):
    E = torch.exp(S - S.amax(dim=-1, keepdim=True))
    return E / (1 + E.sum(dim=-1, keepdim=True))


@mistake(
    ref.softmax_rows,
    says="You apply the softmax twice.",
    hint="Once is enough: the weights must not go through exp again.",
)
def softmax_twice(S):
    return torch.softmax(torch.softmax(S, dim=-1), dim=-1)


@mistake(
    ref.softmax_rows,
    says="You scale the scores again inside the softmax.",
    hint="S is scaled already; this part takes the scores as they are.",
)
def softmax_scaled_again(S):
    return torch.softmax(S / math.sqrt(S.shape[-1]), dim=-1)


@mistake(
    ref.softmax_rows,
    says="You compute in float64 and return float64 although the scores are float32.",
    hint="Results keep the dtype of the input; subtracting the row's maximum makes float32 sufficient.",
)
def softmax_in_float64(S):
    return torch.softmax(S.double(), dim=-1)


@mistake(
    ref.softmax_rows,
    says="You subtract the maximum in place: the caller's scores are changed.",
    hint="Make a new tensor; operators such as -= write into their input.",
    id="S34",
)
def softmax_in_place(S):
    S -= S.amax(dim=-1, keepdim=True)
    E = torch.exp(S)
    return E / E.sum(dim=-1, keepdim=True)


# Part 5: masked_softmax -------------------------------------------------------------------------------------


@mistake(
    ref.masked_softmax,
    says="Your mask works the wrong way round: you block what is allowed.",
    hint="True means that the query may look at the key.",
    id="M01",
)
def masked_inverted(S, mask):
    A = torch.softmax(S.masked_fill(mask, torch.finfo(S.dtype).min), dim=-1)
    return A.masked_fill(mask, 0.0)


@mistake(
    ref.masked_softmax,
    says="Your mask works the wrong way round: you block what is allowed.",
    hint="True means that the query may look at the key.",
)
def masked_inverted_by_fill_value(S, mask):
    return torch.softmax(S.masked_fill(mask, -1e30), dim=-1)


@mistake(
    ref.masked_softmax,
    says="Your mask works the wrong way round: you block what is allowed.",
    hint="True means that the query may look at the key.",
)
def masked_inverted_but_for_blocked_rows(S, mask):
    A = torch.softmax(S.masked_fill(mask, -1e30), dim=-1)
    return A * mask.any(dim=-1, keepdim=True)


@mistake(
    ref.masked_softmax,
    says="Your mask works the wrong way round: you block what is allowed.",
    hint="True means that the query may look at the key.",
)
def masked_inverted_nan(S, mask):
    return torch.softmax(S.masked_fill(mask, -math.inf), dim=-1)


@mistake(
    ref.masked_softmax,
    says="You fill the allowed scores, and the product with the mask at the end removes all the others.",
    hint="True means may look: fill where the mask is False.",
)
def masked_inverted_times_mask(S, mask):
    return torch.softmax(S.masked_fill(mask, torch.finfo(S.dtype).min), dim=-1) * mask


@mistake(
    ref.masked_softmax,
    says="You fill the allowed scores, and the product with the mask at the end leaves only zeros and NaN.",
    hint="True means may look: fill where the mask is False.",
)
def masked_inverted_nan_times_mask(S, mask):
    return torch.softmax(S.masked_fill(mask, -math.inf), dim=-1) * mask


@mistake(
    ref.masked_softmax,
    says="You multiply the mask by -inf: 0 · inf is NaN, so every allowed score becomes NaN.",
    hint="Choose between two values (masked_fill, where) instead of multiplying.",
)
def masked_zero_times_inf(S, mask):
    return torch.softmax(S + (~mask) * -math.inf, dim=-1)


@mistake(
    ref.masked_softmax,
    says="You multiply the mask by -inf: 0 · inf is NaN, and your zeros in its place wipe out every row.",
    hint="Choose between two values (masked_fill, where) instead of multiplying.",
)
def masked_zero_times_inf_repaired(S, mask):
    return torch.nan_to_num(torch.softmax(S + (~mask) * -math.inf, dim=-1), nan=0.0)


@mistake(
    ref.masked_softmax,
    says="You ignore the mask.",
    hint="A blocked key must get a weight of exactly 0.",
)
def masked_not_at_all(S, mask):
    return torch.softmax(S, dim=-1)


@mistake(
    ref.masked_softmax,
    says="You set blocked scores to 0, and exp(0) = 1 is a weight like any other.",
    hint="A blocked score must be so low that its exponential vanishes.",
    id="M02",
)
def masked_zero_scores(S, mask):
    return torch.softmax(S * mask, dim=-1)


@mistake(
    ref.masked_softmax,
    says="You apply the mask after the softmax, so your rows no longer sum to 1.",
    hint="Block before you normalise, or normalise again.",
    id="M03",
)
def masked_after_softmax(S, mask):
    return torch.softmax(S, dim=-1).masked_fill(~mask, 0.0)


@mistake(
    ref.masked_softmax,
    says="Blocked scores of -10 still leak: other scores of the row may be lower than that.",
    hint="The value must be lower than any score that can occur.",
    id="M05",
)
def masked_fill_ten(S, mask):
    A = torch.softmax(S.masked_fill(~mask, -10.0), dim=-1)
    return A.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


@mistake(
    ref.masked_softmax,
    says="Blocked scores of -100 still leak: other scores of the row may be lower than that.",
    hint="The value must be lower than any score that can occur.",
)
def masked_fill_hundred(S, mask):
    A = torch.softmax(S.masked_fill(~mask, -100.0), dim=-1)
    return A.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


@mistake(
    ref.masked_softmax,
    says="Blocked scores of -1000 still leak when the allowed scores are lower than that.",
    hint="The lowest number of the dtype, or -inf, is below every score.",
)
def masked_fill_thousand(S, mask):
    A = torch.softmax(S.masked_fill(~mask, -1000.0), dim=-1)
    return A.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


@mistake(
    ref.masked_softmax,
    says="Blocked scores of -10000 still leak when the allowed scores are lower than that.",
    hint="The lowest number of the dtype, or -inf, is below every score.",
    id="M41",
)
def masked_fill_ten_thousand(S, mask):
    A = torch.softmax(S.masked_fill(~mask, -1e4), dim=-1)
    return A.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


@mistake(
    ref.masked_softmax,
    says="You subtract 100 from blocked scores, and a blocked key with a large score keeps a weight.",
    hint="The result must not depend on what the score of a blocked key was.",
)
def masked_minus_hundred(S, mask):
    A = torch.softmax(S - 100.0 * (~mask), dim=-1)
    return A.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


@mistake(
    ref.masked_softmax,
    says="You fill blocked scores with the smallest score of the tensor, which still gives them a weight.",
    hint="The value must be lower than any score that can occur.",
)
def masked_fill_minimum(S, mask):
    A = torch.softmax(torch.where(mask, S, S.min()), dim=-1)
    return A.masked_fill(~mask.any(dim=-1, keepdim=True), 0.0)


@mistake(
    ref.masked_softmax,
    says="Your fill value is large and positive: blocked keys get all the weight.",
    hint="Look at the sign of the value for blocked scores.",
    id="M07",
)
def masked_fill_positive(S, mask):
    return torch.softmax(S.masked_fill(~mask, 1e9), dim=-1)


@mistake(
    ref.masked_softmax,
    says="You add the mask to the scores: allowed keys get 1 more, and nothing is blocked.",
    hint="Blocked scores need to become very low.",
    id="M21",
)
def masked_added(S, mask):
    return torch.softmax(S + mask, dim=-1)


@mistake(
    ref.masked_softmax,
    says="A row with no allowed key gives NaN.",
    hint="The handout gives the rule: such a row is exactly 0.",
    id="M27",
)
def masked_nan_row(S, mask):
    return torch.softmax(S.masked_fill(~mask, -math.inf), dim=-1)


@mistake(
    ref.masked_softmax,
    says="A row with no allowed key gives equal weights to all keys.",
    hint="The handout gives the rule: such a row is exactly 0.",
)
def masked_uniform_row(S, mask):
    return torch.softmax(S.masked_fill(~mask, torch.finfo(S.dtype).min), dim=-1)


@mistake(
    ref.masked_softmax,
    says="A row with no allowed key gets the weights it would have without a mask.",
    hint="The handout gives the rule: such a row is exactly 0.",
)
def masked_blocked_row_unmasked(S, mask):
    mask = mask | ~mask.any(dim=-1, keepdim=True)
    return torch.softmax(S.masked_fill(~mask, -math.inf), dim=-1)


@mistake(
    ref.masked_softmax,
    says="A row with no allowed key gives all its weight to the first key.",
    hint="The handout gives the rule: such a row is exactly 0.",
)
def masked_blocked_row_first_key(S, mask):
    first = torch.arange(S.shape[-1], device=S.device) == 0
    mask = mask | (first & ~mask.any(dim=-1, keepdim=True))
    return torch.softmax(S.masked_fill(~mask, -math.inf), dim=-1)


@mistake(
    ref.masked_softmax,
    says="You set a whole row to 0 as soon as one of its keys is blocked.",
    hint="Only a row that has no allowed key at all is 0: any and all are easily confused.",
)
def masked_zero_if_any_blocked(S, mask):
    A = torch.softmax(S.masked_fill(~mask, torch.finfo(S.dtype).min), dim=-1)
    return A.masked_fill(~mask.all(dim=-1, keepdim=True), 0.0)


@mistake(
    ref.masked_softmax,
    says="One row without an allowed key turns your whole matrix into 0.",
    hint="Decide row by row.",
)
def masked_zero_matrix(S, mask):
    A = torch.softmax(S.masked_fill(~mask, torch.finfo(S.dtype).min), dim=-1)
    blocked_row = ~mask.any(dim=-1, keepdim=True)
    return A.masked_fill(blocked_row.any(dim=-2, keepdim=True), 0.0)


@mistake(
    ref.masked_softmax,
    says="The gradient of a row with no allowed key is NaN, although its weights are 0.",
    hint="Do not add -inf to the scores and repair the NaN afterwards; avoid it before the softmax.",
)
def masked_nan_gradient(S, mask):
    bias = torch.zeros_like(S).masked_fill(~mask, -math.inf)
    return torch.nan_to_num(torch.softmax(S + bias, dim=-1), nan=0.0)


@mistake(
    ref.masked_softmax,
    says="You subtract the largest score of the row, blocked keys included: allowed scores far below it vanish.",
    hint="Block first; only allowed keys may decide about the maximum.",
)
def masked_max_of_blocked(S, mask):
    E = torch.exp(S - S.amax(dim=-1, keepdim=True)) * mask
    return torch.nan_to_num(E / E.sum(dim=-1, keepdim=True), nan=0.0)


@mistake(
    ref.masked_softmax,
    says="You subtract the largest score of the row, blocked keys included: rows far below it become 0.",
    hint="Block first; only allowed keys may decide about the maximum.",
)
def masked_max_of_blocked_guarded(S, mask):
    E = torch.exp(S - S.amax(dim=-1, keepdim=True)) * mask
    return E / E.sum(dim=-1, keepdim=True).clamp(min=1e-12)


@mistake(
    ref.masked_softmax,
    says="You normalise the columns instead of the rows.",
    hint="Each query spreads its attention over the keys it may see: the last axis.",
    id="S13",
)
def masked_columns(S, mask):
    A = torch.softmax(S.masked_fill(~mask, torch.finfo(S.dtype).min), dim=-2)
    return A.masked_fill(~mask, 0.0)


@mistake(
    ref.masked_softmax,
    says="You let every key be seen that any example of the batch may see.",
    hint="Each example has a mask of its own.",
)
def masked_union_of_batch(S, mask):
    if mask.dim() > 2:
        mask = mask.any(dim=0)
    A = torch.softmax(S.masked_fill(~mask, torch.finfo(S.dtype).min), dim=-1)
    return A.masked_fill(~mask, 0.0)


@mistake(
    ref.masked_softmax,
    says="You use the mask of the first example for the whole batch.",
    hint="Each example has a mask of its own; let it broadcast.",
    id="M17",
)
def masked_first_example(S, mask):
    if mask.dim() > 2:
        mask = mask[0]
    A = torch.softmax(S.masked_fill(~mask, torch.finfo(S.dtype).min), dim=-1)
    return A.masked_fill(~mask, 0.0)


@mistake(
    ref.masked_softmax,
    says="You hide the future as well, although the mask does not ask for it.",
    hint="This part knows only the mask it is given.",
)
def masked_also_causal(S, mask):
    past = torch.arange(S.shape[-1], device=S.device) <= torch.arange(S.shape[-2], device=S.device)[:, None]
    mask = mask & past
    A = torch.softmax(S.masked_fill(~mask, torch.finfo(S.dtype).min), dim=-1)
    return A.masked_fill(~mask, 0.0)


@mistake(
    ref.masked_softmax,
    says="Your result has one axis more than S.",
    hint="The result has the shape of S; let the mask broadcast instead of adding an axis.",
    id="M18",
)
def masked_extra_axis(S, mask):
    mask = mask.unsqueeze(0)
    A = torch.softmax(S.unsqueeze(0).masked_fill(~mask, torch.finfo(S.dtype).min), dim=-1)
    return A.masked_fill(~mask, 0.0)


@mistake(
    ref.masked_softmax,
    says="You write into the caller's scores.",
    hint="Make a new tensor: masked_fill without the underscore does not touch its input.",
    id="M26",
)
def masked_in_place(S, mask):
    S.masked_fill_(~mask, torch.finfo(S.dtype).min)
    return torch.softmax(S, dim=-1).masked_fill(~mask, 0.0)


@mistake(
    ref.masked_softmax,
    says="You change the caller's mask.",
    hint="Make a new mask with ~ instead of writing into the one you were given.",
)
def masked_changes_mask(S, mask):
    mask.logical_not_()
    A = torch.softmax(S.masked_fill(mask, torch.finfo(S.dtype).min), dim=-1)
    return A.masked_fill(mask, 0.0)


# Part 6: attention ------------------------------------------------------------------------------------------


@mistake(
    ref.attention,
    says="You return the weights first and the output second.",
    hint="The output comes first.",
    id="S26",
)
def attention_swapped_results(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    return A, A @ V


@mistake(
    ref.attention,
    says="You return the output alone.",
    hint="Return the output and the weights, as a tuple.",
)
def attention_output_alone(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    return A @ V


@mistake(
    ref.attention,
    says="You return the scores where the weights belong.",
    hint="The second result is A, after the softmax.",
)
def attention_returns_scores(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    return A @ V, S


@mistake(
    ref.attention,
    says="You do not scale the scores.",
    hint="Use your part 3.",
    id="S01",
)
def attention_unscaled(Q, K, V, mask=None):
    S = Q @ K.transpose(-1, -2)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    return A @ V, A


@mistake(
    ref.attention,
    says="You scale twice: your scores are divided by d_k in the end.",
    hint="The scores of part 3 are scaled already.",
    id="S43",
)
def attention_scaled_twice(Q, K, V, mask=None):
    S = ref.scores(Q, K) / math.sqrt(K.shape[-1])
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    return A @ V, A


@mistake(
    ref.attention,
    says="You scale the weights instead of the scores: your rows sum to 1/√d_k.",
    hint="The scaling comes before the softmax.",
    id="S06",
)
def attention_scaled_weights(Q, K, V, mask=None):
    S = Q @ K.transpose(-1, -2)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    A = A / math.sqrt(K.shape[-1])
    return A @ V, A


@mistake(
    ref.attention,
    says="You take the scale from the width of the values.",
    hint="d_k is the width of a key; d_v may differ.",
    id="S29",
)
def attention_scale_of_values(Q, K, V, mask=None):
    S = Q @ K.transpose(-1, -2) / math.sqrt(V.shape[-1])
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    return A @ V, A


@mistake(
    ref.attention,
    says="You use the scores as weights; there is no softmax.",
    hint="Rows of weights sum to 1.",
    id="S38",
)
def attention_without_softmax(Q, K, V, mask=None):
    A = ref.scores(Q, K)
    if mask is not None:
        A = A.masked_fill(~mask, 0.0)
    return A @ V, A


@mistake(
    ref.attention,
    says="You normalise over the queries: the columns of the weights sum to 1, not the rows.",
    hint="Each query spreads its attention over the keys.",
    id="S13",
)
def attention_softmax_over_queries(Q, K, V, mask=None):
    S = ref.scores(Q, K).transpose(-1, -2)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask.transpose(-1, -2))
    A = A.transpose(-1, -2)
    return A @ V, A


@mistake(
    ref.attention,
    says="Without a mask you normalise over the queries: the columns of the weights sum to 1, not the rows.",
    hint="Each query spreads its attention over the keys, mask or no mask.",
)
def attention_softmax_over_queries_without_mask(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = torch.softmax(S, dim=-2) if mask is None else ref.masked_softmax(S, mask)
    return A @ V, A


@mistake(
    ref.attention,
    says="Without a mask you normalise along axis 1, which is the axis of the keys only as long as there is no batch.",
    hint="Count axes from the end: the keys are the last one.",
)
def attention_softmax_on_axis_one(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = torch.softmax(S, dim=1) if mask is None else ref.masked_softmax(S, mask)
    return A @ V, A


@mistake(
    ref.attention,
    says="You add up the keys instead of the values: the output does not depend on V.",
    hint="Keys decide about the weights, values are what is extracted.",
    id="S22",
)
def attention_keys_as_values(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    return A @ K, A


@mistake(
    ref.attention,
    says="You compare the queries with themselves; the keys are not used.",
    hint="The scores are between queries and keys.",
    id="S39",
)
def attention_queries_only(Q, K, V, mask=None):
    S = ref.scores(Q, Q)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    return A @ V, A


@mistake(
    ref.attention,
    says="You compare the keys with themselves; the queries are not used.",
    hint="The scores are between queries and keys.",
)
def attention_keys_only(Q, K, V, mask=None):
    S = ref.scores(K, K)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    return A @ V, A


@mistake(
    ref.attention,
    says="You swap queries and keys.",
    hint="Row i of the scores belongs to query i.",
    id="S09",
)
def attention_swapped_queries_and_keys(Q, K, V, mask=None):
    S = ref.scores(K, Q)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    return A @ V, A


@mistake(
    ref.attention,
    says="You transpose the weights before you multiply them with V.",
    hint="Output i is the sum over j of A_ij v_j: row i of the weights.",
    id="S25",
)
def attention_transposed_weights(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    return A.transpose(-1, -2) @ V, A


@mistake(
    ref.attention,
    says="All your output rows are equal: each is what the last query gets.",
    hint="Look at the variable your loop over the queries writes into.",
    id="S35",
)
def attention_last_query_repeated(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    Y = A @ V
    return Y[..., -1:, :].expand_as(Y), A


@mistake(
    ref.attention,
    says="You divide the output by the number of keys.",
    hint="The weights sum to 1: A V is an average already.",
)
def attention_mean_over_keys(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    return A @ V / K.shape[-2], A


@mistake(
    ref.attention,
    says="You leave the mask out.",
    hint="If there is a mask, use your part 5.",
)
def attention_ignores_mask(Q, K, V, mask=None):
    A = ref.softmax_rows(ref.scores(Q, K))
    return A @ V, A


@mistake(
    ref.attention,
    says="You ask `if mask`, and a mask of many values is neither true nor false.",
    hint="What you want to know is whether there is a mask: compare with None.",
    id="M23",
)
def attention_if_mask(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.masked_softmax(S, mask) if mask else ref.softmax_rows(S)
    return A @ V, A


@mistake(
    ref.attention,
    says="You give the output the shape of the queries, as if values were as wide as keys.",
    hint="The output has the width of the values, d_v.",
    id="S27",
)
def attention_width_of_keys(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    return (A @ V).reshape(Q.shape), A


@mistake(
    ref.attention,
    says="You pass on the mask the wrong way round.",
    hint="True means that the query may look at the key, here and in part 5.",
    id="M01",
)
def attention_inverted_mask(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, ~mask)
    return A @ V, A


@mistake(
    ref.attention,
    says="You mask the weights after the softmax, so rows with a blocked key sum to less than 1.",
    hint="Mask before the softmax.",
    id="M03",
)
def attention_mask_after_softmax(Q, K, V, mask=None):
    A = ref.softmax_rows(ref.scores(Q, K))
    if mask is not None:
        A = A.masked_fill(~mask, 0.0)
    return A @ V, A


@mistake(
    ref.attention,
    says="You multiply the scores by the mask, so blocked keys have the score 0 and keep a weight.",
    hint="Use your part 5.",
    id="M02",
)
def attention_mask_times_scores(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S if mask is None else S * mask)
    return A @ V, A


@mistake(
    ref.attention,
    says="You add the boolean mask to the scores.",
    hint="Adding True adds 1 and blocks nothing: use your part 5.",
    id="M22",
)
def attention_mask_added(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S if mask is None else S + mask)
    return A @ V, A


@mistake(
    ref.attention,
    says="You hide the future even when no mask is given.",
    hint="Without a mask every query may look at every key, in cross-attention above all.",
    id="M31",
)
def attention_always_causal(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    i = torch.arange(S.shape[-2], device=S.device)[:, None]
    past = torch.arange(S.shape[-1], device=S.device) <= i
    A = ref.masked_softmax(S, past if mask is None else mask & past)
    return A @ V, A


@mistake(
    ref.attention,
    says="You take a causal mask where none is given.",
    hint="mask=None means that every query may look at every key.",
)
def attention_causal_by_default(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.masked_softmax(S, ref.causal_mask(S.shape[-1]) if mask is None else mask)
    return A @ V, A


@mistake(
    ref.attention,
    says="You hide the keys behind position i from query i where no mask is given.",
    hint="mask=None means that every query may look at every key.",
)
def attention_triangle_by_default(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    past = torch.ones(S.shape[-2:], dtype=torch.bool, device=S.device).tril()
    A = ref.masked_softmax(S, past if mask is None else mask)
    return A @ V, A


@mistake(
    ref.attention,
    says="Your weights are masked, but the output is computed from unmasked ones.",
    hint="The output is A V with the very weights you return.",
)
def attention_output_unmasked(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    return ref.softmax_rows(S) @ V, A


@mistake(
    ref.attention,
    says="Your output is masked, but the weights you return are not.",
    hint="Return the weights that the output was computed with.",
)
def attention_weights_unmasked(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    return A @ V, ref.softmax_rows(S)


@mistake(
    ref.attention,
    says="Your values go through a softmax as well.",
    hint="Only the scores do; V is used as it is.",
)
def attention_softmax_of_values(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    return A @ torch.softmax(V, dim=-1), A


@mistake(
    ref.attention,
    says="You cut the gradient off: the weights are treated as constants.",
    hint="Queries and keys learn through the weights: do not detach them.",
)
def attention_detached(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    A = A.detach()
    return A @ V, A


@mistake(
    ref.attention,
    says="A query that may look nowhere gets the average of the values as its output.",
    hint="The handout gives the rule: weights and output are exactly 0 then.",
)
def attention_blocked_query_average(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    if mask is None:
        A = ref.softmax_rows(S)
        return A @ V, A
    A = ref.masked_softmax(S, mask)
    nowhere = ~mask.any(dim=-1, keepdim=True)
    return torch.where(nowhere, V.mean(dim=-2, keepdim=True), A @ V), A


# Part 7: causal_mask and padding_mask -----------------------------------------------------------------------


@mistake(
    ref.causal_mask,
    says="Your mask is True for the future: it says what is blocked.",
    hint="True means may look: what came before, and the token itself.",
    id="M01",
)
def causal_inverted(n):
    return torch.ones(n, n, dtype=torch.bool).triu(1)


@mistake(
    ref.causal_mask,
    says="You keep the upper triangle: a token may look at itself and the future.",
    hint="Rows are queries, columns are keys: which triangle is the past?",
    id="M09",
)
def causal_upper(n):
    return torch.ones(n, n, dtype=torch.bool).triu()


@mistake(
    ref.causal_mask,
    says="A token may not look at itself, so the first one may look nowhere.",
    hint="The diagonal belongs to the allowed part.",
    id="M10",
)
def causal_without_diagonal(n):
    return torch.ones(n, n, dtype=torch.bool).tril(-1)


@mistake(
    ref.causal_mask,
    says="A token may look at the one that follows it.",
    hint="Your triangle reaches one step too far.",
    id="M11",
)
def causal_one_ahead(n):
    return torch.ones(n, n, dtype=torch.bool).tril(1)


@mistake(
    ref.causal_mask,
    says="Everything is allowed.",
    hint="The future must be hidden.",
)
def causal_all_allowed(n):
    return torch.ones(n, n, dtype=torch.bool)


@mistake(
    ref.causal_mask,
    says="A token may look at itself and one step back only.",
    hint="All of the past is allowed.",
    id="M38",
)
def causal_window(n):
    return torch.ones(n, n, dtype=torch.bool).tril().triu(-1)


@mistake(
    ref.causal_mask,
    says="Your mask holds numbers 0 and 1 instead of booleans.",
    hint="The dtype of a mask is torch.bool.",
    id="M22",
)
def causal_of_ones(n):
    return torch.ones(n, n).tril()


@mistake(
    ref.causal_mask,
    says="Your mask holds 0 and -inf, to be added to scores.",
    hint="A mask of this course is boolean, True = may look.",
)
def causal_additive(n):
    return torch.zeros(n, n).masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), -math.inf)


@mistake(
    ref.causal_mask,
    says="Your triangle starts in the wrong corner: rows and columns run in opposite directions.",
    hint="Write down the mask of three tokens by hand.",
)
def causal_flipped(n):
    return torch.ones(n, n, dtype=torch.bool).tril().flip(-1)


@mistake(
    ref.padding_mask,
    says="Your mask is True for the padding: it says what is blocked.",
    hint="True means may look: the real tokens.",
    id="M01",
)
def padding_inverted(lengths, n):
    return torch.arange(n, device=lengths.device) >= lengths[..., None, None]


@mistake(
    ref.padding_mask,
    says="One place of the padding stays visible.",
    hint="Positions count from 0: the last real token stands at length - 1.",
)
def padding_one_too_many(lengths, n):
    return torch.arange(n, device=lengths.device) <= lengths[..., None, None]


@mistake(
    ref.padding_mask,
    says="The last real token is hidden.",
    hint="Positions count from 0: the last real token stands at length - 1.",
)
def padding_one_too_few(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths[..., None, None] - 1


@mistake(
    ref.padding_mask,
    says="Your mask hides queries (rows), not keys: its shape is (…, n, 1).",
    hint="Padding must remove columns: the axis of the keys is the last one.",
    id="M15",
)
def padding_as_rows(lengths, n):
    return (torch.arange(n, device=lengths.device) < lengths[..., None, None]).transpose(-1, -2)


@mistake(
    ref.padding_mask,
    says="The axis of the queries is missing: your shape is (…, n).",
    hint="The handout asks for (…, 1, n), so that the mask broadcasts over the queries.",
    id="M18",
)
def padding_without_query_axis(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths[..., None]


@mistake(
    ref.padding_mask,
    says="You put the padding first and the tokens last.",
    hint="The real tokens are the first ones of each sequence.",
)
def padding_on_the_left(lengths, n):
    return torch.arange(n, device=lengths.device) >= n - lengths[..., None, None]


@mistake(
    ref.padding_mask,
    says="All sequences get the longest one's mask.",
    hint="Each sequence has a length of its own.",
    id="M35",
)
def padding_longest(lengths, n):
    return torch.arange(n, device=lengths.device) < torch.full_like(lengths, 1)[..., None, None] * lengths.max()


@mistake(
    ref.padding_mask,
    says="All sequences get the first one's mask.",
    hint="Each sequence has a length of its own.",
)
def padding_first_example(lengths, n):
    first = lengths.flatten()[0]
    return torch.arange(n, device=lengths.device) < torch.ones_like(lengths)[..., None, None] * first


@mistake(
    ref.padding_mask,
    says="An empty sequence is treated as a full one.",
    hint="A length of 0 hides every key.",
    id="M33",
)
def padding_empty_is_full(lengths, n):
    lengths = torch.where(lengths == 0, n, lengths)
    return torch.arange(n, device=lengths.device) < lengths[..., None, None]


@mistake(
    ref.padding_mask,
    says="You block the queries that are padding as well.",
    hint="Padding is hidden as a key; the axis of the queries has size 1 in the result.",
)
def padding_rows_and_columns(lengths, n):
    real = torch.arange(n, device=lengths.device) < lengths[..., None]
    return real.unsqueeze(-1) & real.unsqueeze(-2)


@mistake(
    ref.padding_mask,
    says="Your mask holds numbers 0 and 1 instead of booleans.",
    hint="The dtype of a mask is torch.bool.",
    id="M39",
)
def padding_of_ones(lengths, n):
    return (torch.arange(n, device=lengths.device) < lengths[..., None, None]).to(torch.uint8)


@mistake(
    ref.padding_mask,
    says="Your mask is on the CPU, whatever device `lengths` is on.",
    hint="A new tensor needs the device of the input.",
    id="M25",
)
def padding_on_cpu(lengths, n):
    return torch.arange(n) < lengths[..., None, None]
