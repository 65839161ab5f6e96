"""Wrong solutions of part 2: queries, keys and values."""

import math

import torch

from reference import attention_scores as ref
from softmark import mistake


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
