"""The inputs that hidden tests draw."""

import torch

from softmark import draw


def step_inputs(batch, d, p, h):
    """Draw x, h and the parameters of part 1; p is the width of the hidden state."""
    return draw("batch d", "batch p", "h4 d", "h4 p", "h4", "h4", batch=batch, d=d, p=p, h4=4 * h)


def gate_values(batch, h):
    """Draw gates as they come out of part 2, and a cell state that is often larger than 1."""
    i, f, g, o, c = draw(*["batch h"] * 5, batch=batch, h=h)
    return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(2 * g), torch.sigmoid(o), 3 * c


def sequence_inputs(t, n, d, h, p=None):
    """Draw x, h0, c0 and the parameters of part 4; with p also W_hr of part 5."""
    specs = ["t n d", "n p", "n h", "h4 d", "h4 p", "h4", "h4", "p h"]
    drawn = draw(*specs, t=t, n=n, d=d, h=h, p=p or h, h4=4 * h)
    return drawn if p else drawn[:-1]


def with_gates_far_out(levels, h=3):
    """Draw pre-activations (rows, 4H) of order one; in each row one gate is far out, by one of the levels, + or -."""
    z = draw("levels 2 4 4 h", levels=len(levels), h=h)
    for row, level in zip(z, levels, strict=True):
        for gate in range(4):
            row[0, gate, gate], row[1, gate, gate] = level, -level
    return z.flatten(3).flatten(0, 2)


ALIKE = [(4, 4, 3, 5), (4, 2, 4, 3), (5, 2, 3, 5), (3, 4, 4, 2), (3, 5, 2, 5), (2, 3, 8, 2), (2, 8, 3, 2), (3, 3, 3, 3)]
"""T, N, D and H where axes that must not be mixed up are of equal length: T = N, T = D, …, D = 4H, N = 4H."""
LONG = [(33, 2, 3, 4), (100, 1, 2, 2), (16, 65, 2, 3), (3, 2, 33, 17)]
"""T, N, D and H with a long sequence, many sequences, many features and units."""


def like(tensor):
    """Draw random numbers in the shape of a tensor."""
    return draw(" ".join(map(str, tensor.shape)))
