"""The recurrent network, from one step to back-propagation through time.

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
    # BEGIN SOLUTION
    z = x @ W_x.T + h @ W_h.T + b  # (…, H)
    return torch.tanh(z)           # (…, H)  between -1 and 1
    # END SOLUTION


def joined(W_h: torch.Tensor, W_x: torch.Tensor) -> torch.Tensor:
    """Join both weights to the one matrix W of W [h; x], with h before x, so that W [h; x] = W_h h + W_x x.

    W_h: (H, H)         the weight of the hidden state
    W_x: (H, D)         the weight of the input
    returns (H, H + D)  the matrix W
    """
    # BEGIN SOLUTION
    return torch.cat([W_h, W_x], dim=1)  # (H, H + D)  side by side: each row meets h first, then x
    # END SOLUTION


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
    # BEGIN SOLUTION
    T, N, _ = x.shape
    H = W_h.shape[0]
    h = x.new_zeros(N, H) if h0 is None else h0.expand(N, H)  # (N, H)
    output = []
    for t in range(T):
        h = rnn_step(x[t], h, W_x, W_h, b)                    # (N, H)
        output.append(h)
    return torch.stack(output), h                             # (T, N, H), (N, H)
    # END SOLUTION


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
    # BEGIN SOLUTION
    x_r, x_z, x_n = (x @ W_ih.T + b_ih).chunk(3, dim=-1)  # (…, H) each
    h_r, h_z, h_n = (h @ W_hh.T + b_hh).chunk(3, dim=-1)  # (…, H) each
    r = torch.sigmoid(x_r + h_r)                          # (…, H)  how much of the old state n may see
    z = torch.sigmoid(x_z + h_z)                          # (…, H)  how much of the old state stays
    n = torch.tanh(x_n + r * h_n)                         # (…, H)  what is written, in (-1, 1)
    return (1 - z) * n + z * h                            # (…, H)  an addition: gradients pass where z is near 1
    # END SOLUTION


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
        # BEGIN SOLUTION
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f'nonlinearity is "tanh" or "relu", not {nonlinearity!r}')
        self.nonlinearity = nonlinearity
        self.num_layers = num_layers
        self.batch_first = batch_first
        self.suffixes = ("", "_reverse") if bidirectional else ("",)
        self.dropout = nn.Dropout(dropout)
        H = hidden_size
        bound = 1 / math.sqrt(H)
        for k in range(num_layers):
            in_size = input_size if k == 0 else len(self.suffixes) * H
            shapes = {"weight_ih": (H, in_size), "weight_hh": (H, H), "bias_ih": (H,), "bias_hh": (H,)}
            for suffix in self.suffixes:
                for name, shape in shapes.items():
                    start = torch.empty(shape).uniform_(-bound, bound)
                    self.register_parameter(f"{name}_l{k}{suffix}", nn.Parameter(start))
        # END SOLUTION

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
        # BEGIN SOLUTION
        if self.batch_first:
            x = x.transpose(0, 1)                                      # (T, N, D)
        T, N, _ = x.shape
        g = torch.tanh if self.nonlinearity == "tanh" else torch.relu
        h_n = []
        for k in range(self.num_layers):
            halves = []
            for suffix in self.suffixes:
                names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
                W_ih, W_hh, b_ih, b_hh = (getattr(self, f"{name}_l{k}{suffix}") for name in names)
                H = W_hh.shape[0]
                h = x.new_zeros(N, H) if h0 is None else h0[len(h_n)]  # (N, H)
                states = [h] * T
                for t in reversed(range(T)) if suffix else range(T):
                    h = g(x[t] @ W_ih.T + b_ih + h @ W_hh.T + b_hh)    # (N, H)
                    states[t] = h
                halves.append(torch.stack(states))                     # (T, N, H)  in the order of time
                h_n.append(h)
            x = torch.cat(halves, dim=-1)                              # (T, N, R·H)
            if k < self.num_layers - 1:
                x = self.dropout(x)                                    # (T, N, R·H)  unchanged in evaluation
        if self.batch_first:
            x = x.transpose(0, 1)                                      # (N, T, R·H)
        return x, torch.stack(h_n)                                     # (T, N, R·H), (L·R, N, H)
        # END SOLUTION


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
    # BEGIN SOLUTION
    if how not in ("last", "mean", "max"):
        raise ValueError(f'how is "last", "mean" or "max", not {how!r}')
    T, N, _ = outputs.shape
    t = torch.arange(T, device=outputs.device)[:, None, None]   # (T, 1, 1)
    padding = t >= lengths[:, None]                             # (T, N, 1)
    if how == "last":
        n = torch.arange(N, device=outputs.device)              # (N,)
        return outputs[lengths - 1, n]                          # (N, H)
    if how == "mean":
        total = outputs.masked_fill(padding, 0.0).sum(dim=0)    # (N, H)
        return total / lengths[:, None]                         # (N, H)
    return outputs.masked_fill(padding, -math.inf).amax(dim=0)  # (N, H)
    # END SOLUTION


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
    # BEGIN SOLUTION
    T, N, _ = x.shape
    H = W_h.shape[0]
    k = T if steps is None else steps
    output, _ = rnn(x, h0, W_x, W_h, b)                            # (T, N, H)
    start = x.new_zeros(N, H) if h0 is None else h0.expand(N, H)  # (N, H)

    dx = torch.zeros_like(x)                                       # (T, N, D)
    dW_x, dW_h, db = torch.zeros_like(W_x), torch.zeros_like(W_h), torch.zeros_like(b)
    dh_later = x.new_zeros(0, N, H)                                # one row for each later output, the next one first
    for t in reversed(range(T)):
        h_before = output[t - 1] if t > 0 else start               # (N, H)
        dh = torch.cat([d_outputs[t : t + 1], dh_later[: k - 1]])  # (≤ k, N, H)  the output's own, and k - 1 later ones
        dz = dh * (1 - output[t] ** 2)                             # (≤ k, N, H)  tanh′ = 1 - tanh²
        dh_later = dz @ W_h                                        # (≤ k, N, H)  one step further back
        dz_t = dz.sum(dim=0)                                       # (N, H)  from all outputs that reach this step
        dx[t] = dz_t @ W_x                                         # (N, D)
        dW_x += dz_t.T @ x[t]                                      # (H, D)  a sum over the batch and over time
        dW_h += dz_t.T @ h_before                                  # (H, H)
        db += dz_t.sum(dim=0)                                      # (H,)

    dh0 = dh_later.sum(dim=0)                                      # (N, H)
    return dx, None if h0 is None else dh0.sum_to_size(h0.shape), dW_x, dW_h, db
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 7: gradients that explode or vanish
# ------------------------------------------------------------------------------------------------------------


def clip(gradients: list[torch.Tensor | None], c: float) -> list[torch.Tensor | None]:
    """Clip gradients by their common norm ‖g‖: g becomes c · g / ‖g‖ if ‖g‖ > c, and else stays as it is.

    gradients  a list of tensors of any shapes, and None for a parameter without a gradient; it may be empty
    c          the largest norm that is allowed, positive
    returns a new list of the same length, with None where None was
    """
    # BEGIN SOLUTION
    norm = sum((g**2).sum() for g in gradients if g is not None) ** 0.5  # one number over all of them
    if norm > c:
        return [None if g is None else c * g / norm for g in gradients]
    return list(gradients)
    # END SOLUTION


def state_jacobian(hs: torch.Tensor, W_h: torch.Tensor) -> torch.Tensor:
    """Compute ∂h_T/∂h_0 of the network of part 2, for each sequence: a product of T matrices.

    hs: (T, N, H)         the hidden states h_1, …, h_T
    W_h: (H, H)           the weight of the hidden state
    returns (N, H, H)     entry [n, i, j] is ∂h_T[n, i] / ∂h_0[n, j]
    """
    # BEGIN SOLUTION
    _, N, H = hs.shape
    J = torch.eye(H, dtype=hs.dtype, device=hs.device).expand(N, H, H)  # (N, H, H)  ∂h_0/∂h_0
    for h in hs:
        slope = 1 - h**2                                                # (N, H)  tanh′ = 1 - tanh²
        J = slope[:, :, None] * (W_h @ J)                               # (N, H, H)  ∂h_t/∂h_0
    return J
    # END SOLUTION
