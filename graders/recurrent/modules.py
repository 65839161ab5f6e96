"""Makes modules of part 4: the student's, the reference's and PyTorch's own, with the same weights."""

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


def pair(student, sizes, **options):
    """Return the student's and the reference's module with the same random weights, in float64."""
    weights = draw_weights(sizes, options)
    own, ours = student.RNN(*sizes, **options), ref.RNN(*sizes, **options).double()
    for module in (own, ours):
        module.load_state_dict(weights)
    return own, ours


def module_inputs(sizes, options, t, n):
    """Draw x, time first or not, and the states before the first step."""
    rows = options.get("num_layers", 1) * (1 + options.get("bidirectional", False))
    axes = "n t d" if options.get("batch_first") else "t n d"
    return draw(axes, "rows n h", t=t, n=n, d=sizes[0], h=sizes[1], rows=rows)


def answer_of(make, sizes, options, weights, *inputs):
    """Return what a new module answers with these weights to its second call: the first must leave nothing behind."""
    module = make(*sizes, **options)
    module.load_state_dict(weights)
    module(*inputs)
    return module(*inputs)


def reference_answer(*given):
    return answer_of(lambda *sizes, **options: ref.RNN(*sizes, **options).double(), *given)


def check_module(student, given, *sizes, t, n, **options):
    """Check that the student's module gives PyTorch's numbers, from a given state or from None."""
    x, h0 = module_inputs(sizes, options, t, n)
    question = (sizes, options, draw_weights(sizes, options), x, h0)[: 5 if given else 4]

    def torch_answer():
        return answer_of(lambda *sizes, **options: nn.RNN(*sizes, **options).double(), *question)

    confirm_reference(lambda: reference_answer(*question), torch_answer, NAME)
    agree(lambda *given: answer_of(student.RNN, *given), reference_answer, *question)
