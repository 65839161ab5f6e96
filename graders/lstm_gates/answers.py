"""Checks the form of a student's answer before a test computes with it."""

import torch

from softmark import Category, fail


def three_of(answer):
    """Return output, h and c of a student's answer (output, (h, c)); fail if it has another form."""
    try:
        output, (h, c) = answer
    except (TypeError, ValueError):
        fail(Category.TYPE, "the answer is not of the form output, (h, c)")
    if not all(isinstance(value, torch.Tensor) and value.is_floating_point() for value in (output, h, c)):
        fail(Category.TYPE, "the answer output, (h, c) does not consist of tensors of floating-point numbers")
    return output.detach(), h.detach(), c.detach()
