"""The LSTM, from its gate equations to stacked layers in both directions.

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
    # BEGIN SOLUTION
    from_x = x @ W_ih.T + b_ih  # (…, 4H)
    from_h = h @ W_hh.T + b_hh  # (…, 4H)
    return from_x + from_h      # (…, 4H)
    # END SOLUTION


# ------------------------------------------------------------------------------------------------------------
# Part 2: the gates
# ------------------------------------------------------------------------------------------------------------


def gates(z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """Compute the four gates from their pre-activations: σ for i, f and o, tanh for g.

    z: (…, 4H)                                  in blocks of H in the order i, f, g, o; entries up to ±1000
    returns the tuple (i, f, g, o): (…, H) each  never NaN: a gate far out is simply 0, 1 or -1
    """
    # BEGIN SOLUTION
    z_i, z_f, z_g, z_o = z.chunk(4, dim=-1)  # (…, H) each
    i = torch.sigmoid(z_i)                   # (…, H)  input gate: how much is written, in (0, 1)
    f = torch.sigmoid(z_f)                   # (…, H)  forget gate: how much is kept, in (0, 1)
    g = torch.tanh(z_g)                      # (…, H)  cell gate: what is written, in (-1, 1)
    o = torch.sigmoid(z_o)                   # (…, H)  output gate: how much is shown, in (0, 1)
    return i, f, g, o
    # END SOLUTION


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
    # BEGIN SOLUTION
    c_t = f * c + i * g        # (…, H)  keep a part of the old, write a part of the new
    h_t = o * torch.tanh(c_t)  # (…, H)  between -1 and 1
    return h_t, c_t
    # END SOLUTION


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
    # BEGIN SOLUTION
    T, N, _ = x.shape
    H = W_ih.shape[0] // 4
    h = x.new_zeros(N, H) if h0 is None else h0           # (N, H)
    c = x.new_zeros(N, H) if c0 is None else c0           # (N, H)
    output = []
    for t in range(T):
        z = gate_inputs(x[t], h, W_ih, W_hh, b_ih, b_hh)  # (N, 4H)
        i, f, g, o = gates(z)                             # (N, H) each
        h, c = next_state(i, f, g, o, c)                  # (N, H) each
        output.append(h)
    return torch.stack(output), (h, c)                    # (T, N, H), ((N, H), (N, H))
    # END SOLUTION


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
    # BEGIN SOLUTION
    T, N, _ = x.shape
    P, H = W_hr.shape
    h = x.new_zeros(N, P) if h0 is None else h0           # (N, P)
    c = x.new_zeros(N, H) if c0 is None else c0           # (N, H)
    output = []
    for t in range(T):
        z = gate_inputs(x[t], h, W_ih, W_hh, b_ih, b_hh)  # (N, 4H)
        i, f, g, o = gates(z)                             # (N, H) each
        h_wide, c = next_state(i, f, g, o, c)             # (N, H) each
        h = h_wide @ W_hr.T                               # (N, P)
        output.append(h)
    return torch.stack(output), (h, c)                    # (T, N, P), ((N, P), (N, H))
    # END SOLUTION


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
        # BEGIN SOLUTION
        self.num_layers = num_layers
        self.suffixes = ("", "_reverse") if bidirectional else ("",)
        self.dropout = nn.Dropout(dropout)
        H = hidden_size
        bound = 1 / math.sqrt(H)
        for k in range(num_layers):
            in_size = input_size if k == 0 else len(self.suffixes) * H
            shapes = {
                "weight_ih": (4 * H, in_size),
                "weight_hh": (4 * H, H),
                "bias_ih": (4 * H,),
                "bias_hh": (4 * H,),
            }
            for suffix in self.suffixes:
                for name, shape in shapes.items():
                    start = torch.empty(shape).uniform_(-bound, bound)
                    self.register_parameter(f"{name}_l{k}{suffix}", nn.Parameter(start))
        # END SOLUTION

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
        # BEGIN SOLUTION
        h_n, c_n = [], []
        for k in range(self.num_layers):
            halves = []
            for suffix in self.suffixes:
                row = len(h_n)
                h0, c0 = (None, None) if state is None else (state[0][row], state[1][row])  # (N, H) each
                names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
                weights = [getattr(self, f"{name}_l{k}{suffix}") for name in names]
                if suffix == "_reverse":
                    y, (h, c) = lstm(x.flip(0), h0, c0, *weights)  # (T, N, H), ((N, H), (N, H))
                    y = y.flip(0)                                  # (T, N, H)  in the order of time again
                else:
                    y, (h, c) = lstm(x, h0, c0, *weights)          # (T, N, H), ((N, H), (N, H))
                halves.append(y)
                h_n.append(h)
                c_n.append(c)
            x = torch.cat(halves, dim=-1)                          # (T, N, R·H)
            if k < self.num_layers - 1:
                x = self.dropout(x)                                # (T, N, R·H)  unchanged in evaluation
        return x, (torch.stack(h_n), torch.stack(c_n))             # (T, N, R·H), (L·R, N, H) each
        # END SOLUTION


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
    # BEGIN SOLUTION
    i, f, g, o = gates(gate_inputs(x, h, W_ih, W_hh, b_ih, b_hh))  # (N, H) each
    _, c_t = next_state(i, f, g, o, c)                             # (N, H)
    tanh_c = torch.tanh(c_t)                                       # (N, H)

    do = dh_t * tanh_c                                             # (N, H)  from h_t = o ⊙ tanh(c_t)
    dc_t = dc_t + dh_t * o * (1 - tanh_c**2)                       # (N, H)  now on all ways
    di = dc_t * g                                                  # (N, H)  from c_t = f ⊙ c + i ⊙ g
    dg = dc_t * i                                                  # (N, H)
    df = dc_t * c                                                  # (N, H)
    dc = dc_t * f                                                  # (N, H)

    dz_i = di * i * (1 - i)                                        # (N, H)  σ′ = σ (1 - σ)
    dz_f = df * f * (1 - f)                                        # (N, H)
    dz_g = dg * (1 - g**2)                                         # (N, H)  tanh′ = 1 - tanh²
    dz_o = do * o * (1 - o)                                        # (N, H)
    dz = torch.cat([dz_i, dz_f, dz_g, dz_o], dim=-1)               # (N, 4H)

    dx = dz @ W_ih                                                 # (N, D)
    dh = dz @ W_hh                                                 # (N, H)
    dW_ih = dz.T @ x                                               # (4H, D)  a sum over the batch
    dW_hh = dz.T @ h                                               # (4H, H)
    db_ih = dz.sum(dim=0)                                          # (4H,)
    db_hh = dz.sum(dim=0)                                          # (4H,)
    return dx, dh, dc, dW_ih, dW_hh, db_ih, db_hh
    # END SOLUTION
