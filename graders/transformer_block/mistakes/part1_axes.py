"""Wrong solutions with a name: what students write when they get a part of `transformer_block` wrong.

Each one stands for a misunderstanding, is attached to the function in which it is made, and differs from the
reference on the inputs of the hidden tests. A student whose answer agrees with one of them is told its `says` and
`hint`. The ids are those of the course's catalogue (N: layer norm; B: transformer block; S, M, H: attention inside
it; P: positions).

This file: a layer norm whose mean and variance are taken over the wrong axis, or line up with it.
"""

import torch

from reference import transformer_block as ref
from softmark import mistake


@mistake(
    ref.layer_norm,
    id="N01",
    says="You take mean and variance over the first axis, which is the batch as soon as there is one.",
    hint="A token is standardised over its own features: name the axis of the features, counted from the end.",
)
def norm_over_first_axis(X, gain, bias, eps):
    mu, var = X.mean(dim=0, keepdim=True), X.var(dim=0, unbiased=False, keepdim=True)
    return gain * (X - mu) / torch.sqrt(var + eps) + bias


@mistake(
    ref.layer_norm,
    id="N02",
    says="You take mean and variance over the tokens of a sequence, one pair for each feature.",
    hint="It is the other of the last two axes: every token has its own mean and variance.",
)
def norm_over_tokens(X, gain, bias, eps):
    mu, var = X.mean(dim=-2, keepdim=True), X.var(dim=-2, unbiased=False, keepdim=True)
    return gain * (X - mu) / torch.sqrt(var + eps) + bias


@mistake(
    ref.layer_norm,
    id="N03",
    says="You take one mean and one variance for a whole sequence, so that tokens depend on each other.",
    hint="Every token has a mean and a variance of its own.",
)
def norm_over_tokens_and_features(X, gain, bias, eps):
    mu, var = X.mean(dim=(-2, -1), keepdim=True), X.var(dim=(-2, -1), unbiased=False, keepdim=True)
    return gain * (X - mu) / torch.sqrt(var + eps) + bias


@mistake(
    ref.layer_norm,
    says="You take one mean and one variance over everything, batch included.",
    hint="mean() without an axis is a single number; every token has a mean of its own.",
)
def norm_over_everything(X, gain, bias, eps):
    return gain * (X - X.mean()) / torch.sqrt(X.var(unbiased=False) + eps) + bias


@mistake(
    ref.layer_norm,
    says="You take mean and variance over axis 1, which is the features only as long as there is no batch.",
    hint="Count axes from the end: the features are the last one.",
)
def norm_over_axis_one(X, gain, bias, eps):
    mu, var = X.mean(dim=1, keepdim=True), X.var(dim=1, unbiased=False, keepdim=True)
    return gain * (X - mu) / torch.sqrt(var + eps) + bias


@mistake(
    ref.layer_norm,
    id="N17",
    says="You subtract the means along the wrong axis: without keepdim they line up with the features.",
    hint="Keep the last axis of mean and variance as an axis of length 1.",
)
def norm_without_keepdim(X, gain, bias, eps):
    mu, var = X.mean(dim=-1), X.var(dim=-1, unbiased=False)
    return gain * (X - mu) / torch.sqrt(var + eps) + bias
