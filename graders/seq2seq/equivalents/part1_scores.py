"""Other right scores."""

import torch
import torch.nn.functional as F

from reference import seq2seq as ref
from softmark import equivalent


@equivalent(ref.dot_scores)
def with_einsum(query, states):
    return torch.einsum("nd,nsd->ns", query, states)


@equivalent(ref.dot_scores)
def product_and_sum(query, states):
    return (query.unsqueeze(1) * states).sum(-1)


@equivalent(ref.dot_scores)
def sentence_by_sentence(query, states):
    return torch.stack([x.mv(q) for q, x in zip(query, states, strict=True)])


@equivalent(ref.dot_scores)
def with_bmm(query, states):
    return torch.bmm(query[:, None], states.transpose(1, 2))[:, 0]


@equivalent(ref.bilinear_scores)
def matrix_on_the_states(query, states, W):
    keys = states @ W.T
    return torch.bmm(keys, query.unsqueeze(2)).squeeze(2)


@equivalent(ref.bilinear_scores)
def bilinear_einsum(query, states, W):
    return torch.einsum("ni,ij,nsj->ns", query, W, states)


@equivalent(ref.bilinear_scores)
def with_torch_bilinear(query, states, W):
    return F.bilinear(query[:, None].expand(-1, states.shape[1], -1).contiguous(), states, W[None])[..., 0]


@equivalent(ref.additive_scores)
def with_linear(query, states, W_q, W_x, v):
    mixed = F.linear(query, W_q).unsqueeze(1) + F.linear(states, W_x)
    return mixed.tanh().matmul(v)


@equivalent(ref.additive_scores)
def one_joined_weight(query, states, W_q, W_x, v):
    q = query[:, None].expand(-1, states.shape[1], -1)
    z = torch.cat([q, states], dim=-1) @ torch.cat([W_q, W_x], dim=1).T
    return (torch.tanh(z) * v).sum(dim=-1)


@equivalent(ref.additive_scores)
def token_by_token(query, states, W_q, W_x, v):
    asked = query @ W_q.T
    scores = [torch.tanh(asked + states[:, t] @ W_x.T) @ v for t in range(states.shape[1])]
    return torch.stack(scores, dim=1)
