"""Building blocks: linear layers, losses, convolution and pooling.

This file is handed in. Replace every `raise NotImplementedError(...)` by your own code and keep the names and the
arguments as they are; README.md says what each part asks for. To check your work, type in this folder:

    softmark check

A neural network is put together from few kinds of blocks. Each gets some tensors and computes others:

    tokens or features    linear ──► g ──► linear ──► … ──► loss        an MLP
    a picture             conv2d ──► g ──► max_pool ──► … ──► MLP       a convolutional network
    a sequence            causal_conv1d ──► g ──► causal_conv1d ──► …   a convolution over time

Letters: N examples, C classes, T tokens or time steps, d_in and d_out the numbers of features before and after a
layer, n_in and n_out the same for the channels of a picture, h and w its height and width, k the size of a kernel.
`…` stands for none, one or two batch dimensions.
"""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F

# ------------------------------------------------------------------------------------------------------------
# Part 1: the linear layer
# ------------------------------------------------------------------------------------------------------------


def linear(X: torch.Tensor, W: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Compute y = W x + b for every row x of X.

    X: (…, d_in)
    W: (d_out, d_in)
    b: (d_out,)
    returns (…, d_out)
    """
    raise NotImplementedError("part 1: linear")


# ------------------------------------------------------------------------------------------------------------
# Part 2: the multi-layer perceptron
# ------------------------------------------------------------------------------------------------------------


def mlp(
    X: torch.Tensor,
    layers: Sequence[tuple[torch.Tensor, torch.Tensor]],
    g: Callable[[torch.Tensor], torch.Tensor],
) -> torch.Tensor:
    """Compute a stack of linear layers x W + b with g between them: g(x W₁ + b₁) W₂ + b₂ for two of them.

    X: (…, d_in)
    layers              a list of pairs (W, b), at least one: W is (in, out), b is (out,)
    g                   the non-linearity, a function of a tensor, elementwise; none follows the last layer
    returns (…, d_out)  d_out is the width of the last layer
    """
    raise NotImplementedError("part 2: mlp")


# ------------------------------------------------------------------------------------------------------------
# Part 3: losses
# ------------------------------------------------------------------------------------------------------------


def squared_loss(y_pred: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Compute the squared distance between prediction and truth, as a mean over the batch.

    y_pred: (N, C)   the predictions: C numbers for each example, or (N,), one number for each
    y: (N, C)        the right numbers, in the same shape; another shape raises ValueError
    returns ()       a tensor without axes
    """
    raise NotImplementedError("part 3: squared_loss")


def logistic_loss(z: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Compute the loss of logistic regression, -log P(y | x) with P(y = 1 | x) = σ(z), as a mean over the batch.

    z: (N,)          the logits, w·x + b for each example; finite losses for logits up to ±1000
    y: (N,)          the right classes, whole numbers 0 or 1; a shape other than that of z raises ValueError
    returns ()       a tensor without axes, with the dtype of z
    """
    raise NotImplementedError("part 3: logistic_loss")


def softmax_loss(logits: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Compute the loss of softmax regression, -(logits[y] - log Σ_i exp logits[i]), as a mean over the batch.

    logits: (N, C)   one logit for each class; finite losses for logits up to ±1000
    y: (N,)          the right classes, whole numbers 0, …, C-1; another shape raises ValueError
    returns ()       a tensor without axes, with the dtype of logits
    """
    raise NotImplementedError("part 3: softmax_loss")


# ------------------------------------------------------------------------------------------------------------
# Part 4: a step of softmax regression
# ------------------------------------------------------------------------------------------------------------


def softmax_regression_step(
    X: torch.Tensor, y: torch.Tensor, W: torch.Tensor, b: torch.Tensor, lr: float, decay: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """Take one step of gradient descent on the softmax loss of the logits W x + b, with decay on W, not on b.

    X: (N, d)        one example in each row
    y: (N,)          the right classes, whole numbers 0, …, C-1
    W: (C, d)        as in part 1
    b: (C,)
    lr               the learning rate
    decay            how much of W is added to its gradient
    returns (W, b)   new tensors, (C, d) and (C,)
    """
    raise NotImplementedError("part 4: softmax_regression_step")


# ------------------------------------------------------------------------------------------------------------
# Part 5: the convolution of a picture
# ------------------------------------------------------------------------------------------------------------


def conv2d(X: torch.Tensor, K: torch.Tensor, b: torch.Tensor, stride: int, padding: int) -> torch.Tensor:
    """Slide the kernel over the picture: each place gets the sum of the products of its k × k patch and the kernel.

    X: (…, h, w, n_in)
    K: (k, k, n_in, n_out)     not flipped: K[0, 0] meets the upper left corner of the patch
    b: (n_out,)
    stride                     by how many rows or columns the patch moves
    padding                    how many rows and columns of zeros are put on each side
    returns (…, h', w', n_out) with h' = ⌊(h + 2·padding - k) / stride⌋ + 1, and the same for w'
    """
    raise NotImplementedError("part 5: conv2d")


# ------------------------------------------------------------------------------------------------------------
# Part 6: max pooling
# ------------------------------------------------------------------------------------------------------------


def max_pool(X: torch.Tensor, size: int) -> torch.Tensor:
    """Take the maximum of every patch of size × size places, for each channel by itself. Patches do not overlap.

    X: (…, h, w, n)
    size                       rows and columns of a patch; rows and columns that fill no patch are left out
    returns (…, h', w', n)     with h' = ⌊h / size⌋ and w' = ⌊w / size⌋
    """
    raise NotImplementedError("part 6: max_pool")


# ------------------------------------------------------------------------------------------------------------
# Part 7: convolution over time
# ------------------------------------------------------------------------------------------------------------


def causal_conv1d(X: torch.Tensor, K: torch.Tensor, b: torch.Tensor, dilation: int) -> torch.Tensor:
    """Convolve over time: output t is made of the tokens t, t - dilation, t - 2·dilation, …, and of none after t.

    X: (…, T, n_in)            before the first token there are zeros
    K: (k, n_in, n_out)        the last entry, K[k-1], meets token t itself
    b: (n_out,)
    dilation                   the distance of the tokens that one output sees
    returns (…, T, n_out)
    """
    raise NotImplementedError("part 7: causal_conv1d")


def receptive_field(kernels: Sequence[int], dilations: Sequence[int]) -> int:
    """Count the tokens that one output of a stack of causal convolutions can see, its own included.

    kernels          the kernel size of each layer
    dilations        the dilation of each layer, as many as kernels; otherwise ValueError
    returns          a whole number; 1 for no layer at all
    """
    raise NotImplementedError("part 7: receptive_field")
