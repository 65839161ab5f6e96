"""Wrong solutions of part 6, attention: the scores, their softmax, the weighted sum and the order of the results."""

import math

import torch

from reference import attention_scores as ref
from softmark import mistake


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
