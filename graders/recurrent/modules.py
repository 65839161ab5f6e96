"""Makes the module of part 4 three times: the student's, the reference's and PyTorch's own, with the same weights."""

import math

from torch import nn

from reference import recurrent as ref
from softmark import agree, confirm_reference, draw

NAME = "PyTorch's nn.RNN"


def draw_weights(sizes, options):
    """Draw weights for every parameter of PyTorch's own module, by name, such that states are of order one."""
    parameters = nn.RNN(*sizes, **options).named_parameters()
    drawn = {name: draw("shape", shape=tuple(value.shape)) for name, value in parameters}
    return {name: value / math.sqrt(value.shape[-1]) if value.dim() == 2 else value for name, value in drawn.items()}


def trio(student, sizes, **options):
    """Return the student's, the reference's and PyTorch's own module with the same random weights, in float64."""
    weights = draw_weights(sizes, options)
    own, ours, theirs = (make(*sizes, **options) for make in (student.RNN, ref.RNN, nn.RNN))
    for module in (own, ours.double(), theirs.double()):
        module.load_state_dict(weights)
    return own, ours, theirs


def module_inputs(sizes, options, t, n):
    """Draw x, time first or not, and the states before the first step."""
    rows = options.get("num_layers", 1) * (1 + options.get("bidirectional", False))
    axes = "n t d" if options.get("batch_first") else "t n d"
    return draw(axes, "rows n h", t=t, n=n, d=sizes[0], h=sizes[1], rows=rows)


def check_module(student, given, *sizes, t, n, **options):
    """Check that the student's module gives PyTorch's numbers, from a given state or from None."""
    own, ours, theirs = trio(student, sizes, **options)
    x, h0 = module_inputs(sizes, options, t, n)
    inputs = (x, h0) if given else (x,)
    confirm_reference(lambda: ours(*inputs), lambda: theirs(*inputs), NAME)
    agree(own, ours, *inputs)
