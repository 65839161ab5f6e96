"""Other right next states."""

import torch

from reference import lstm_gates as ref
from softmark import equivalent


@equivalent(ref.next_state)
def with_addcmul(i, f, g, o, c):
    c_t = torch.addcmul(f * c, i, g)
    return torch.mul(o, c_t.tanh()), c_t


@equivalent(ref.next_state)
def in_place_on_own_tensors(i, f, g, o, c):
    c_t = c.clone()
    c_t *= f
    c_t += i * g
    h_t = torch.tanh(c_t)
    return h_t * o, c_t
