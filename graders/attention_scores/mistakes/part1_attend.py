"""Wrong solutions of part 1: attend.

The files of this folder hold wrong solutions with a name: what students write when they get a part of
`attention_scores` wrong. Each one stands for a misunderstanding, is attached to the function in which it is made, and
differs from the reference on the inputs of the hidden tests. A student whose answer agrees with one of them is told
its `says` and `hint`. The ids are those of the course's catalogue (S: scores, softmax and values; M: masking).
"""

import math

import torch

from reference import attention_scores as ref
from softmark import mistake


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
