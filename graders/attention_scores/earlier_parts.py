"""Charges a mistake once: an error of an earlier part costs nothing in the parts that build on it.

A part that builds on earlier ones (5 on 4; 6 on 3, 4 and 5) is judged given the student's own: its values by `carried`,
of which a case can have one; everything else by `unless_inherited`. An earlier part that passes all tests of its own
excuses nothing.
"""

import torch

from reference import attention_scores as ref
from softmark import agree, errs, holds


def gives(want, function, *args):
    """Return whether the student's function gives this value. One that has passed its own tests is taken to do so."""
    return not errs(function) or holds(lambda: agree(function(*args), want))


def stable(student):
    """Return whether the student's part 4 survives large scores; if not, parts 5 and 6 are tested without them."""
    S = torch.tensor([[1000, 1000, 990], [-1000, -1000, -990], [1000, -1000, 0]], dtype=torch.float64)
    return gives(ref.softmax_rows(S), student.softmax_rows, S)
