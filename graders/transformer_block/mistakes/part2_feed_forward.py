"""Wrong feed-forward sublayers: the ReLU, the biases, and what does not belong between the two layers."""

import torch
import torch.nn.functional as F

from reference import transformer_block as ref
from softmark import mistake


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
