"""Cost model: what recurrent, convolutional and attention layers cost, and how a mixture of experts saves work.

This file is handed in. Replace every `raise NotImplementedError(...)` by your own code and keep the names and the
arguments as they are; README.md says what each part asks for. To check your work, type in this folder:

    softmark check

Three layers take n tokens of d features and give n tokens of d features. They differ in what they cost:

    recurrent       h_t = tanh(W_x x_t + W_h h_{t-1} + b)     one token after the other
    convolution     y_t = ReLU(Σ_j K_j x_{t-j} + b)           k neighbours at once
    attention       Y = softmax(Q Kᵀ / √d_head) V W_O         every token with every token

Letters: n tokens, d features, k entries of a kernel (part 1) or experts of a token (parts 4 to 6), f hidden units
of a feed-forward network. All counts are Python's whole numbers, however large. `…` stands for none, one or two
batch dimensions.
"""

from collections.abc import Callable

import torch

# ------------------------------------------------------------------------------------------------------------
# Part 1: what a layer costs
# ------------------------------------------------------------------------------------------------------------


def rnn_cost(n: int, d: int, n_layers: int = 1) -> tuple[int, int, int, int]:
    """Count what a stack of recurrent layers costs.

    n         the number of tokens
    d         the number of features of a token, and of a state
    n_layers  the number of layers
    returns   multiply-adds, serial steps, longest path, numbers that are kept
    """
    raise NotImplementedError("part 1: rnn_cost")


def conv_cost(n: int, d: int, k: int, n_layers: int = 1, dilated: bool = False) -> tuple[int, int, int, int]:
    """Count what a stack of causal convolutions over time costs.

    n         the number of tokens
    d         the number of features of a token, before and after each layer
    k         the number of tokens that one output looks at; ValueError if it is below 2
    n_layers  the number of layers
    dilated   if True, the layers have the dilations 1, k, k², …, else they all have the dilation 1
    returns   multiply-adds, serial steps, longest path, numbers that are kept
    """
    raise NotImplementedError("part 1: conv_cost")


def attention_cost(n: int, d: int, n_heads: int = 1, n_layers: int = 1) -> tuple[int, int, int, int]:
    """Count what a stack of self-attention layers costs.

    n         the number of tokens
    d         the number of features of a token, before and after each layer
    n_heads   the number of heads, each d / n_heads wide; ValueError if that is no whole number
    n_layers  the number of layers
    returns   multiply-adds, serial steps, longest path, numbers that are kept
    """
    raise NotImplementedError("part 1: attention_cost")


# ------------------------------------------------------------------------------------------------------------
# Part 2: parameters
# ------------------------------------------------------------------------------------------------------------


def parameters(kind: str, **sizes: int) -> int:
    """Count the parameters of a layer or model, biases included.

    kind     "rnn", "lstm", "conv", "attention", "feed_forward", "block" or "gpt"; ValueError for any other
    sizes    the sizes of that kind, by name, as the handout lists them
    returns  the number of parameters
    """
    raise NotImplementedError("part 2: parameters")


# ------------------------------------------------------------------------------------------------------------
# Part 3: where attention becomes dear
# ------------------------------------------------------------------------------------------------------------


def crossover(d: int, f: int | None = None) -> tuple[int, int]:
    """Find the shortest texts for which attention does more multiply-adds than something else.

    d        the number of features of a token
    f        the number of hidden units of the feed-forward network d → f → d; 4 d if it is None
    returns  two numbers of tokens, each at least 1. From the first one on, a whole attention layer does more
             multiply-adds than the feed-forward network. From the second one on, its scores and its mixing alone do
             more than a recurrent layer
    """
    raise NotImplementedError("part 3: crossover")


# ------------------------------------------------------------------------------------------------------------
# Part 4: a router
# ------------------------------------------------------------------------------------------------------------


def route(X: torch.Tensor, W_router: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Choose the k best experts of each token, and weigh them.

    X: (…, d)                 tokens
    W_router: (d, n_experts)  the scores of a token x are x W_router
    k                         the number of experts of a token; ValueError if it is below 1 or above n_experts
    returns (…, k), (…, k)    the experts, the one with the highest score first, of equal scores the smaller number
                              first; and their weights, softmax over the scores of these k
    """
    raise NotImplementedError("part 4: route")


# ------------------------------------------------------------------------------------------------------------
# Part 5: a mixture of experts
# ------------------------------------------------------------------------------------------------------------


def mixture(
    X: torch.Tensor, W_router: torch.Tensor, experts: Callable[[int, torch.Tensor], torch.Tensor], k: int
) -> torch.Tensor:
    """Send each token to its k experts, and sum what they make of it, weighted.

    X: (…, d)                 tokens
    W_router: (d, n_experts)
    experts                   a function: experts(e, rows) is what expert number e makes of rows (m, d), again (m, d)
    k                         the number of experts of a token
    returns (…, d)            each expert is called once, with its own tokens only; not at all if it has none
    """
    raise NotImplementedError("part 5: mixture")


# ------------------------------------------------------------------------------------------------------------
# Part 6: parameters that exist, and parameters that a token meets
# ------------------------------------------------------------------------------------------------------------


def active_parameters(d: int, f: int, n_experts: int, k: int, n_layers: int) -> tuple[int, int]:
    """Count the parameters of transformer blocks whose feed-forward network is a mixture of experts.

    d          the number of features of a token
    f          the number of hidden units of each expert, a feed-forward network d → f → d
    n_experts  the number of experts of a block
    k          the number of experts that a token is sent to
    n_layers   the number of blocks
    returns    how many parameters exist, and how many of them a token meets
    """
    raise NotImplementedError("part 6: active_parameters")
