"""What every function owes its caller, whatever it computes."""

import torch

from softmark import agree, keeps_dtype, leaves_inputs, repeatable, works_on_meta


def check_clean(got, want, *args, carried=None):
    """Right in float32 as well; the dtype kept; any device; inputs unchanged; no memory of earlier calls."""
    narrow = [arg.float() if isinstance(arg, torch.Tensor) and arg.is_floating_point() else arg for arg in args]
    agree(got, want, *narrow, carried=carried)
    keeps_dtype(got, *args)
    works_on_meta(got, *args)
    leaves_inputs(got, *args)
    repeatable(got, *args)
