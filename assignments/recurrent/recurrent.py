"""The recurrent network, from one step to back-propagation through time.

This file is handed in. Replace every `raise NotImplementedError(...)` by your own code and keep the names and the
arguments as they are; README.md says what each part asks for. To check your work, type in this folder:

    softmark check

The equation of the lectures, an Elman network:

    h_t = tanh(W_x x_t + W_h h_{t-1} + b)

Conventions: those of PyTorch. A weight is `(out, in)`. A sequence is `(T, N, D)`, time first. Results keep the
dtype and the device of the input, and no input is ever changed.

Sizes: T time steps, N sequences, D features, H units.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

# ------------------------------------------------------------------------------------------------------------
# Part 1: one step
# ------------------------------------------------------------------------------------------------------------


def rnn_step(
    x: torch.Tensor, h: torch.Tensor, W_x: torch.Tensor, W_h: torch.Tensor, b: torch.Tensor
) -> torch.Tensor:
    """Take one step: h_t = tanh(W_x x_t + W_h h_{t-1} + b).

    x: (…, D)       the input x_t of every sequence
    h: (…, H)       the hidden state h_{t-1} before this step
    W_x: (H, D)     the weight of the input
    W_h: (H, H)     the weight of the hidden state
    b: (H,)         the bias
    returns (…, H)  the hidden state h_t after this step
    """
    raise NotImplementedError("part 1: rnn_step")


def joined(W_h: torch.Tensor, W_x: torch.Tensor) -> torch.Tensor:
    """Join both weights to the one matrix W of W [h; x], with h before x, so that W [h; x] = W_h h + W_x x.

    W_h: (H, H)         the weight of the hidden state
    W_x: (H, D)         the weight of the input
    returns (H, H + D)  the matrix W
    """
    raise NotImplementedError("part 1: joined")


# ------------------------------------------------------------------------------------------------------------
# Part 2: a whole sequence
# ------------------------------------------------------------------------------------------------------------


def rnn(
    x: torch.Tensor, h0: torch.Tensor | None, W_x: torch.Tensor, W_h: torch.Tensor, b: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Run the network over a sequence: the step of part 1, T times, with the same weights.

    x: (T, N, D)            the sequence, time first
    h0: (N, H)              the state before the first step; or (H,), the same for all N sequences; or None, which
                            means zeros
    W_x, W_h, b             as in part 1, the same for every step
    returns (output, h)
        output: (T, N, H)   the hidden states h_1, …, h_T
        h: (N, H)           the state after the last step

    Loop over the time steps, since each needs the state before it; not over the batch or the units.
    """
    raise NotImplementedError("part 2: rnn")


# ------------------------------------------------------------------------------------------------------------
# Part 3: a gated step
# ------------------------------------------------------------------------------------------------------------


def gru_step(
    x: torch.Tensor,
    h: torch.Tensor,
    W_ih: torch.Tensor,
    W_hh: torch.Tensor,
    b_ih: torch.Tensor,
    b_hh: torch.Tensor,
) -> torch.Tensor:
    """Take one step of a gated recurrent unit, in the form of PyTorch's `nn.GRU`:

        r = σ(W_ir x + b_ir + W_hr h + b_hr)            reset gate
        z = σ(W_iz x + b_iz + W_hz h + b_hz)            update gate
        n = tanh(W_in x + b_in + r ⊙ (W_hn h + b_hn))   new state
        h_t = (1 - z) ⊙ n + z ⊙ h

    x: (…, D)       the input x_t of every sequence
    h: (…, H)       the hidden state h_{t-1} before this step
    W_ih: (3H, D)   the blocks W_ir, W_iz, W_in
    W_hh: (3H, H)   the blocks W_hr, W_hz, W_hn
    b_ih: (3H,)     the blocks b_ir, b_iz, b_in
    b_hh: (3H,)     the blocks b_hr, b_hz, b_hn
    returns (…, H)  the hidden state h_t after this step
    """
    raise NotImplementedError("part 3: gru_step")


# ------------------------------------------------------------------------------------------------------------
# Part 4: stacked layers, both directions
# ------------------------------------------------------------------------------------------------------------


class RNN(nn.Module):
    """Stacked recurrent layers, optionally in both directions, with dropout between the layers.

    The parameters have the names and shapes of PyTorch's `nn.RNN`, so that its weights can be loaded. Layer
    k = 0, 1, … has four, and when bidirectional four more, with `_reverse` behind the name:

        weight_ih_l{k}: (H, in)  in = D for layer 0; above it in = H, or 2H when bidirectional
        weight_hh_l{k}: (H, H)
        bias_ih_l{k}: (H,)
        bias_hh_l{k}: (H,)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
    ) -> None:
        """Create the parameters, every entry drawn uniformly from the interval from -1/√H to 1/√H.

        input_size, hidden_size  D and H
        nonlinearity             "tanh" or "relu"; anything else raises ValueError
        batch_first              True if sequences are (N, T, D) and outputs (N, T, R·H)
        dropout                  the probability with which an entry between two layers is dropped
        """
        super().__init__()
        raise NotImplementedError("part 4: RNN.__init__")

    def forward(self, x: torch.Tensor, h0: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        """Run all layers over a sequence, with h_t = g(W_ih x_t + b_ih + W_hh h_{t-1} + b_hh) in each of them.

        There are L layers in R directions (R = 1 or 2). With batch_first x is (N, T, D).

        x: (T, N, D)                the sequence, time first
        h0: None or (L·R, N, H)     the states before the first step; None means zeros
        returns (output, h_n)
            output: (T, N, R·H)     of the last layer, at every step: forward half, then backward half; with
                                    batch_first (N, T, R·H)
            h_n: (L·R, N, H)        the state of each layer and direction after the last step it took

        The rows of the states: layer 0, layer 1, …; when bidirectional layer 0 forward, layer 0 backward,
        layer 1 forward, layer 1 backward, … The backward direction reads x from the last step to the first.
        Dropout acts on the output of every layer but the last, in training only; what is kept is divided by
        1 - dropout.
        """
        raise NotImplementedError("part 4: RNN.forward")


# ------------------------------------------------------------------------------------------------------------
# Part 5: one vector for a sequence
# ------------------------------------------------------------------------------------------------------------


def read_out(outputs: torch.Tensor, lengths: torch.Tensor, how: str) -> torch.Tensor:
    """Make one vector of the outputs of each sequence, from its real steps only; the rest is padding.

    outputs: (T, N, H)  the outputs of every step, padded to the length of the longest sequence or longer
    lengths: (N,)       how many steps of each sequence are real, from 1 to T
    how                 "last", "mean" or "max"; anything else raises ValueError
    returns (N, H)      the output of the last real step, the mean or the largest of all real steps, unit by unit
    """
    raise NotImplementedError("part 5: read_out")


# ------------------------------------------------------------------------------------------------------------
# Part 6: back-propagation through time
# ------------------------------------------------------------------------------------------------------------


def rnn_backward(
    x: torch.Tensor,
    h0: torch.Tensor | None,
    W_x: torch.Tensor,
    W_h: torch.Tensor,
    b: torch.Tensor,
    d_outputs: torch.Tensor,
    steps: int | None = None,
) -> tuple[torch.Tensor | None, ...]:
    """Compute all gradients of part 2 by hand, without autograd: back-propagation through time.

    The loss depends on every output. Its gradient at an output goes back through the step that made this output,
    then through the step before, and so on. With steps=k it goes back through k steps at most, the own one
    included (truncated back-propagation).

    x: (T, N, D)          the sequence
    h0: (N, H)            as in part 2; or (H,), or None
    W_x, W_h, b           as in part 1
    d_outputs: (T, N, H)  ∂loss/∂output[t] for every step t, by the direct way, without what later steps make of it
    steps                 k ≥ 1, or None: all the way
    returns the tuple (dx, dh0, dW_x, dW_h, db)
                          ∂loss/∂x, …, ∂loss/∂b, each in the shape of its argument; None for an h0 that is None
    """
    raise NotImplementedError("part 6: rnn_backward")


# ------------------------------------------------------------------------------------------------------------
# Part 7: gradients that explode or vanish
# ------------------------------------------------------------------------------------------------------------


def clip(gradients: list[torch.Tensor | None], c: float) -> list[torch.Tensor | None]:
    """Clip gradients by their common norm ‖g‖: g becomes c · g / ‖g‖ if ‖g‖ > c, and else stays as it is.

    gradients  a list of tensors of any shapes, and None for a parameter without a gradient; it may be empty
    c          the largest norm that is allowed, positive
    returns a new list of the same length, with None where None was
    """
    raise NotImplementedError("part 7: clip")


def state_jacobian(hs: torch.Tensor, W_h: torch.Tensor) -> torch.Tensor:
    """Compute ∂h_T/∂h_0 of the network of part 2, for each sequence: a product of T matrices.

    hs: (T, N, H)         the hidden states h_1, …, h_T
    W_h: (H, H)           the weight of the hidden state
    returns (N, H, H)     entry [n, i, j] is ∂h_T[n, i] / ∂h_0[n, j]
    """
    raise NotImplementedError("part 7: state_jacobian")
