"""The function `step` that hidden tests hand to a search: a small model of language without weights."""

import math

import torch


def step(tokens, state):
    """Return logits and the new state. A row of the state is a table (V, V), whose row t has the logits after token t.

    Then the rows of the table move on by t + 1 places, so what comes later depends on all tokens so far. They also
    fade, so that the same tokens in another order have another score.
    """
    V = math.isqrt(state.shape[1])
    table = state[:, : V * V].view(-1, V, V)
    logits = table[torch.arange(len(tokens)), tokens % V]
    rows = (torch.arange(V) + tokens[:, None] + 1) % V
    return logits, 0.97 * table[torch.arange(len(tokens))[:, None], rows].flatten(1)
