"""Other right solutions, in other styles: each must earn all the marks, or a hidden test asks for more than it says."""

import math

import torch

from reference import attention_scores as ref
from softmark import equivalent

# Part 1: attend ---------------------------------------------------------------------------------------------


@equivalent(ref.attend)
def attend_einsum(h, X):
    p = torch.softmax(torch.einsum("...d,...td->...t", h, X), dim=-1)
    return torch.einsum("...t,...td->...d", p, X)


@equivalent(ref.attend)
def attend_as_the_lecture_writes_it(h, X):
    e = torch.exp((h.unsqueeze(-2) * X).sum(-1))
    p = e / e.sum(-1, keepdim=True)
    return (p.unsqueeze(-2) @ X).squeeze(-2)


@equivalent(ref.attend)
def attend_token_by_token(h, X):
    tokens = X.unbind(-2)
    e = [torch.exp((h * x).sum(-1, keepdim=True)) for x in tokens]
    total = sum(e)
    return sum((e_t / total) * x for e_t, x in zip(e, tokens, strict=True))


@equivalent(ref.attend)
def attend_with_softmax_rows(h, X):
    p = ref.softmax_rows(h.unsqueeze(-2) @ X.mT)
    return (p @ X).squeeze(-2)


# Part 2: project --------------------------------------------------------------------------------------------


@equivalent(ref.project)
def project_linear(X, W_Q, W_K, W_V):
    return (
        torch.nn.functional.linear(X, W_Q.T),
        torch.nn.functional.linear(X, W_K.T),
        torch.nn.functional.linear(X, W_V.T),
    )


@equivalent(ref.project)
def project_einsum(X, W_Q, W_K, W_V):
    return tuple(torch.einsum("...td,dk->...tk", X, W) for W in (W_Q, W_K, W_V))


@equivalent(ref.project)
def project_fused(X, W_Q, W_K, W_V):
    widths = [W_Q.shape[1], W_K.shape[1], W_V.shape[1]]
    return torch.split(X @ torch.cat([W_Q, W_K, W_V], dim=1), widths, dim=-1)


@equivalent(ref.project)
def project_token_by_token(X, W_Q, W_K, W_V):
    def rows(W):
        return torch.stack([(x.unsqueeze(-1) * W).sum(-2) for x in X.unbind(-2)], dim=-2)

    return rows(W_Q), rows(W_K), rows(W_V)


# Part 3: scores ---------------------------------------------------------------------------------------------


@equivalent(ref.scores)
def scores_einsum(Q, K):
    return torch.einsum("...md,...nd->...mn", Q, K) / K.size(-1) ** 0.5


@equivalent(ref.scores)
def scores_scaled_queries(Q, K):
    return (Q / math.sqrt(Q.shape[-1])) @ K.mT


@equivalent(ref.scores)
def scores_fourth_roots(Q, K):
    root = K.shape[-1] ** -0.25
    return (Q * root) @ (K * root).transpose(-2, -1)


@equivalent(ref.scores)
def scores_query_by_query(Q, K):
    rows = [(K @ q.unsqueeze(-1)).squeeze(-1) for q in Q.unbind(-2)]
    return torch.stack(rows, dim=-2) * (1 / math.sqrt(K.shape[-1]))


@equivalent(ref.scores)
def scores_broadcast(Q, K):
    products = Q[..., :, None, :] * K[..., None, :, :]
    return products.sum(dim=-1) / torch.sqrt(torch.tensor(float(K.shape[-1]), dtype=Q.dtype))


@equivalent(ref.scores)
def scores_flat_batch(Q, K):
    flat = torch.bmm(Q.reshape(-1, *Q.shape[-2:]), K.reshape(-1, *K.shape[-2:]).transpose(1, 2))
    return flat.div_(math.sqrt(Q.shape[-1])).reshape(*Q.shape[:-1], K.shape[-2])


@equivalent(ref.scores)
def scores_transposed_twice(Q, K):
    return (K @ Q.transpose(-1, -2)).transpose(-1, -2) / K.shape[-1] ** 0.5


# Part 4: softmax_rows ---------------------------------------------------------------------------------------


@equivalent(ref.softmax_rows)
def softmax_of_the_library(S):
    return torch.softmax(S, dim=-1)


@equivalent(ref.softmax_rows)
def softmax_module(S):
    return torch.nn.Softmax(dim=-1)(S)


@equivalent(ref.softmax_rows)
def softmax_logsumexp(S):
    return torch.exp(S - torch.logsumexp(S, dim=-1, keepdim=True))


@equivalent(ref.softmax_rows)
def softmax_log_space(S):
    return torch.nn.functional.log_softmax(S, dim=-1).exp()


@equivalent(ref.softmax_rows)
def softmax_in_place_on_a_copy(S):
    E = S.clone()
    E -= S.detach().max(dim=-1, keepdim=True).values
    E = E.exp()
    return E.div(E.sum(-1).unsqueeze(-1))


@equivalent(ref.softmax_rows)
def softmax_row_by_row(S):
    def row(s):
        e = torch.exp(s - s.max())
        return e / e.sum()

    return torch.stack([row(s) for s in S.reshape(-1, S.shape[-1])]).reshape(S.shape)


@equivalent(ref.softmax_rows)
def softmax_in_float64_and_back(S):
    return torch.softmax(S, dim=-1, dtype=torch.float64).to(S.dtype)


# Part 5: masked_softmax -------------------------------------------------------------------------------------


@equivalent(ref.masked_softmax)
def masked_infinity_and_nan_to_num(S, mask):
    return torch.nan_to_num(torch.softmax(S.masked_fill(~mask, -math.inf), dim=-1))


@equivalent(ref.masked_softmax)
def masked_infinity_and_where(S, mask):
    A = torch.softmax(torch.where(mask, S, -math.inf), dim=-1)
    return torch.where(mask, A, torch.zeros_like(A))


@equivalent(ref.masked_softmax)
def masked_minus_a_billion(S, mask):
    return torch.softmax(S.masked_fill(mask.logical_not(), -1e9), dim=-1) * mask


@equivalent(ref.masked_softmax)
def masked_exponentials(S, mask):
    lowest = torch.full_like(S, -1e30)
    top = torch.where(mask, S, lowest).amax(dim=-1, keepdim=True)
    E = torch.exp(torch.where(mask, S - top, lowest)) * mask
    total = E.sum(dim=-1, keepdim=True)
    return E / torch.where(total > 0, total, torch.ones_like(total))


@equivalent(ref.masked_softmax)
def masked_blocked_rows_opened(S, mask):
    mask = mask.expand(S.shape)
    seeing = mask.any(dim=-1, keepdim=True)
    A = ref.softmax_rows(S.masked_fill(~(mask | ~seeing), -math.inf))
    return A * seeing


@equivalent(ref.masked_softmax)
def masked_by_index(S, mask):
    S = S.clone()
    blocked = ~mask.expand_as(S)
    S[blocked] = torch.finfo(S.dtype).min
    A = torch.softmax(S, dim=-1)
    return A.masked_fill(blocked, 0)


@equivalent(ref.masked_softmax)
def masked_added_bias(S, mask):
    bias = torch.zeros(mask.shape, dtype=S.dtype, device=S.device).masked_fill(~mask, -1e30)
    return torch.softmax(S + bias, dim=-1) * mask.to(S.dtype)


# Part 6: attention ------------------------------------------------------------------------------------------


@equivalent(ref.attention)
def attention_from_scratch(Q, K, V, mask=None):
    S = Q @ K.mT * K.shape[-1] ** -0.5
    if mask is not None:
        S = S.masked_fill(~mask, -math.inf)
    A = torch.nan_to_num(torch.softmax(S, dim=-1), nan=0.0)
    return A @ V, A


@equivalent(ref.attention)
def attention_einsum(Q, K, V, mask=None):
    S = torch.einsum("...md,...nd->...mn", Q, K) / math.sqrt(K.shape[-1])
    if mask is None:
        mask = torch.ones(S.shape, dtype=torch.bool, device=S.device)
    A = torch.softmax(torch.where(mask, S, -1e9), dim=-1) * mask
    return torch.einsum("...mn,...nd->...md", A, V), A


@equivalent(ref.attention)
def attention_query_by_query(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    mask = None if mask is None else mask.expand(S.shape)
    weights, outputs = [], []
    for i in range(Q.shape[-2]):
        s = S[..., i : i + 1, :]
        a = ref.softmax_rows(s) if mask is None else ref.masked_softmax(s, mask[..., i : i + 1, :])
        weights.append(a)
        outputs.append((a.transpose(-1, -2) * V).sum(dim=-2, keepdim=True))
    return torch.cat(outputs, dim=-2), torch.cat(weights, dim=-2)


@equivalent(ref.attention)
def attention_value_by_value(Q, K, V, mask=None):
    S = ref.scores(Q, K)
    A = ref.softmax_rows(S) if mask is None else ref.masked_softmax(S, mask)
    Y = A[..., 0:1] * V[..., 0:1, :]
    for j in range(1, V.shape[-2]):
        Y = Y + A[..., j : j + 1] * V[..., j : j + 1, :]
    return Y, A


# Part 7: causal_mask and padding_mask -----------------------------------------------------------------------


@equivalent(ref.causal_mask)
def causal_tril(n):
    return torch.tril(torch.ones(n, n)).bool()


@equivalent(ref.causal_mask)
def causal_not_triu(n):
    return ~torch.ones((n, n), dtype=torch.bool).triu(diagonal=1)


@equivalent(ref.causal_mask)
def causal_loops(n):
    return torch.tensor([[j <= i for j in range(n)] for i in range(n)])


@equivalent(ref.padding_mask)
def padding_filled(lengths, n):
    mask = torch.zeros(*lengths.shape, 1, n, dtype=torch.bool, device=lengths.device)
    for j in range(n):
        mask[..., 0, j] = lengths > j
    return mask


@equivalent(ref.padding_mask)
def padding_cumulated(lengths, n):
    places = torch.ones(n, dtype=torch.long, device=lengths.device).cumsum(0)
    return (places.expand(*lengths.shape, n) <= lengths.unsqueeze(-1)).unsqueeze(-2)
