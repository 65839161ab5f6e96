"""Other right scores."""

import torch

from reference import seq2seq as ref
from softmark import equivalent


@equivalent(ref.dot_scores)
def with_einsum(query, states):
    return torch.einsum("nd,nsd->ns", query, states)
