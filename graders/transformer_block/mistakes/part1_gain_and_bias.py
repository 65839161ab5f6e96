"""A layer norm that standardises its tokens and then uses gain or bias wrongly."""

from graders.transformer_block.pieces import standardised
from reference import transformer_block as ref
from softmark import mistake


@mistake(
    ref.layer_norm,
    id="N13",
    says="You add the bias before you multiply by the gain.",
    hint="Gain first, bias last.",
)
def norm_bias_before_gain(X, gain, bias, eps):
    return gain * (standardised(X, eps) + bias)


@mistake(
    ref.layer_norm,
    says="You leave out the gain.",
    hint="Every feature is multiplied by its own gain after it is standardised.",
)
def norm_without_gain(X, gain, bias, eps):
    return standardised(X, eps) + bias


@mistake(
    ref.layer_norm,
    says="You leave out the bias.",
    hint="Every feature gets its own bias at the very end.",
)
def norm_without_bias(X, gain, bias, eps):
    return gain * standardised(X, eps)


@mistake(
    ref.layer_norm,
    says="You return the z-scores; gain and bias are not used.",
    hint="Two of your arguments have no influence on the result.",
)
def norm_without_gain_and_bias(X, gain, bias, eps):
    return standardised(X, eps)


@mistake(
    ref.layer_norm,
    says="You multiply by 1 + gain.",
    hint="The gain is the factor itself.",
)
def norm_gain_plus_one(X, gain, bias, eps):
    return (1 + gain) * standardised(X, eps) + bias


@mistake(
    ref.layer_norm,
    id="N15",
    says="You use one number of gain and bias for all features.",
    hint="gain and bias have one number per feature: let them broadcast over the last axis.",
)
def norm_scalar_gain(X, gain, bias, eps):
    return gain[0] * standardised(X, eps) + bias[0]
