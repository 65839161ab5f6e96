"""The LSTM, from its gate equations to stacked layers in both directions.

This file is handed in. Replace every `raise NotImplementedError(...)` by your own code and keep the names and the
arguments as they are; README.md says what each part asks for. To check your work, type in this folder:

    softmark check

The equations of the lecture, with σ the logistic sigmoid and ⊙ the elementwise product:

    i_t = σ(W_ii x_t + b_ii + W_hi h_{t-1} + b_hi)       input gate
    f_t = σ(W_if x_t + b_if + W_hf h_{t-1} + b_hf)       forget gate
    g_t = tanh(W_ig x_t + b_ig + W_hg h_{t-1} + b_hg)    cell gate
    o_t = σ(W_io x_t + b_io + W_ho h_{t-1} + b_ho)       output gate
    c_t = f_t ⊙ c_{t-1} + i_t ⊙ g_t                      cell state
    h_t = o_t ⊙ tanh(c_t)                                hidden state

Conventions: those of PyTorch. A weight is `(out, in)`. The weights of the four gates are stacked in one
matrix, in the order i, f, g, o: W_ih holds W_ii, W_if, W_ig, W_io one below the other; W_hh, b_ih and b_hh
likewise. A sequence is `(T, N, D)`, time first. Results keep the dtype and the device of the input, and no
input is ever changed.

Sizes: T time steps, N sequences, D features, H units, P features of a projected hidden state.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

# ------------------------------------------------------------------------------------------------------------
# Part 1: the inputs of the gates
# ------------------------------------------------------------------------------------------------------------


def gate_inputs(
    x: torch.Tensor,
    h: torch.Tensor,
    W_ih: torch.Tensor,
    W_hh: torch.Tensor,
    b_ih: torch.Tensor,
    b_hh: torch.Tensor,
) -> torch.Tensor:
    """Compute the inputs of all four gates at once, before any σ or tanh: z = W_ih x + b_ih + W_hh h + b_hh.

    x: (…, D)        the input x_t of every sequence
    h: (…, H)        the hidden state h_{t-1} before this step; in part 5 it is (…, P), and W_hh is (4H, P)
    W_ih: (4H, D)    the blocks W_ii, W_if, W_ig, W_io
    W_hh: (4H, H)    the blocks W_hi, W_hf, W_hg, W_ho
    b_ih: (4H,)      the bias that goes with W_ih
    b_hh: (4H,)      the bias that goes with W_hh
    returns (…, 4H)  the pre-activations z, in blocks of H in the order i, f, g, o
    """
    raise NotImplementedError("part 1: gate_inputs")


# ------------------------------------------------------------------------------------------------------------
# Part 2: the gates
# ------------------------------------------------------------------------------------------------------------


def gates(z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Compute the four gates from their pre-activations: σ for i, f and o, tanh for g.

    z: (…, 4H)                                  in blocks of H in the order i, f, g, o; entries up to ±1000
    returns the tuple (i, f, g, o): (…, H) each  never NaN: a gate far out is simply 0, 1 or -1
    """
    raise NotImplementedError("part 2: gates")


# ------------------------------------------------------------------------------------------------------------
# Part 3: the next state
# ------------------------------------------------------------------------------------------------------------


def next_state(
    i: torch.Tensor, f: torch.Tensor, g: torch.Tensor, o: torch.Tensor, c: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute the state after the step: c_t = f ⊙ c_{t-1} + i ⊙ g and h_t = o ⊙ tanh(c_t).

    i, f, g, o: (…, H) each                the gates
    c: (…, H)                              the cell state c_{t-1} before the step
    returns the tuple (h, c): (…, H) each  the hidden state h_t first, then the cell state c_t
    """
    raise NotImplementedError("part 3: next_state")


# ------------------------------------------------------------------------------------------------------------
# Part 4: a whole sequence
# ------------------------------------------------------------------------------------------------------------


def lstm(
    x: torch.Tensor,
    h0: torch.Tensor | None,
    c0: torch.Tensor | None,
    W_ih: torch.Tensor,
    W_hh: torch.Tensor,
    b_ih: torch.Tensor,
    b_hh: torch.Tensor,
) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
    """Run one LSTM layer over a sequence: the step of parts 1 to 3, T times.

    x: (T, N, D)                  the sequence, time first
    h0, c0: (N, H) each           the state before the first step; either may be None, which means zeros
    W_ih, W_hh, b_ih, b_hh        as in part 1, the same for every step
    returns (output, (h, c))
        output: (T, N, H)         the hidden states h_1, …, h_T
        h, c: (N, H) each         the state after the last step

    Loop over the time steps, since each needs the state before it; not over the batch or the units.
    """
    raise NotImplementedError("part 4: lstm")


# ------------------------------------------------------------------------------------------------------------
# Part 5: a projected hidden state
# ------------------------------------------------------------------------------------------------------------


def projected_lstm(
    x: torch.Tensor,
    h0: torch.Tensor | None,
    c0: torch.Tensor | None,
    W_ih: torch.Tensor,
    W_hh: torch.Tensor,
    b_ih: torch.Tensor,
    b_hh: torch.Tensor,
    W_hr: torch.Tensor,
) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
    """Run the layer of part 4 with a projected hidden state: h_t = W_hr (o_t ⊙ tanh(c_t)), at every step.

    x: (T, N, D)                  the sequence, time first
    h0: (N, P)                    the hidden state is P wide, …
    c0: (N, H)                    … the cell state stays H wide; either may be None, which means zeros
    W_ih: (4H, D), W_hh: (4H, P)  the projected h is what the next step reads
    b_ih, b_hh: (4H,) each
    W_hr: (P, H)                  the projection
    returns (output, (h, c))
        output: (T, N, P)         the projected hidden states
        h: (N, P), c: (N, H)      the state after the last step
    """
    raise NotImplementedError("part 5: projected_lstm")


# ------------------------------------------------------------------------------------------------------------
# Part 6: stacked layers, both directions
# ------------------------------------------------------------------------------------------------------------


class LSTM(nn.Module):
    """Stacked LSTM layers, optionally in both directions, with dropout between the layers.

    The parameters have the names and shapes of PyTorch's `nn.LSTM`, so that its weights can be loaded. Layer
    k = 0, 1, … has four, and when bidirectional four more, with `_reverse` behind the name:

        weight_ih_l{k}: (4H, in)  in = D for layer 0; above it in = H, or 2H when bidirectional
        weight_hh_l{k}: (4H, H)
        bias_ih_l{k}: (4H,)
        bias_hh_l{k}: (4H,)
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        dropout: float = 0.0,
        bidirectional: bool = False,
    ) -> None:
        """Create the parameters, every entry drawn uniformly from the interval from -1/√H to 1/√H.

        input_size, hidden_size  D and H
        dropout                  the probability with which an entry between two layers is dropped
        """
        super().__init__()
        raise NotImplementedError("part 6: LSTM.__init__")

    def forward(
        self, x: torch.Tensor, state: tuple[torch.Tensor, torch.Tensor] | None = None
    ) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor]]:
        """Run all layers over a sequence. L layers in R directions (R = 1 or 2):

        x: (T, N, D)                    the sequence, time first
        state: None or (h0, c0)         (L·R, N, H) each; None means zeros
        returns (output, (h_n, c_n))
            output: (T, N, R·H)         of the last layer, at every step: forward half, then backward half
            h_n, c_n: (L·R, N, H) each  the state of each layer and direction after the last step it took

        The rows of the states: layer 0, layer 1, …; when bidirectional layer 0 forward, layer 0 backward,
        layer 1 forward, layer 1 backward, … The backward direction reads x from the last step to the first.
        Dropout acts on the output of every layer but the last, in training only; what is kept is divided by
        1 - dropout.
        """
        raise NotImplementedError("part 6: LSTM.forward")


# ------------------------------------------------------------------------------------------------------------
# Part 7: the gradients of one step
# ------------------------------------------------------------------------------------------------------------


def lstm_step_backward(
    x: torch.Tensor,
    h: torch.Tensor,
    c: torch.Tensor,
    W_ih: torch.Tensor,
    W_hh: torch.Tensor,
    b_ih: torch.Tensor,
    b_hh: torch.Tensor,
    dh_t: torch.Tensor,
    dc_t: torch.Tensor,
) -> tuple[torch.Tensor, ...]:
    """Compute the gradients of one step by hand, without autograd.

    The step is z = gate_inputs(x, h, W_ih, W_hh, b_ih, b_hh), then i, f, g, o = gates(z), and then
    h_t, c_t = next_state(i, f, g, o, c).

    x: (N, D)             the input of the step
    h, c: (N, H) each     the state before the step, h_{t-1} and c_{t-1}
    W_ih, …, b_hh         as in part 1
    dh_t: (N, H)          ∂loss/∂h_t
    dc_t: (N, H)          ∂loss/∂c_t on all ways that do not lead through this step's h_t
    returns the tuple (dx, dh, dc, dW_ih, dW_hh, db_ih, db_hh)
                          ∂loss/∂x, …, ∂loss/∂b_hh, each in the shape of its argument; the weights and biases
                          are shared by the batch, so their gradients are sums over it
    """
    raise NotImplementedError("part 7: lstm_step_backward")
