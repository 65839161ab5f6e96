"""Makes modules of part 6, gives them weights, and runs them."""

import torch
from torch import nn

from graders.lstm_gates.inputs import like
from reference import lstm_gates as ref


def random_weights(*sizes, **options):
    """Draw weights of order one for every parameter of PyTorch's own module, by name."""
    shapes = {name: value.shape for name, value in nn.LSTM(*sizes, **options).state_dict().items()}
    return {name: like(torch.empty(shape)) for name, shape in shapes.items()}


def run(cls, weights, x, state, sizes, options):
    """Return the answer of a module of this class with these weights, after another call, which must have no effect."""
    module = cls(*sizes, **options)
    module.load_state_dict(weights)
    module(x, state)
    return module(x, state)


def run_reference(weights, x, state, sizes, options):
    return run(lambda *sizes, **options: ref.LSTM(*sizes, **options).to(x.dtype), weights, x, state, sizes, options)


def in_float64(cls):
    return lambda *sizes, **options: cls(*sizes, **options).double()
