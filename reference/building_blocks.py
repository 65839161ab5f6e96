"""Building blocks: linear layers, losses, convolution and pooling.

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
    # BEGIN SOLUTION
    return X @ W.T + b                                           # (…, d_out)  a row x times Wᵀ is the column W x
    # END SOLUTION


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
    # BEGIN SOLUTION
    H = X                                                        # (…, d_in)
    for W, b in layers[:-1]:
        H = g(H @ W + b)                                         # (…, out)    a hidden layer
    W, b = layers[-1]
    return H @ W + b                                             # (…, d_out)
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 3: losses
# ------------------------------------------------------------------------------------------------------------


def squared_loss(y_pred: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Compute the squared distance between prediction and truth, as a mean over the batch.

    y_pred: (N, C)   the predictions: C numbers for each example, or (N,), one number for each
    y: (N, C)        the right numbers, in the same shape; another shape raises ValueError
    returns ()       a tensor without axes
    """
    # BEGIN SOLUTION
    if y_pred.shape != y.shape:
        raise ValueError(f"the predictions are {tuple(y_pred.shape)}, but the right numbers {tuple(y.shape)}")
    error = y_pred - y                                           # (N,) or (N, C)
    return (error**2).sum() / len(y)                             # ()          the sum over C, the mean over N
    # END SOLUTION


def logistic_loss(z: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Compute the loss of logistic regression, -log P(y | x) with P(y = 1 | x) = σ(z), as a mean over the batch.

    z: (N,)          the logits, w·x + b for each example; finite losses for logits up to ±1000
    y: (N,)          the right classes, whole numbers 0 or 1; a shape other than that of z raises ValueError
    returns ()       a tensor without axes, with the dtype of z
    """
    # BEGIN SOLUTION
    if z.shape != y.shape:
        raise ValueError(f"the logits are {tuple(z.shape)}, but the classes {tuple(y.shape)}")
    log_total = torch.logaddexp(z, torch.zeros_like(z))          # (N,)        log(e^z + e^0), without overflow
    return (log_total - y * z).mean()                            # ()
    # END SOLUTION


def softmax_loss(logits: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Compute the loss of softmax regression, -(logits[y] - log Σ_i exp logits[i]), as a mean over the batch.

    logits: (N, C)   one logit for each class; finite losses for logits up to ±1000
    y: (N,)          the right classes, whole numbers 0, …, C-1; another shape raises ValueError
    returns ()       a tensor without axes, with the dtype of logits
    """
    # BEGIN SOLUTION
    if y.shape != logits.shape[:-1]:
        raise ValueError(f"the logits are {tuple(logits.shape)}, but the classes {tuple(y.shape)}")
    Z = logits - logits.amax(dim=-1, keepdim=True)               # (N, C)      the largest logit of a row is 0
    log_total = torch.log(torch.exp(Z).sum(dim=-1))              # (N,)
    of_class = Z.gather(-1, y.unsqueeze(-1)).squeeze(-1)         # (N,)        the logit of the right class
    return (log_total - of_class).mean()                         # ()
    # END SOLUTION


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
    # BEGIN SOLUTION
    P = torch.softmax(linear(X, W, b), dim=-1)                   # (N, C)      the probabilities
    Y = F.one_hot(y, len(b))                                     # (N, C)      1 at the right class
    G = (P - Y) / len(X)                                         # (N, C)      gradient of the logits
    dW = G.T @ X + decay * W                                     # (C, d)
    db = G.sum(dim=0)                                            # (C,)
    return W - lr * dW, b - lr * db                              # (C, d), (C,)
    # END SOLUTION


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
    # BEGIN SOLUTION
    *batch, h, w, n_in = X.shape
    k, n_out = K.shape[0], K.shape[-1]
    padded = X.new_zeros(*batch, h + 2 * padding, w + 2 * padding, n_in)
    padded[..., padding : padding + h, padding : padding + w, :] = X
    rows = (h + 2 * padding - k) // stride + 1                   # h'
    columns = (w + 2 * padding - k) // stride + 1                # w'
    Y = X.new_zeros(*batch, rows, columns, n_out)                # (…, h', w', n_out)
    for i in range(k):
        for j in range(k):
            below, right = i + stride * rows, j + stride * columns
            shifted = padded[..., i:below:stride, j:right:stride, :]  # (…, h', w', n_in)  entry i, j of every patch
            Y = Y + shifted @ K[i, j]                            # (…, h', w', n_out)
    return Y + b                                                 # (…, h', w', n_out)
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 6: max pooling
# ------------------------------------------------------------------------------------------------------------


def max_pool(X: torch.Tensor, size: int) -> torch.Tensor:
    """Take the maximum of every patch of size × size places, for each channel by itself. Patches do not overlap.

    X: (…, h, w, n)
    size                       rows and columns of a patch; rows and columns that fill no patch are left out
    returns (…, h', w', n)     with h' = ⌊h / size⌋ and w' = ⌊w / size⌋
    """
    # BEGIN SOLUTION
    *batch, h, w, n = X.shape
    rows, columns = h // size, w // size                         # h', w'
    whole = X[..., : rows * size, : columns * size, :]           # (…, h'·size, w'·size, n)
    patches = whole.reshape(*batch, rows, size, columns, size, n)  # (…, h', size, w', size, n)
    return patches.amax(dim=(-4, -2))                            # (…, h', w', n)
    # END SOLUTION


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
    # BEGIN SOLUTION
    *batch, T, n_in = X.shape
    k, n_out = K.shape[0], K.shape[-1]
    zeros = X.new_zeros(*batch, (k - 1) * dilation, n_in)        # (…, (k-1)·dilation, n_in)
    padded = torch.cat([zeros, X], dim=-2)                       # (…, (k-1)·dilation + T, n_in)
    Y = X.new_zeros(*batch, T, n_out)                            # (…, T, n_out)
    for j in range(k):
        start = j * dilation
        Y = Y + padded[..., start : start + T, :] @ K[j]         # (…, T, n_out)
    return Y + b                                                 # (…, T, n_out)
    # END SOLUTION


def receptive_field(kernels: Sequence[int], dilations: Sequence[int]) -> int:
    """Count the tokens that one output of a stack of causal convolutions can see, its own included.

    kernels          the kernel size of each layer
    dilations        the dilation of each layer, as many as kernels; otherwise ValueError
    returns          a whole number; 1 for no layer at all
    """
    # BEGIN SOLUTION
    tokens = 1                                                   # the output's own token
    for k, dilation in zip(kernels, dilations, strict=True):     # ValueError if the lengths differ
        tokens = tokens + (k - 1) * dilation                     # each layer sees so many tokens further back
    return tokens
    # END SOLUTION
