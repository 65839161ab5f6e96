"""Makes the module of part 4 three times: the student's, the reference's, PyTorch's own."""

import math

from torch import nn

from reference import multi_head as ref
from softmark import draw


def modules(student, d_model, n_heads):
    """Return the student's, the reference's and PyTorch's own module, all with the same random weights."""
    theirs = nn.MultiheadAttention(d_model, n_heads, batch_first=True).double()
    weights = {name: draw(" ".join(map(str, p.shape))) for name, p in theirs.named_parameters()}
    weights = {name: w / math.sqrt(d_model) if w.dim() == 2 else w for name, w in weights.items()}
    theirs.load_state_dict(weights)
    ours = ref.MultiHeadAttention(d_model, n_heads).double()
    ours.load_state_dict(weights)
    own = student.MultiHeadAttention(d_model, n_heads)
    own.load_state_dict(weights)
    return own, ours, theirs
