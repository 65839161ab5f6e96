"""A layer norm that divides by something else, has its ε elsewhere, or loses digits, gradients or its input."""

import torch

from graders.transformer_block.pieces import standardised
from reference import transformer_block as ref
from softmark import mistake


@mistake(
    ref.layer_norm,
    says="Your variance is divided by d - 1 instead of d.",
    hint="That is the default of torch.var and torch.std; layer norm uses the biased variance.",
)
def norm_unbiased(X, gain, bias, eps):
    mu, var = X.mean(dim=-1, keepdim=True), X.var(dim=-1, keepdim=True)
    return gain * (X - mu) / torch.sqrt(var + eps) + bias


@mistake(
    ref.layer_norm,
    id="N05",
    says="You add ε outside the root, to the standard deviation.",
    hint="ε is added to the variance; compare the formula for a token whose variance is 1e-6.",
)
def norm_eps_outside_root(X, gain, bias, eps):
    mu, sigma = X.mean(dim=-1, keepdim=True), X.std(dim=-1, unbiased=False, keepdim=True)
    return gain * (X - mu) / (sigma + eps) + bias


@mistake(
    ref.layer_norm,
    says="You divide by the standard deviation with d - 1, and add ε to it, outside the root.",
    hint="x.std() is not what the formula has under its fraction bar: look at the d and at the place of ε.",
)
def norm_unbiased_with_eps_outside(X, gain, bias, eps):
    return gain * (X - X.mean(dim=-1, keepdim=True)) / (X.std(dim=-1, keepdim=True) + eps) + bias


@mistake(
    ref.layer_norm,
    says="You divide by the standard deviation with d - 1, and leave out ε.",
    hint="x.std() is not what the formula has under its fraction bar.",
)
def norm_unbiased_without_eps(X, gain, bias, eps):
    return gain * (X - X.mean(dim=-1, keepdim=True)) / X.std(dim=-1, keepdim=True) + bias


@mistake(
    ref.layer_norm,
    id="N06",
    says="You add ε to the numerator as well.",
    hint="A token whose features are all equal must become the bias exactly.",
)
def norm_eps_in_numerator(X, gain, bias, eps):
    mu, var = X.mean(dim=-1, keepdim=True), X.var(dim=-1, unbiased=False, keepdim=True)
    return gain * (X - mu + eps) / torch.sqrt(var + eps) + bias


@mistake(
    ref.layer_norm,
    id="N07",
    says="You leave out ε, so a token whose features are all equal becomes NaN.",
    hint="What stands under the root must never be 0.",
)
def norm_without_eps(X, gain, bias, eps):
    mu, var = X.mean(dim=-1, keepdim=True), X.var(dim=-1, unbiased=False, keepdim=True)
    return gain * (X - mu) / torch.sqrt(var) + bias


@mistake(
    ref.layer_norm,
    says="You use a fixed ε of 1e-5 and not the one that is passed in.",
    hint="eps is an argument.",
)
def norm_with_fixed_eps(X, gain, bias, eps):
    return gain * standardised(X, 1e-5) + bias


@mistake(
    ref.layer_norm,
    id="N30",
    says="You use ε as a lower limit for the variance instead of adding it.",
    hint="The formula has a sum under the root.",
)
def norm_clamped_variance(X, gain, bias, eps):
    mu, var = X.mean(dim=-1, keepdim=True), X.var(dim=-1, unbiased=False, keepdim=True)
    return gain * (X - mu) / torch.sqrt(var.clamp(min=eps)) + bias


@mistake(
    ref.layer_norm,
    id="N09",
    says="You divide by the variance: the square root is missing.",
    hint="Ten times the input must give nearly the same output.",
)
def norm_without_root(X, gain, bias, eps):
    mu, var = X.mean(dim=-1, keepdim=True), X.var(dim=-1, unbiased=False, keepdim=True)
    return gain * (X - mu) / (var + eps) + bias


@mistake(
    ref.layer_norm,
    id="N18",
    says="You square the variance once more before you take the root.",
    hint="σ² is the variance itself; look at what your function for the variance returns.",
)
def norm_of_squared_variance(X, gain, bias, eps):
    mu, var = X.mean(dim=-1, keepdim=True), X.var(dim=-1, unbiased=False, keepdim=True)
    return gain * (X - mu) / torch.sqrt(var**2 + eps) + bias


@mistake(
    ref.layer_norm,
    says="You do not subtract the mean from the tokens; you only divide by the standard deviation.",
    hint="Adding 5 to every feature of a token must not change what comes out.",
)
def norm_without_centring(X, gain, bias, eps):
    return gain * X / torch.sqrt(X.var(dim=-1, unbiased=False, keepdim=True) + eps) + bias


@mistake(
    ref.layer_norm,
    id="N10",
    says="You wrote RMS norm: the mean is not subtracted, neither from the tokens nor in the variance.",
    hint="Adding 5 to every feature of a token must not change what comes out.",
)
def norm_by_root_mean_square(X, gain, bias, eps):
    return gain * X / torch.sqrt((X**2).mean(dim=-1, keepdim=True) + eps) + bias


@mistake(
    ref.layer_norm,
    says="You subtract the mean and divide by the root mean square of the features as they were before.",
    hint="The variance is the mean of (x - μ)², not of x².",
)
def norm_by_uncentred_variance(X, gain, bias, eps):
    mu = X.mean(dim=-1, keepdim=True)
    return gain * (X - mu) / torch.sqrt((X**2).mean(dim=-1, keepdim=True) + eps) + bias


@mistake(
    ref.layer_norm,
    id="N27",
    says="You divide by the length of the centred token, so every row has length 1 instead of variance 1.",
    hint="The variance is a mean over the features, not a sum.",
)
def norm_to_unit_length(X, gain, bias, eps):
    centred = X - X.mean(dim=-1, keepdim=True)
    return gain * centred / torch.sqrt((centred**2).sum(dim=-1, keepdim=True) + eps) + bias


@mistake(
    ref.layer_norm,
    says="You divide by the mean absolute deviation instead of the standard deviation.",
    hint="The variance is the mean of the squared deviations.",
)
def norm_by_absolute_deviation(X, gain, bias, eps):
    centred = X - X.mean(dim=-1, keepdim=True)
    return gain * centred / (centred.abs().mean(dim=-1, keepdim=True) + eps) + bias


@mistake(
    ref.layer_norm,
    says="You rescale every token to the range from 0 to 1.",
    hint="Layer norm makes z-scores: subtract the mean, divide by the standard deviation.",
)
def norm_to_range(X, gain, bias, eps):
    low, high = X.amin(dim=-1, keepdim=True), X.amax(dim=-1, keepdim=True)
    return gain * (X - low) / (high - low + eps) + bias


@mistake(
    ref.layer_norm,
    id="N19",
    says="You compute the variance as the mean of x² minus μ², which loses all its digits when μ is large.",
    hint="Subtract the mean first, then square.",
)
def norm_by_two_moments(X, gain, bias, eps):
    mu = X.mean(dim=-1, keepdim=True)
    var = (X**2).mean(dim=-1, keepdim=True) - mu**2
    return gain * (X - mu) / torch.sqrt(var + eps) + bias


@mistake(
    ref.layer_norm,
    id="N21",
    says="You cut mean and variance off from the gradient.",
    hint="Both depend on the token; look for detach, .data or no_grad.",
)
def norm_with_detached_statistics(X, gain, bias, eps):
    mu, var = X.detach().mean(dim=-1, keepdim=True), X.detach().var(dim=-1, unbiased=False, keepdim=True)
    return gain * (X - mu) / torch.sqrt(var + eps) + bias


@mistake(
    ref.layer_norm,
    id="N23",
    says="You standardise the caller's tensor in place.",
    hint="Make a new tensor; the residual connection still needs the old one.",
)
def norm_in_place(X, gain, bias, eps):
    X -= X.mean(dim=-1, keepdim=True)
    X /= torch.sqrt((X**2).mean(dim=-1, keepdim=True) + eps)
    return gain * X + bias


@mistake(
    ref.layer_norm,
    says="You compute in float32 and return float32, although the tokens are float64.",
    hint="Results keep the dtype of the input.",
)
def norm_in_float32(X, gain, bias, eps):
    return gain.float() * standardised(X.float(), eps) + bias.float()
