"""PyTorch's own LSTM, which the reference must agree with: if it did not, that would be the graders' error."""

import torch
from torch import nn


def require_agreement(ours, theirs):
    """Nobody is judged by a reference that PyTorch's own module contradicts."""
    output, (h, c) = ours
    for own, other in zip((output, h, c), (theirs[0], *theirs[1]), strict=True):
        if not torch.allclose(own, other.reshape(own.shape), rtol=1e-9, atol=1e-9):
            raise RuntimeError("the reference and PyTorch's nn.LSTM disagree")


def torch_lstm(weights):
    """PyTorch's own layer with the weights of part 4 or 5."""
    W_ih, W_hh = weights[:2]
    h = W_ih.shape[0] // 4
    proj_size = W_hh.shape[1] if len(weights) == 5 else 0
    layer = nn.LSTM(W_ih.shape[1], h, proj_size=proj_size).double()
    layer.load_state_dict(dict(zip(layer.state_dict(), weights, strict=True)))
    return layer
