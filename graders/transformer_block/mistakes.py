"""Wrong solutions with a name: what students write when they get a part of `transformer_block` wrong.

Each one stands for a misunderstanding, is attached to the function in which it is made, and differs from the
reference on the inputs of the hidden tests. A student whose answer agrees with one of them is told its `says` and
`hint`. The ids are those of the course's catalogue (N: layer norm; B: transformer block; S, M, H: attention inside
it; P: positions).
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

from reference import transformer_block as ref
from softmark.verdict import mistake

# What the variants share: the right pieces, so that each variant shows its one wrong line ---------------------


def standardised(X, eps):
    """(x - μ) / √(σ² + ε)."""
    mu = X.mean(dim=-1, keepdim=True)
    var = ((X - mu) ** 2).mean(dim=-1, keepdim=True)
    return (X - mu) / torch.sqrt(var + eps)


def norm1(X, p, eps=ref.EPS):
    return ref.layer_norm(X, p["gain1"], p["bias1"], eps)


def norm2(X, p, eps=ref.EPS):
    return ref.layer_norm(X, p["gain2"], p["bias2"], eps)


def network(X, p):
    return ref.feed_forward(X, p["W1"], p["b1"], p["W2"], p["b2"])


def post_norm(X, p, attention):
    """Part 3 as it should be, around any attention."""
    Y = norm1(X + attention(X), p)
    return norm2(Y + network(Y, p), p)


def pre_norm(X, p, attention):
    """Part 4 as it should be, around any attention."""
    Y = X + attention(norm1(X, p))
    return Y + network(norm2(Y, p), p)


def attend(X_q, X_kv, p, n_heads, mask, factor=1.0):
    """Attention of the tokens X_q to the tokens X_kv, its scores multiplied by one factor more."""
    Q, K, V = X_q @ p["W_Q"] + p["b_Q"], X_kv @ p["W_K"] + p["b_K"], X_kv @ p["W_V"] + p["b_V"]
    Q, K, V = (Y.unflatten(-1, (n_heads, -1)).transpose(-3, -2) for Y in (Q, K, V))
    S = factor * Q @ K.transpose(-1, -2) / K.shape[-1] ** 0.5
    if mask is not None:
        S = S.masked_fill(~mask.unsqueeze(-3), torch.finfo(S.dtype).min)
    H = (torch.softmax(S, dim=-1) @ V).transpose(-3, -2).flatten(-2)
    return H @ p["W_O"] + p["b_O"]


def without_output_projection(p):
    return {**p, "W_O": torch.diag(torch.ones_like(p["b_O"])), "b_O": torch.zeros_like(p["b_O"])}


def with_weights_turned(p):
    return {name: w.T if name in ("W_Q", "W_K", "W_V", "W_O") else w for name, w in p.items()}


def with_norms_exchanged(p):
    return {**p, "gain1": p["gain2"], "bias1": p["bias2"], "gain2": p["gain1"], "bias2": p["bias1"]}


def with_first_norm_twice(p):
    return {**p, "gain2": p["gain1"], "bias2": p["bias1"]}


def blocking(mask):
    """The mask read the wrong way round; a row that would see nothing sees everything, as a fill value makes it."""
    if mask is None:
        return None
    return ~mask | mask.all(dim=-1, keepdim=True)


# Part 1: layer_norm -------------------------------------------------------------------------------------------


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
    says="You take mean and variance over axis 1, which is the features only as long as there is no batch.",
    hint="Count axes from the end: the features are the last one.",
)
def norm_over_axis_one(X, gain, bias, eps):
    mu, var = X.mean(dim=1, keepdim=True), X.var(dim=1, unbiased=False, keepdim=True)
    return gain * (X - mu) / torch.sqrt(var + eps) + bias


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


@mistake(
    ref.layer_norm,
    id="N17",
    says="You subtract the means along the wrong axis: without keepdim they line up with the features.",
    hint="Keep the last axis of mean and variance as an axis of length 1.",
)
def norm_without_keepdim(X, gain, bias, eps):
    mu, var = X.mean(dim=-1), X.var(dim=-1, unbiased=False)
    return gain * (X - mu) / torch.sqrt(var + eps) + bias


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


# Part 2: feed_forward -----------------------------------------------------------------------------------------


@mistake(
    ref.feed_forward,
    id="B10",
    says="There is no ReLU between your two linear layers, so they are one linear layer.",
    hint="Something has to happen to the hidden layer before the second matrix.",
)
def network_without_relu(X, W1, b1, W2, b2):
    return (X @ W1 + b1) @ W2 + b2


@mistake(
    ref.feed_forward,
    id="B11",
    says="Your ReLU comes after the second layer, so the result is never negative.",
    hint="The ReLU belongs to the hidden layer.",
)
def network_with_relu_at_the_end(X, W1, b1, W2, b2):
    return torch.relu((X @ W1 + b1) @ W2 + b2)


@mistake(
    ref.feed_forward,
    says="You apply a ReLU after the second layer, too.",
    hint="What comes out must be able to be negative.",
)
def network_with_two_relus(X, W1, b1, W2, b2):
    return torch.relu(torch.relu(X @ W1 + b1) @ W2 + b2)


@mistake(
    ref.feed_forward,
    says="You apply the ReLU to the tokens before the first layer.",
    hint="The ReLU stands between the two layers.",
)
def network_with_relu_at_the_start(X, W1, b1, W2, b2):
    return (torch.relu(X) @ W1 + b1) @ W2 + b2


@mistake(
    ref.feed_forward,
    says="Your non-linearity is GELU.",
    hint="This course uses ReLU, as the lecture does.",
)
def network_with_gelu(X, W1, b1, W2, b2):
    return F.gelu(X @ W1 + b1) @ W2 + b2


@mistake(
    ref.feed_forward,
    says="Your non-linearity is the sigmoid.",
    hint="This course uses ReLU, as the lecture does.",
)
def network_with_sigmoid(X, W1, b1, W2, b2):
    return torch.sigmoid(X @ W1 + b1) @ W2 + b2


@mistake(
    ref.feed_forward,
    says="Your non-linearity is tanh.",
    hint="This course uses ReLU, as the lecture does.",
)
def network_with_tanh(X, W1, b1, W2, b2):
    return torch.tanh(X @ W1 + b1) @ W2 + b2


@mistake(
    ref.feed_forward,
    says="Your non-linearity is a leaky ReLU.",
    hint="A ReLU lets nothing negative through.",
)
def network_with_leaky_relu(X, W1, b1, W2, b2):
    return F.leaky_relu(X @ W1 + b1) @ W2 + b2


@mistake(
    ref.feed_forward,
    says="You leave out b1.",
    hint="Both layers have a bias.",
)
def network_without_first_bias(X, W1, b1, W2, b2):
    return torch.relu(X @ W1) @ W2 + b2


@mistake(
    ref.feed_forward,
    says="You leave out b2.",
    hint="Both layers have a bias.",
)
def network_without_second_bias(X, W1, b1, W2, b2):
    return torch.relu(X @ W1 + b1) @ W2


@mistake(
    ref.feed_forward,
    says="You add b1 after the ReLU.",
    hint="The bias belongs to the first linear layer, inside the ReLU.",
)
def network_with_bias_after_relu(X, W1, b1, W2, b2):
    return (torch.relu(X @ W1) + b1) @ W2 + b2


@mistake(
    ref.feed_forward,
    says="You add X to the result.",
    hint="The residual connection belongs to the block, not to the sublayer.",
)
def network_with_residual(X, W1, b1, W2, b2):
    return X + torch.relu(X @ W1 + b1) @ W2 + b2


@mistake(
    ref.feed_forward,
    id="B14",
    says="You multiply with the transposed weights.",
    hint="Weights are (in, out) here, unlike those of nn.Linear.",
)
def network_with_transposed_weights(X, W1, b1, W2, b2):
    return torch.relu(X @ W1.T + b1) @ W2.T + b2


@mistake(
    ref.feed_forward,
    id="B13",
    says="You average the hidden layer over the tokens, so that every token gets the same result.",
    hint="No information moves between tokens here.",
)
def network_averages_tokens(X, W1, b1, W2, b2):
    H = torch.relu(X @ W1 + b1)
    return H.mean(dim=-2, keepdim=True).expand_as(H) @ W2 + b2


@mistake(
    ref.feed_forward,
    says="You divide the hidden layer by the square root of its width.",
    hint="Only the scores of attention are scaled.",
)
def network_scaled(X, W1, b1, W2, b2):
    return torch.relu(X @ W1 + b1) / W1.shape[1] ** 0.5 @ W2 + b2


@mistake(
    ref.feed_forward,
    says="You subtract the largest or the mean value before the ReLU, or normalise the hidden layer.",
    hint="Between the two layers stands a ReLU and nothing else.",
)
def network_with_centred_hidden_layer(X, W1, b1, W2, b2):
    H = X @ W1 + b1
    return torch.relu(H - H.mean(dim=-1, keepdim=True)) @ W2 + b2


# Part 3: post_norm_block --------------------------------------------------------------------------------------


@mistake(
    ref.post_norm_block,
    id="B01",
    says="You wrote the pre-norm block: your layer norms stand before the sublayers.",
    hint="Here each layer norm comes after the residual connection.",
)
def post_is_pre_norm(X, p, n_heads, mask=None):
    return ref.pre_norm_block(X, p, n_heads, mask)


@mistake(
    ref.post_norm_block,
    id="B03",
    says="The residual connection around your attention is missing.",
    hint="With an attention that puts out 0 the first half of the block must still see X.",
)
def post_without_first_residual(X, p, n_heads, mask=None):
    Y = norm1(ref.self_attention(X, p, n_heads, mask), p)
    return norm2(Y + network(Y, p), p)


@mistake(
    ref.post_norm_block,
    id="B03",
    says="The residual connection around your feed-forward network is missing.",
    hint="Each of the two sublayers has a way around it.",
)
def post_without_second_residual(X, p, n_heads, mask=None):
    Y = norm1(X + ref.self_attention(X, p, n_heads, mask), p)
    return norm2(network(Y, p), p)


@mistake(
    ref.post_norm_block,
    id="B05",
    says="You have one residual connection around both sublayers.",
    hint="Each sublayer has its own: there are two sums.",
)
def post_one_residual_around_both(X, p, n_heads, mask=None):
    Y = norm1(ref.self_attention(X, p, n_heads, mask), p)
    return norm2(X + network(Y, p), p)


@mistake(
    ref.post_norm_block,
    id="B06",
    says="Your second residual connection starts from the block's input instead of the first half's result.",
    hint="What the second sublayer reads is also what is added to its output.",
)
def post_second_residual_from_input(X, p, n_heads, mask=None):
    Y = norm1(X + ref.self_attention(X, p, n_heads, mask), p)
    return norm2(X + network(Y, p), p)


@mistake(
    ref.post_norm_block,
    says="Your feed-forward network reads the block's input instead of the first half's result.",
    hint="The two sublayers work one after the other.",
)
def post_network_reads_input(X, p, n_heads, mask=None):
    Y = norm1(X + ref.self_attention(X, p, n_heads, mask), p)
    return norm2(Y + network(X, p), p)


@mistake(
    ref.post_norm_block,
    says="Your second residual connection takes the sum before the first layer norm.",
    hint="After the first layer norm, everything that follows works with its result.",
)
def post_residual_before_norm(X, p, n_heads, mask=None):
    S = X + ref.self_attention(X, p, n_heads, mask)
    return norm2(S + network(norm1(S, p), p), p)


@mistake(
    ref.post_norm_block,
    says="You normalise what a sublayer puts out and then add its input.",
    hint="First the sum, then the layer norm: LN(X + sublayer(X)).",
)
def post_norm_inside_sum(X, p, n_heads, mask=None):
    Y = X + norm1(ref.self_attention(X, p, n_heads, mask), p)
    return Y + norm2(network(Y, p), p)


@mistake(
    ref.post_norm_block,
    says="The first layer norm is missing.",
    hint="There is one after each of the two sums.",
)
def post_without_first_norm(X, p, n_heads, mask=None):
    Y = X + ref.self_attention(X, p, n_heads, mask)
    return norm2(Y + network(Y, p), p)


@mistake(
    ref.post_norm_block,
    says="The second layer norm is missing.",
    hint="There is one after each of the two sums.",
)
def post_without_second_norm(X, p, n_heads, mask=None):
    Y = norm1(X + ref.self_attention(X, p, n_heads, mask), p)
    return Y + network(Y, p)


@mistake(
    ref.post_norm_block,
    says="You normalise the block's input as well.",
    hint="A post-norm block has two layer norms, and both come after a sum.",
)
def post_with_norm_at_the_start(X, p, n_heads, mask=None):
    return post_norm(norm1(X, p), p, lambda Z: ref.self_attention(Z, p, n_heads, mask))


@mistake(
    ref.post_norm_block,
    id="B09",
    says="You exchanged the weights of the two layer norms.",
    hint="gain1 and bias1 belong to the norm after the attention.",
)
def post_norms_exchanged(X, p, n_heads, mask=None):
    return post_norm(X, with_norms_exchanged(p), lambda Z: ref.self_attention(Z, p, n_heads, mask))


@mistake(
    ref.post_norm_block,
    id="N25",
    says="You use gain1 and bias1 in both layer norms.",
    hint="The second norm has weights of its own.",
)
def post_one_norm_for_both(X, p, n_heads, mask=None):
    return post_norm(X, with_first_norm_twice(p), lambda Z: ref.self_attention(Z, p, n_heads, mask))


@mistake(
    ref.post_norm_block,
    says="Your feed-forward network comes before the attention.",
    hint="First tokens look at each other, then each of them is worked on by itself.",
)
def post_network_first(X, p, n_heads, mask=None):
    Y = norm1(X + network(X, p), p)
    return norm2(Y + ref.self_attention(Y, p, n_heads, mask), p)


@mistake(
    ref.post_norm_block,
    says="Your block ends after the attention: the feed-forward half is missing.",
    hint="LN(X + sublayer(X)) happens twice, with two different sublayers.",
)
def post_without_network(X, p, n_heads, mask=None):
    return norm1(X + ref.self_attention(X, p, n_heads, mask), p)


@mistake(
    ref.post_norm_block,
    says="You add the input twice: once inside your attention and once around it.",
    hint="One of your functions has a residual connection already.",
)
def post_residual_twice(X, p, n_heads, mask=None):
    Y = norm1(X + X + ref.self_attention(X, p, n_heads, mask), p)
    return norm2(Y + network(Y, p), p)


@mistake(
    ref.post_norm_block,
    says="Your layer norms use an ε of 1e-12.",
    hint="EPS stands at the top of the file.",
)
def post_other_eps(X, p, n_heads, mask=None):
    Y = norm1(X + ref.self_attention(X, p, n_heads, mask), p, 1e-12)
    return norm2(Y + network(Y, p), p, 1e-12)


@mistake(
    ref.post_norm_block,
    says="Your block ignores the mask.",
    hint="Pass it on to the attention.",
)
def post_ignores_mask(X, p, n_heads, mask=None):
    return post_norm(X, p, lambda Z: ref.self_attention(Z, p, n_heads))


@mistake(
    ref.post_norm_block,
    id="M01",
    says="Your block lets tokens look exactly where they may not.",
    hint="True means may look in this course; PyTorch's own functions do not all agree with each other.",
)
def post_inverts_mask(X, p, n_heads, mask=None):
    return post_norm(X, p, lambda Z: attend(Z, Z, p, n_heads, blocking(mask)))


@mistake(
    ref.post_norm_block,
    says="Your block lets tokens look exactly where they may not.",
    hint="True means may look in this course; PyTorch's own functions do not all agree with each other.",
)
def post_passes_mask_inverted(X, p, n_heads, mask=None):
    return post_norm(X, p, lambda Z: ref.self_attention(Z, p, n_heads, None if mask is None else ~mask))


@mistake(
    ref.post_norm_block,
    says="Your block takes the mask with queries and keys exchanged.",
    hint="Row i of the mask says where token i may look.",
)
def post_transposes_mask(X, p, n_heads, mask=None):
    turned = None if mask is None else mask.transpose(-1, -2)
    return post_norm(X, p, lambda Z: attend(Z, Z, p, n_heads, turned))


@mistake(
    ref.post_norm_block,
    says="Your attention has a single head, whatever n_heads says.",
    hint="Pass n_heads on to the attention.",
)
def post_ignores_heads(X, p, n_heads, mask=None):
    return post_norm(X, p, lambda Z: ref.self_attention(Z, p, 1, mask))


@mistake(
    ref.post_norm_block,
    id="S01",
    says="The scores of your attention are not scaled.",
    hint="Divide by the square root of the width of a key of one head, or use self_attention as it is given.",
)
def post_unscaled(X, p, n_heads, mask=None):
    d_k = X.shape[-1] // n_heads
    return post_norm(X, p, lambda Z: attend(Z, Z, p, n_heads, mask, factor=d_k**0.5))


@mistake(
    ref.post_norm_block,
    id="S03",
    says="Your attention scales by √D; the width of a key is D / n_heads.",
    hint="d_k is the width of a key inside one head.",
)
def post_scaled_by_full_width(X, p, n_heads, mask=None):
    return post_norm(X, p, lambda Z: attend(Z, Z, p, n_heads, mask, factor=n_heads**-0.5))


@mistake(
    ref.post_norm_block,
    says="Your attention has no output projection: W_O and b_O are not used.",
    hint="The heads are concatenated and then multiplied by one more matrix.",
)
def post_without_output_projection(X, p, n_heads, mask=None):
    return post_norm(X, p, lambda Z: attend(Z, Z, without_output_projection(p), n_heads, mask))


@mistake(
    ref.post_norm_block,
    says="You multiply with the attention's weights transposed.",
    hint="The weights in p are (in, out) and used as X @ W.",
)
def post_weights_transposed(X, p, n_heads, mask=None):
    return post_norm(X, p, lambda Z: attend(Z, Z, with_weights_turned(p), n_heads, mask))


@mistake(
    ref.post_norm_block,
    says="You cut the residual connections off from the gradient.",
    hint="That is the way on which gradients reach the lower blocks: no detach, no .data.",
)
def post_residuals_detached(X, p, n_heads, mask=None):
    Y = norm1(X.detach() + ref.self_attention(X, p, n_heads, mask), p)
    return norm2(Y.detach() + network(Y, p), p)


@mistake(
    ref.post_norm_block,
    says="You add the attention to the caller's X in place.",
    hint="Make a new tensor of the sum.",
)
def post_in_place(X, p, n_heads, mask=None):
    X += ref.self_attention(X, p, n_heads, mask)
    Y = norm1(X, p)
    return norm2(Y + network(Y, p), p)


# Part 4: pre_norm_block ---------------------------------------------------------------------------------------


@mistake(
    ref.pre_norm_block,
    id="B01",
    says="You wrote the post-norm block: your layer norms stand after the sums.",
    hint="Here a sublayer reads normalised tokens, and the sum itself is not normalised.",
)
def pre_is_post_norm(X, p, n_heads, mask=None):
    return ref.post_norm_block(X, p, n_heads, mask)


@mistake(
    ref.pre_norm_block,
    id="B02",
    says="You add the outputs of your sublayers to the normalised tokens.",
    hint="The way around a sublayer goes around its layer norm, too.",
)
def pre_residuals_from_normalised(X, p, n_heads, mask=None):
    Z_1 = norm1(X, p)
    Z_2 = norm2(Z_1 + ref.self_attention(Z_1, p, n_heads, mask), p)
    return Z_2 + network(Z_2, p)


@mistake(
    ref.pre_norm_block,
    id="B02",
    says="You add the attention's output to the normalised tokens instead of X.",
    hint="The way around a sublayer goes around its layer norm, too.",
)
def pre_first_residual_from_normalised(X, p, n_heads, mask=None):
    Z = norm1(X, p)
    Y = Z + ref.self_attention(Z, p, n_heads, mask)
    return Y + network(norm2(Y, p), p)


@mistake(
    ref.pre_norm_block,
    id="B02",
    says="You add the feed-forward network's output to the normalised tokens.",
    hint="The way around a sublayer goes around its layer norm, too.",
)
def pre_second_residual_from_normalised(X, p, n_heads, mask=None):
    Z = norm2(X + ref.self_attention(norm1(X, p), p, n_heads, mask), p)
    return Z + network(Z, p)


@mistake(
    ref.pre_norm_block,
    id="B03",
    says="The residual connection around your attention is missing.",
    hint="With sublayers that put out 0 the block must return X.",
)
def pre_without_first_residual(X, p, n_heads, mask=None):
    Y = ref.self_attention(norm1(X, p), p, n_heads, mask)
    return Y + network(norm2(Y, p), p)


@mistake(
    ref.pre_norm_block,
    id="B03",
    says="The residual connection around your feed-forward network is missing.",
    hint="With sublayers that put out 0 the block must return X.",
)
def pre_without_second_residual(X, p, n_heads, mask=None):
    Y = X + ref.self_attention(norm1(X, p), p, n_heads, mask)
    return network(norm2(Y, p), p)


@mistake(
    ref.pre_norm_block,
    id="B05",
    says="You have one residual connection around both sublayers.",
    hint="Each sublayer has its own: there are two sums.",
)
def pre_one_residual_around_both(X, p, n_heads, mask=None):
    Y = ref.self_attention(norm1(X, p), p, n_heads, mask)
    return X + network(norm2(Y, p), p)


@mistake(
    ref.pre_norm_block,
    id="B06",
    says="Your second residual connection starts from the block's input, so the attention's result is lost there.",
    hint="The second sum adds to what the first one made.",
)
def pre_second_residual_from_input(X, p, n_heads, mask=None):
    Y = X + ref.self_attention(norm1(X, p), p, n_heads, mask)
    return X + network(norm2(Y, p), p)


@mistake(
    ref.pre_norm_block,
    says="Your two sublayers work side by side: the feed-forward network does not see the attention's result.",
    hint="The second half of the block reads what the first half made.",
)
def pre_sublayers_in_parallel(X, p, n_heads, mask=None):
    return X + ref.self_attention(norm1(X, p), p, n_heads, mask) + network(norm2(X, p), p)


@mistake(
    ref.pre_norm_block,
    says="Your attention reads X without a layer norm.",
    hint="Each of the two sublayers reads normalised tokens.",
)
def pre_without_first_norm(X, p, n_heads, mask=None):
    Y = X + ref.self_attention(X, p, n_heads, mask)
    return Y + network(norm2(Y, p), p)


@mistake(
    ref.pre_norm_block,
    says="Your feed-forward network reads its tokens without a layer norm.",
    hint="Each of the two sublayers reads normalised tokens.",
)
def pre_without_second_norm(X, p, n_heads, mask=None):
    Y = X + ref.self_attention(norm1(X, p), p, n_heads, mask)
    return Y + network(Y, p)


@mistake(
    ref.pre_norm_block,
    id="B07",
    says="Only your queries are normalised: keys and values come from X as it is.",
    hint="All three are made from the same normalised tokens.",
)
def pre_normalises_queries_only(X, p, n_heads, mask=None):
    Y = X + attend(norm1(X, p), X, p, n_heads, mask)
    return Y + network(norm2(Y, p), p)


@mistake(
    ref.pre_norm_block,
    says="You normalise what a sublayer puts out instead of what it reads.",
    hint="X + sublayer(LN(X)): look at what stands inside what.",
)
def pre_norm_after_sublayer(X, p, n_heads, mask=None):
    Y = X + norm1(ref.self_attention(X, p, n_heads, mask), p)
    return Y + norm2(network(Y, p), p)


@mistake(
    ref.pre_norm_block,
    says="You normalise the sums as well as the inputs of the sublayers.",
    hint="A pre-norm block has two layer norms, not four.",
)
def pre_and_post_norm(X, p, n_heads, mask=None):
    Y = norm1(X + ref.self_attention(norm1(X, p), p, n_heads, mask), p)
    return norm2(Y + network(norm2(Y, p), p), p)


@mistake(
    ref.pre_norm_block,
    says="You normalise once more at the end of the block.",
    hint="There is no layer norm after the last sum.",
)
def pre_with_norm_at_the_end(X, p, n_heads, mask=None):
    return norm2(pre_norm(X, p, lambda Z: ref.self_attention(Z, p, n_heads, mask)), p)


@mistake(
    ref.pre_norm_block,
    id="B09",
    says="You exchanged the weights of the two layer norms.",
    hint="gain1 and bias1 belong to the norm before the attention.",
)
def pre_norms_exchanged(X, p, n_heads, mask=None):
    return pre_norm(X, with_norms_exchanged(p), lambda Z: ref.self_attention(Z, p, n_heads, mask))


@mistake(
    ref.pre_norm_block,
    id="N25",
    says="You use gain1 and bias1 in both layer norms.",
    hint="The second norm has weights of its own.",
)
def pre_one_norm_for_both(X, p, n_heads, mask=None):
    return pre_norm(X, with_first_norm_twice(p), lambda Z: ref.self_attention(Z, p, n_heads, mask))


@mistake(
    ref.pre_norm_block,
    says="Your feed-forward network comes before the attention.",
    hint="First tokens look at each other, then each of them is worked on by itself.",
)
def pre_network_first(X, p, n_heads, mask=None):
    Y = X + network(norm1(X, p), p)
    return Y + ref.self_attention(norm2(Y, p), p, n_heads, mask)


@mistake(
    ref.pre_norm_block,
    says="Your block ends after the attention: the feed-forward half is missing.",
    hint="X + sublayer(LN(X)) happens twice, with two different sublayers.",
)
def pre_without_network(X, p, n_heads, mask=None):
    return X + ref.self_attention(norm1(X, p), p, n_heads, mask)


@mistake(
    ref.pre_norm_block,
    says="Your layer norms use an ε of 1e-12.",
    hint="EPS stands at the top of the file.",
)
def pre_other_eps(X, p, n_heads, mask=None):
    Y = X + ref.self_attention(norm1(X, p, 1e-12), p, n_heads, mask)
    return Y + network(norm2(Y, p, 1e-12), p)


@mistake(
    ref.pre_norm_block,
    says="Your block ignores the mask.",
    hint="Pass it on to the attention.",
)
def pre_ignores_mask(X, p, n_heads, mask=None):
    return pre_norm(X, p, lambda Z: ref.self_attention(Z, p, n_heads))


@mistake(
    ref.pre_norm_block,
    id="M01",
    says="Your block lets tokens look exactly where they may not.",
    hint="True means may look in this course; PyTorch's own functions do not all agree with each other.",
)
def pre_inverts_mask(X, p, n_heads, mask=None):
    return pre_norm(X, p, lambda Z: attend(Z, Z, p, n_heads, blocking(mask)))


@mistake(
    ref.pre_norm_block,
    says="Your block lets tokens look exactly where they may not.",
    hint="True means may look in this course; PyTorch's own functions do not all agree with each other.",
)
def pre_passes_mask_inverted(X, p, n_heads, mask=None):
    return pre_norm(X, p, lambda Z: ref.self_attention(Z, p, n_heads, None if mask is None else ~mask))


@mistake(
    ref.pre_norm_block,
    says="Your attention has a single head, whatever n_heads says.",
    hint="Pass n_heads on to the attention.",
)
def pre_ignores_heads(X, p, n_heads, mask=None):
    return pre_norm(X, p, lambda Z: ref.self_attention(Z, p, 1, mask))


@mistake(
    ref.pre_norm_block,
    id="S01",
    says="The scores of your attention are not scaled.",
    hint="Divide by the square root of the width of a key of one head, or use self_attention as it is given.",
)
def pre_unscaled(X, p, n_heads, mask=None):
    d_k = X.shape[-1] // n_heads
    return pre_norm(X, p, lambda Z: attend(Z, Z, p, n_heads, mask, factor=d_k**0.5))


@mistake(
    ref.pre_norm_block,
    says="Your attention has no output projection: W_O and b_O are not used.",
    hint="The heads are concatenated and then multiplied by one more matrix.",
)
def pre_without_output_projection(X, p, n_heads, mask=None):
    return pre_norm(X, p, lambda Z: attend(Z, Z, without_output_projection(p), n_heads, mask))


@mistake(
    ref.pre_norm_block,
    says="You cut the residual connections off from the gradient.",
    hint="That is the way on which gradients reach the lower blocks: no detach, no .data.",
)
def pre_residuals_detached(X, p, n_heads, mask=None):
    Y = X.detach() + ref.self_attention(norm1(X, p), p, n_heads, mask)
    return Y.detach() + network(norm2(Y, p), p)


@mistake(
    ref.pre_norm_block,
    says="You add the attention to the caller's X in place.",
    hint="Make a new tensor of the sum.",
)
def pre_in_place(X, p, n_heads, mask=None):
    X += ref.self_attention(norm1(X, p), p, n_heads, mask)
    return X + network(norm2(X, p), p)


# Part 5: TransformerBlock, how it is made ---------------------------------------------------------------------


def make(block, d_model, n_heads, d_ff, norm_first):
    """The attributes of part 5 as they should be."""
    nn.Module.__init__(block)
    block.n_heads, block.norm_first = n_heads, norm_first
    block.self_attn = nn.MultiheadAttention(d_model, n_heads)
    block.linear1, block.linear2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
    block.norm1 = nn.ParameterDict({"weight": torch.ones(d_model), "bias": torch.zeros(d_model)})
    block.norm2 = nn.ParameterDict({"weight": torch.ones(d_model), "bias": torch.zeros(d_model)})


@mistake(
    ref.TransformerBlock.__init__,
    id="N25",
    says="Your block has one layer norm that is used in both places.",
    hint="norm1 and norm2 are two different things, with parameters of their own.",
)
def module_shares_one_norm(self, d_model, n_heads, d_ff, norm_first=False):
    make(self, d_model, n_heads, d_ff, norm_first)
    self.norm2 = self.norm1


@mistake(
    ref.TransformerBlock.__init__,
    id="N14",
    says="The gains of your new layer norms are 0, so the block starts as a constant.",
    hint="A new layer norm must be plain standardisation.",
)
def module_gains_start_at_zero(self, d_model, n_heads, d_ff, norm_first=False):
    make(self, d_model, n_heads, d_ff, norm_first)
    for norm in (self.norm1, self.norm2):
        nn.init.zeros_(norm["weight"])


@mistake(
    ref.TransformerBlock.__init__,
    says="Your hidden layer is always 4 · d_model wide.",
    hint="d_ff is an argument.",
)
def module_ignores_d_ff(self, d_model, n_heads, d_ff, norm_first=False):
    make(self, d_model, n_heads, 4 * d_model, norm_first)


@mistake(
    ref.TransformerBlock.__init__,
    says="Your linear layers have no biases.",
    hint="The handout lists twelve parameters.",
)
def module_linear_without_bias(self, d_model, n_heads, d_ff, norm_first=False):
    make(self, d_model, n_heads, d_ff, norm_first)
    self.linear1, self.linear2 = nn.Linear(d_model, d_ff, bias=False), nn.Linear(d_ff, d_model, bias=False)


@mistake(
    ref.TransformerBlock.__init__,
    says="Your attention has no biases.",
    hint="The handout lists twelve parameters.",
)
def module_attention_without_bias(self, d_model, n_heads, d_ff, norm_first=False):
    make(self, d_model, n_heads, d_ff, norm_first)
    self.self_attn = nn.MultiheadAttention(d_model, n_heads, bias=False)


@mistake(
    ref.TransformerBlock.__init__,
    says="Your norms call their parameters gain and bias; PyTorch's names are weight and bias.",
    hint="The table in the handout has the names; state_dict() shows yours.",
)
def module_norms_named_gain(self, d_model, n_heads, d_ff, norm_first=False):
    make(self, d_model, n_heads, d_ff, norm_first)
    self.norm1 = nn.ParameterDict({"gain": torch.ones(d_model), "bias": torch.zeros(d_model)})
    self.norm2 = nn.ParameterDict({"gain": torch.ones(d_model), "bias": torch.zeros(d_model)})


@mistake(
    ref.TransformerBlock.__init__,
    id="H33",
    says="Your gains and biases are plain tensors, so the module does not know them as parameters.",
    hint="Only an nn.Parameter, or a module that holds one, is found by parameters() and load_state_dict.",
)
def module_norms_of_plain_tensors(self, d_model, n_heads, d_ff, norm_first=False):
    make(self, d_model, n_heads, d_ff, norm_first)
    del self.norm1, self.norm2
    self.norm1 = {"weight": torch.ones(d_model), "bias": torch.zeros(d_model)}
    self.norm2 = {"weight": torch.ones(d_model), "bias": torch.zeros(d_model)}


@mistake(
    ref.TransformerBlock.__init__,
    says="Your block keeps the three projections of the attention apart, under names of their own.",
    hint="PyTorch keeps them in one matrix, in_proj_weight: the handout says in which order.",
)
def module_projections_apart(self, d_model, n_heads, d_ff, norm_first=False):
    make(self, d_model, n_heads, d_ff, norm_first)
    layers = {name: nn.Linear(d_model, d_model) for name in ("q_proj", "k_proj", "v_proj", "out_proj")}
    self.self_attn = nn.ModuleDict(layers)


@mistake(
    ref.TransformerBlock.__init__,
    says="Your block has a third layer norm.",
    hint="The handout lists twelve parameters and there are no others.",
)
def module_with_third_norm(self, d_model, n_heads, d_ff, norm_first=False):
    make(self, d_model, n_heads, d_ff, norm_first)
    self.norm3 = nn.ParameterDict({"weight": torch.ones(d_model), "bias": torch.zeros(d_model)})


@mistake(
    ref.TransformerBlock.__init__,
    says="Your norm_first is turned round: True gives the post-norm block.",
    hint="norm_first=True means that the norm comes before the sublayer.",
)
def module_norm_first_inverted(self, d_model, n_heads, d_ff, norm_first=False):
    make(self, d_model, n_heads, d_ff, not norm_first)


# Part 5: TransformerBlock.forward -----------------------------------------------------------------------------


def weights_of(block):
    """The weights of a module as part 3 and part 4 name them."""
    W_q, W_k, W_v = block.self_attn.in_proj_weight.chunk(3)
    b_q, b_k, b_v = block.self_attn.in_proj_bias.chunk(3)
    p = {"W_Q": W_q.T, "W_K": W_k.T, "W_V": W_v.T, "b_Q": b_q, "b_K": b_k, "b_V": b_v}
    p |= {"W_O": block.self_attn.out_proj.weight.T, "b_O": block.self_attn.out_proj.bias}
    p |= {"W1": block.linear1.weight.T, "b1": block.linear1.bias}
    p |= {"W2": block.linear2.weight.T, "b2": block.linear2.bias}
    p |= {"gain1": block.norm1["weight"], "bias1": block.norm1["bias"]}
    return p | {"gain2": block.norm2["weight"], "bias2": block.norm2["bias"]}


def run(block, X, p, mask):
    """Part 5 as it should be, with any weights."""
    return (ref.pre_norm_block if block.norm_first else ref.post_norm_block)(X, p, block.n_heads, mask)


def run_around(block, X, attention):
    """Part 5 as it should be, around any attention."""
    return (pre_norm if block.norm_first else post_norm)(X, weights_of(block), attention)


@mistake(
    ref.TransformerBlock.forward,
    says="Your module is always post-norm: norm_first has no effect.",
    hint="Ask norm_first which of the two blocks it is.",
)
def module_always_post_norm(self, X, mask=None):
    return ref.post_norm_block(X, weights_of(self), self.n_heads, mask)


@mistake(
    ref.TransformerBlock.forward,
    says="Your module is always pre-norm: norm_first has no effect.",
    hint="Ask norm_first which of the two blocks it is.",
)
def module_always_pre_norm(self, X, mask=None):
    return ref.pre_norm_block(X, weights_of(self), self.n_heads, mask)


@mistake(
    ref.TransformerBlock.forward,
    id="B09",
    says="Your module uses norm2 where norm1 belongs and the other way round.",
    hint="norm1 goes with the attention, norm2 with the feed-forward network.",
)
def module_norms_exchanged(self, X, mask=None):
    return run(self, X, with_norms_exchanged(weights_of(self)), mask)


@mistake(
    ref.TransformerBlock.forward,
    id="H11",
    says="Your module takes in_proj_weight apart as keys, queries, values.",
    hint="The handout gives the order of the three blocks of rows.",
)
def module_unpacks_keys_first(self, X, mask=None):
    p = weights_of(self)
    p |= {"W_Q": p["W_K"], "b_Q": p["b_K"], "W_K": p["W_Q"], "b_K": p["b_Q"]}
    return run(self, X, p, mask)


@mistake(
    ref.TransformerBlock.forward,
    id="H11",
    says="Your module takes in_proj_weight apart as queries, values, keys.",
    hint="The handout gives the order of the three blocks of rows.",
)
def module_unpacks_values_second(self, X, mask=None):
    p = weights_of(self)
    p |= {"W_V": p["W_K"], "b_V": p["b_K"], "W_K": p["W_V"], "b_K": p["b_V"]}
    return run(self, X, p, mask)


@mistake(
    ref.TransformerBlock.forward,
    says="Your module uses the attention's weights without transposing them.",
    hint="PyTorch keeps weights as (out, in); the functions of parts 3 and 4 want (in, out).",
)
def module_does_not_transpose(self, X, mask=None):
    return run(self, X, with_weights_turned(weights_of(self)), mask)


@mistake(
    ref.TransformerBlock.forward,
    says="Your module uses out_proj.weight without transposing it.",
    hint="PyTorch keeps weights as (out, in); W_O of parts 3 and 4 is (in, out).",
)
def module_does_not_transpose_out_proj(self, X, mask=None):
    p = weights_of(self)
    return run(self, X, {**p, "W_O": p["W_O"].T}, mask)


@mistake(
    ref.TransformerBlock.forward,
    id="S31",
    says="The queries of your module get no bias.",
    hint="The first third of in_proj_bias belongs to them.",
)
def module_without_query_bias(self, X, mask=None):
    p = weights_of(self)
    return run(self, X, p | {"b_Q": torch.zeros_like(p["b_Q"])}, mask)


@mistake(
    ref.TransformerBlock.forward,
    says="Your module leaves out the output projection of the attention.",
    hint="self_attn.out_proj mixes the concatenated heads.",
)
def module_without_output_projection(self, X, mask=None):
    return run(self, X, without_output_projection(weights_of(self)), mask)


@mistake(
    ref.TransformerBlock.forward,
    id="M01",
    says="Your module hands its mask to PyTorch as it is, where True means blocked.",
    hint="In this course True means may look: something has to be turned round on the way.",
)
def module_inverts_mask(self, X, mask=None):
    p = weights_of(self)
    return run_around(self, X, lambda Z: attend(Z, Z, p, self.n_heads, blocking(mask)))


@mistake(
    ref.TransformerBlock.forward,
    says="Your module turns the mask round before it passes it on.",
    hint="Parts 3 and 4 take the mask as the module does: True means may look.",
)
def module_passes_opposite_mask(self, X, mask=None):
    return run(self, X, weights_of(self), None if mask is None else ~mask)


@mistake(
    ref.TransformerBlock.forward,
    says="Your module ignores the mask.",
    hint="Pass it on to the attention.",
)
def module_ignores_mask(self, X, mask=None):
    return run(self, X, weights_of(self), None)


@mistake(
    ref.TransformerBlock.forward,
    says="Your module is causal even without a mask.",
    hint="Where a token may look is for the mask to say; None means everywhere.",
)
def module_always_causal(self, X, mask=None):
    T = X.shape[-2]
    causal = torch.ones(T, T, dtype=torch.bool, device=X.device).tril()
    return run(self, X, weights_of(self), causal if mask is None else mask)


@mistake(
    ref.TransformerBlock.forward,
    id="H07",
    says="Your module lines its masks up with the wrong examples: all examples for head 0 come first, then head 1.",
    hint="PyTorch wants the masks of all heads of example 0, then those of example 1: repeat or repeat_interleave?",
)
def module_tiles_masks(self, X, mask=None):
    T, batch, p = X.shape[-2], X.shape[:-2], weights_of(self)

    def attention(Z):
        if mask is None:
            return ref.self_attention(Z, p, self.n_heads)
        masks = mask.expand(*batch, T, T).reshape(-1, T, T).repeat(self.n_heads, 1, 1)
        masks = masks.unflatten(0, (-1, self.n_heads)).unflatten(0, batch or (1,))
        return attend_by_head(Z, p, self.n_heads, masks if batch else masks.squeeze(0))

    return run_around(self, X, attention)


def attend_by_head(X, p, n_heads, mask):
    """Attention with a mask for every head, (…, n_heads, T, T)."""
    one = {name: p[name] for name in ("W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V")}
    Q, K, V = (X @ one[f"W_{r}"] + one[f"b_{r}"] for r in "QKV")
    Q, K, V = (Y.unflatten(-1, (n_heads, -1)).transpose(-3, -2) for Y in (Q, K, V))
    S = (Q @ K.transpose(-1, -2) / K.shape[-1] ** 0.5).masked_fill(~mask, torch.finfo(X.dtype).min)
    return (torch.softmax(S, dim=-1) @ V).transpose(-3, -2).flatten(-2) @ p["W_O"] + p["b_O"]


@mistake(
    ref.TransformerBlock.forward,
    says="Your tokens look at the same place of the other examples instead of their own sequence.",
    hint="nn.MultiheadAttention takes (T, N, D) unless it is made with batch_first=True.",
)
def module_attends_across_the_batch(self, X, mask=None):
    p = weights_of(self)

    def attention(Z):
        if Z.dim() == 2:
            return ref.self_attention(Z, p, self.n_heads, mask)
        return ref.self_attention(Z.transpose(-3, -2), p, self.n_heads, mask).transpose(-3, -2)

    return run_around(self, X, attention)


@mistake(
    ref.TransformerBlock.forward,
    says="You press the batch into one axis and then attend along it: tokens look at other examples.",
    hint="nn.MultiheadAttention takes (T, N, D) unless it is made with batch_first=True.",
)
def module_attends_along_flat_batch(self, X, mask=None):
    p, N = weights_of(self), X.reshape(-1, *X.shape[-2:]).shape[0]
    allowed = None if mask is None else mask.expand(*X.shape[:-2], *2 * X.shape[-2:-1])
    if allowed is not None and allowed.shape[-1] != N:
        raise RuntimeError("the mask is (T, T), and the attention goes over N examples")

    def attention(Z):
        flat = Z.reshape(-1, *Z.shape[-2:]).transpose(0, 1)  # (T, N, D)
        return ref.self_attention(flat, p, self.n_heads, allowed).transpose(0, 1).reshape(Z.shape)

    return run_around(self, X, attention)


@mistake(
    ref.TransformerBlock.forward,
    says="Your module's attention has a single head.",
    hint="Keep n_heads in the constructor and use it in forward.",
)
def module_with_one_head(self, X, mask=None):
    p = weights_of(self)
    return run_around(self, X, lambda Z: ref.self_attention(Z, p, 1, mask))


@mistake(
    ref.TransformerBlock.forward,
    id="B19",
    says="Your module returns a tuple, as nn.MultiheadAttention does.",
    hint="The block returns one tensor.",
)
def module_returns_tuple(self, X, mask=None):
    return run(self, X, weights_of(self), mask), None


@mistake(
    ref.TransformerBlock.forward,
    says="Your module uses GELU in its feed-forward network.",
    hint="It is ReLU, as in part 2.",
)
def module_with_gelu(self, X, mask=None):
    p = weights_of(self)

    def attention(Z):
        return ref.self_attention(Z, p, self.n_heads, mask)

    def other_network(Z):
        return F.gelu(Z @ p["W1"] + p["b1"]) @ p["W2"] + p["b2"]

    if self.norm_first:
        Y = X + attention(norm1(X, p))
        return Y + other_network(norm2(Y, p))
    Y = norm1(X + attention(X), p)
    return norm2(Y + other_network(Y), p)


@mistake(
    ref.TransformerBlock.forward,
    says="The layer norms of your module use an ε of 1e-12.",
    hint="EPS, 1e-5, is also the default of PyTorch.",
)
def module_other_eps(self, X, mask=None):
    p = weights_of(self)
    if self.norm_first:
        Y = X + ref.self_attention(norm1(X, p, 1e-12), p, self.n_heads, mask)
        return Y + network(norm2(Y, p, 1e-12), p)
    Y = norm1(X + ref.self_attention(X, p, self.n_heads, mask), p, 1e-12)
    return norm2(Y + network(Y, p), p, 1e-12)


@mistake(
    ref.TransformerBlock.forward,
    says="Your module reads its parameters through .data, so no gradient reaches them.",
    hint="Use the parameters themselves: the optimiser needs their gradients.",
)
def module_detaches_weights(self, X, mask=None):
    return run(self, X, {name: w.detach() for name, w in weights_of(self).items()}, mask)


@mistake(
    ref.TransformerBlock.forward,
    says="Your module changes its own gains in place, so the second call gives another result.",
    hint="A forward pass leaves the parameters as they are.",
)
def module_changes_its_weights(self, X, mask=None):
    Y = run(self, X, weights_of(self), mask)
    self.norm1["weight"].data.mul_(0.5)
    return Y


# Part 6: Transformer, how it is made --------------------------------------------------------------------------


def make_transformer(model, vocab_size, max_len, d_model, blocks):
    """The attributes of part 6 as they should be."""
    nn.Module.__init__(model)
    model.embed = nn.Embedding(vocab_size, d_model)
    model.positions = nn.Parameter(0.02 * torch.randn(max_len, d_model))
    model.blocks = nn.ModuleList(blocks)


@mistake(
    ref.Transformer.__init__,
    id="R11",
    says="All blocks of your stack are one and the same object.",
    hint="Make a new block in every step of the loop.",
)
def stack_of_one_block(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
    block = ref.TransformerBlock(d_model, n_heads, d_ff, norm_first)
    make_transformer(self, vocab_size, max_len, d_model, [block] * n_layers)


@mistake(
    ref.Transformer.__init__,
    id="H33",
    says="You keep the blocks in a plain list, so their parameters are missing.",
    hint="PyTorch has a list whose modules are found.",
)
def stack_in_a_plain_list(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
    make_transformer(self, vocab_size, max_len, d_model, [])
    del self.blocks
    self.blocks = [ref.TransformerBlock(d_model, n_heads, d_ff, norm_first) for _ in range(n_layers)]


@mistake(
    ref.Transformer.__init__,
    says="You make one block, whatever n_layers says.",
    hint="The stack has n_layers blocks.",
)
def stack_ignores_n_layers(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
    blocks = [ref.TransformerBlock(d_model, n_heads, d_ff, norm_first)]
    make_transformer(self, vocab_size, max_len, d_model, blocks)


@mistake(
    ref.Transformer.__init__,
    says="Your blocks are always post-norm: you do not pass norm_first on.",
    hint="The constructor of a block takes it, too.",
)
def stack_ignores_norm_first(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
    blocks = [ref.TransformerBlock(d_model, n_heads, d_ff) for _ in range(n_layers)]
    make_transformer(self, vocab_size, max_len, d_model, blocks)


@mistake(
    ref.Transformer.__init__,
    says="Your positions are a buffer, which is never trained.",
    hint="The vectors of the positions are learned: they are a parameter.",
)
def positions_as_buffer(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
    blocks = [ref.TransformerBlock(d_model, n_heads, d_ff, norm_first) for _ in range(n_layers)]
    make_transformer(self, vocab_size, max_len, d_model, blocks)
    del self.positions
    self.register_buffer("positions", 0.02 * torch.randn(max_len, d_model))


@mistake(
    ref.Transformer.__init__,
    id="M33",
    says="You made token 0 a padding token, so its vector is never trained.",
    hint="Token 0 is a token like any other: look at the options of your embedding.",
)
def embedding_with_padding_token(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
    blocks = [ref.TransformerBlock(d_model, n_heads, d_ff, norm_first) for _ in range(n_layers)]
    make_transformer(self, vocab_size, max_len, d_model, blocks)
    self.embed = nn.Embedding(vocab_size, d_model, padding_idx=0)


@mistake(
    ref.Transformer.__init__,
    says="Your transformer has a layer norm after the last block.",
    hint="The handout lists the parameters; there is nothing after the blocks.",
)
def stack_with_final_norm(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
    blocks = [ref.TransformerBlock(d_model, n_heads, d_ff, norm_first) for _ in range(n_layers)]
    make_transformer(self, vocab_size, max_len, d_model, blocks)
    self.norm = nn.ParameterDict({"weight": torch.ones(d_model), "bias": torch.zeros(d_model)})


@mistake(
    ref.Transformer.__init__,
    says="Your transformer has an output layer.",
    hint="The handout lists the parameters; there is nothing after the blocks.",
)
def stack_with_output_layer(self, vocab_size, max_len, d_model, n_heads, d_ff, n_layers, norm_first=False):
    blocks = [ref.TransformerBlock(d_model, n_heads, d_ff, norm_first) for _ in range(n_layers)]
    make_transformer(self, vocab_size, max_len, d_model, blocks)
    self.head = nn.Linear(d_model, vocab_size)


# Part 6: Transformer.forward ----------------------------------------------------------------------------------


def require_fitting(model, tokens):
    if tokens.shape[-1] > model.positions.shape[0]:
        raise ValueError("too many tokens")


def embedded(model, tokens):
    """Tokens and positions, added."""
    require_fitting(model, tokens)
    return model.embed(tokens) + model.positions[: tokens.shape[-1]]


def may_look(tokens, diagonal=0):
    """The causal mask, or one that reaches further."""
    T = tokens.shape[-1]
    return torch.ones(T, T, dtype=torch.bool, device=tokens.device).tril(diagonal)


def through(blocks, X, mask):
    for block in blocks:
        X = block(X, mask)
    return X


@mistake(
    ref.Transformer.forward,
    id="B23",
    says="Your blocks get no mask: every token sees the tokens that come after it.",
    hint="Pass a causal mask to every block.",
)
def stack_without_mask(self, tokens):
    return through(self.blocks, embedded(self, tokens), None)


@mistake(
    ref.Transformer.forward,
    says="Only your first block is causal, so the future comes in through the others.",
    hint="Every block needs the mask.",
)
def stack_with_mask_in_first_block(self, tokens):
    first, *others = self.blocks
    return through(others, first(embedded(self, tokens), may_look(tokens)), None)


@mistake(
    ref.Transformer.forward,
    id="M09",
    says="Your tokens look at the future and not at the past.",
    hint="Rows are queries, columns are keys: which triangle is the past?",
)
def stack_sees_the_future_only(self, tokens):
    return through(self.blocks, embedded(self, tokens), may_look(tokens).T)


@mistake(
    ref.Transformer.forward,
    id="M11",
    says="Your tokens see the token that follows them.",
    hint="Your triangle reaches one step too far.",
)
def stack_sees_one_ahead(self, tokens):
    return through(self.blocks, embedded(self, tokens), may_look(tokens, 1))


@mistake(
    ref.Transformer.forward,
    id="M10",
    says="Your tokens do not see themselves, but only what came before.",
    hint="The diagonal belongs to the allowed part.",
)
def stack_without_diagonal(self, tokens):
    mask = may_look(tokens, -1)
    return through(self.blocks, embedded(self, tokens), mask | ~mask.any(dim=-1, keepdim=True))


@mistake(
    ref.Transformer.forward,
    says="Your tokens do not see themselves, but only what came before, and the first one sees nothing.",
    hint="The diagonal belongs to the allowed part.",
)
def stack_without_diagonal_anywhere(self, tokens):
    return through(self.blocks, embedded(self, tokens), may_look(tokens, -1))


@mistake(
    ref.Transformer.forward,
    says="You do not add the positions.",
    hint="The attention cannot tell the order of the tokens by itself.",
)
def stack_without_positions(self, tokens):
    require_fitting(self, tokens)
    return through(self.blocks, self.embed(tokens), may_look(tokens))


@mistake(
    ref.Transformer.forward,
    id="P06",
    says="Your positions count from 1.",
    hint="The first token gets row 0.",
)
def positions_from_one(self, tokens):
    require_fitting(self, tokens)
    rows = self.positions.roll(-1, dims=0)[: tokens.shape[-1]]
    return through(self.blocks, self.embed(tokens) + rows, may_look(tokens))


@mistake(
    ref.Transformer.forward,
    id="P17",
    says="You take the last rows of the positions instead of the first.",
    hint="The first token gets row 0, however long the sequence is.",
)
def positions_from_the_end(self, tokens):
    require_fitting(self, tokens)
    rows = self.positions[-tokens.shape[-1] :]
    return through(self.blocks, self.embed(tokens) + rows, may_look(tokens))


@mistake(
    ref.Transformer.forward,
    id="P22",
    says="You look the positions up by token instead of by place.",
    hint="The same token at two places gets two different position vectors.",
)
def positions_by_token(self, tokens):
    require_fitting(self, tokens)
    rows = self.positions[tokens % self.positions.shape[0]]
    return through(self.blocks, self.embed(tokens) + rows, may_look(tokens))


@mistake(
    ref.Transformer.forward,
    id="P23",
    says="All your tokens get the same position vector.",
    hint="Token t gets row t: you need as many rows as there are tokens.",
)
def positions_all_the_same(self, tokens):
    require_fitting(self, tokens)
    row = self.positions[tokens.shape[-1] - 1]
    return through(self.blocks, self.embed(tokens) + row, may_look(tokens))


@mistake(
    ref.Transformer.forward,
    id="P27",
    says="You add the positions again before every block.",
    hint="They are added once, to the embedding.",
)
def positions_in_every_block(self, tokens):
    X, mask = embedded(self, tokens), may_look(tokens)
    rows = self.positions[: tokens.shape[-1]]
    first, *others = self.blocks
    X = first(X, mask)
    for block in others:
        X = block(X + rows, mask)
    return X


@mistake(
    ref.Transformer.forward,
    says="You add the positions before every block, and to the first block's input twice.",
    hint="They are added once, to the embedding.",
)
def positions_before_every_block(self, tokens):
    X, mask = embedded(self, tokens), may_look(tokens)
    for block in self.blocks:
        X = block(X + self.positions[: tokens.shape[-1]], mask)
    return X


@mistake(
    ref.Transformer.forward,
    id="P14",
    says="You multiply the embeddings by the positions.",
    hint="The vector of a position is added.",
)
def positions_multiplied(self, tokens):
    require_fitting(self, tokens)
    rows = self.positions[: tokens.shape[-1]]
    return through(self.blocks, self.embed(tokens) * rows, may_look(tokens))


@mistake(
    ref.Transformer.forward,
    id="P26",
    says="You multiply the embeddings by √d_model.",
    hint="Some papers do; here the embedding is added as it is.",
)
def embedding_scaled(self, tokens):
    require_fitting(self, tokens)
    rows = self.positions[: tokens.shape[-1]]
    X = self.embed(tokens) * self.positions.shape[1] ** 0.5 + rows
    return through(self.blocks, X, may_look(tokens))


@mistake(
    ref.Transformer.forward,
    says="Your tokens pass through the first block only.",
    hint="What a block puts out goes into the next one.",
)
def first_block_only(self, tokens):
    return through(self.blocks[:1], embedded(self, tokens), may_look(tokens))


@mistake(
    ref.Transformer.forward,
    says="All your blocks read the embeddings, and only the last block's result is used.",
    hint="What a block puts out goes into the next one.",
)
def blocks_not_chained(self, tokens):
    return through(self.blocks[-1:], embedded(self, tokens), may_look(tokens))


@mistake(
    ref.Transformer.forward,
    says="Your tokens pass through the blocks in reverse order.",
    hint="blocks.0 comes first.",
)
def blocks_reversed(self, tokens):
    return through(reversed(self.blocks), embedded(self, tokens), may_look(tokens))


@mistake(
    ref.Transformer.forward,
    says="You add the input of every block to its output.",
    hint="The residual connections are inside the blocks.",
)
def residual_around_blocks(self, tokens):
    X, mask = embedded(self, tokens), may_look(tokens)
    for block in self.blocks:
        X = X + block(X, mask)
    return X


@mistake(
    ref.Transformer.forward,
    says="You normalise the output of the last block.",
    hint="There is nothing after the last block.",
)
def final_standardisation(self, tokens):
    return standardised(through(self.blocks, embedded(self, tokens), may_look(tokens)), ref.EPS)


@mistake(
    ref.Transformer.forward,
    says="You return scores for the words of the vocabulary instead of the vectors of the tokens.",
    hint="The result has the width d_model: there is no output layer here.",
)
def returns_scores_of_words(self, tokens):
    return through(self.blocks, embedded(self, tokens), may_look(tokens)) @ self.embed.weight.T


@mistake(
    ref.Transformer.forward,
    says="You return the last token only.",
    hint="Every token gets a vector.",
)
def returns_last_token(self, tokens):
    return through(self.blocks, embedded(self, tokens), may_look(tokens))[..., -1, :]


@mistake(
    ref.Transformer.forward,
    says="You do not check the length: too many tokens end in another exception than ValueError.",
    hint="Compare the number of tokens with the number of rows of the positions, and raise what the handout names.",
)
def length_not_checked(self, tokens):
    X = self.embed(tokens) + self.positions[: tokens.shape[-1]]
    return through(self.blocks, X, may_look(tokens))


@mistake(
    ref.Transformer.forward,
    says="You cut a sequence that is too long instead of refusing it.",
    hint="The handout says what happens to a sequence longer than max_len.",
)
def length_cut(self, tokens):
    tokens = tokens[..., : self.positions.shape[0]]
    return through(self.blocks, embedded(self, tokens), may_look(tokens))


@mistake(
    ref.Transformer.forward,
    id="M25",
    says="Your causal mask is on the CPU, whatever device the tokens are on.",
    hint="A new tensor needs the device of the input.",
)
def mask_on_cpu(self, tokens):
    T = tokens.shape[-1]
    return through(self.blocks, embedded(self, tokens), torch.ones(T, T, dtype=torch.bool, device="cpu").tril())


@mistake(
    ref.Transformer.forward,
    says="No gradient reaches your embedding.",
    hint="The vectors of the tokens are learned, too: no detach, no .data.",
)
def embedding_detached(self, tokens):
    require_fitting(self, tokens)
    X = self.embed(tokens).detach() + self.positions[: tokens.shape[-1]]
    return through(self.blocks, X, may_look(tokens))
