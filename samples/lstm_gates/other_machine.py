"""A sample submission that cannot be imported: it needs a package of its writer's machine."""

import my_course_helpers as helpers
import torch


def gate_inputs(x, h, W_ih, W_hh, b_ih, b_hh):
    return helpers.linear(x, W_ih, b_ih) + helpers.linear(h, W_hh, b_hh)


def gates(z):
    i, f, g, o = z.chunk(4, dim=-1)
    return torch.sigmoid(i), torch.sigmoid(f), torch.tanh(g), torch.sigmoid(o)
