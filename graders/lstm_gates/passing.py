"""Makes weights with which the layers of part 6 pass their inputs on, so that dropout shows between any two layers."""

import torch

from graders.lstm_gates.answers import three_of
from softmark import Category, fail

H, N = 40, 100
OPEN = 40.0
NEAR = 1e-4


def passing_weights(num_layers, directions):
    """Return weights with which each unit reads one entry: i and o are open, f is closed, and no h is read.

    So c is the tanh of the entry that is read, and h is the tanh of c.
    """
    gates = torch.tensor([OPEN, -OPEN, 0.0, OPEN]).double().repeat_interleave(H)
    weights = {}
    for k in range(num_layers):
        for direction in range(directions):
            W_ih = torch.zeros(4 * H, directions * H).double()
            W_ih[2 * H : 3 * H, direction * H : (direction + 1) * H] = torch.eye(H)
            place = f"l{k}" + "_reverse" * direction
            weights |= {f"weight_ih_{place}": W_ih, f"weight_hh_{place}": torch.zeros(4 * H, H).double()}
            weights |= {f"bias_ih_{place}": gates, f"bias_hh_{place}": 0 * gates}
    return weights


def fates_seen(make, num_layers, bidirectional, training, dropout):
    """Describe what happened to the entries between each two layers, for each direction that they come from."""
    directions = 1 + bidirectional
    module = make(directions * H, H, num_layers=num_layers, dropout=dropout, bidirectional=bidirectional)
    module.load_state_dict(passing_weights(num_layers, directions))
    module.train(training)
    _, h_n, c_n = three_of(module(torch.ones(1, N, directions * H).double()))
    for name, value in (("h_n", h_n), ("c_n", c_n)):
        if value.shape != (num_layers * directions, N, H):
            expected = num_layers * directions, N, H
            fail(Category.SHAPE, f"LSTM: {name} has shape {tuple(value.shape)}, expected {expected}")
    factors = torch.atanh(c_n.double())[directions:] / h_n[:-directions]
    gone = factors.abs() < NEAR
    seen = {"whether the same entries are dropped everywhere": int((gone == gone[:1]).all())}
    for k in range(num_layers - 1):
        for direction in range(directions):
            row = k * directions + direction
            place = f" between layers {k} and {k + 1}" + ", backward" * direction
            seen[f"tenths that are dropped{place}"] = tenths(gone[row])
            for words, fate in (("left as they are", 1.0), ("divided by 1 - p", 1 / (1 - dropout))):
                seen[f"tenths that are {words}{place}"] = tenths((factors[row] - fate).abs() < NEAR)
    return seen


def tenths(flags):
    return round(10 * flags.double().mean().item())
