"""Wrong modules, the parameters: their names, their shapes and their first values."""

import torch
from torch import nn

from graders.lstm_gates.pieces import NAMES
from reference import lstm_gates as ref
from softmark import mistake


def make_parameters(self, H, in_sizes, suffixes, start):
    """The parameters of part 6, drawn by start(shape)."""
    for k, in_size in enumerate(in_sizes):
        for suffix in suffixes:
            shapes = ((4 * H, in_size), (4 * H, H), (4 * H,), (4 * H,))
            for name, shape in zip(NAMES, shapes, strict=True):
                self.register_parameter(f"{name}_l{k}{suffix}", nn.Parameter(start(shape)))


def uniform(shape):
    """A start that is small and symmetric, whatever H."""
    return torch.rand(shape) * 0.2 - 0.1


def scaled_start(start, factor):
    return lambda shape: factor * start(shape)


def create(self, input_size, hidden_size, num_layers, dropout, bidirectional, start):
    """The constructor of part 6, with another way to draw the parameters."""
    self.num_layers = num_layers
    self.suffixes = ("", "_reverse") if bidirectional else ("",)
    self.dropout = nn.Dropout(dropout)
    above = hidden_size * len(self.suffixes)
    make_parameters(self, hidden_size, [input_size] + [above] * (num_layers - 1), self.suffixes, start)


@mistake(
    ref.LSTM.__init__,
    id="R17",
    says="You draw the parameters between 0 and 1, so all of them are positive and most far too large.",
    hint="The interval is symmetric around 0, and narrower the more units there are.",
)
def parameters_from_zero_to_one(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    create(self, input_size, hidden_size, num_layers, dropout, bidirectional, torch.rand)


@mistake(
    ref.LSTM.__init__,
    says="You draw between -1/H and 1/H: the square root is missing, so your parameters are far too small.",
    hint="The bound is one over the root of hidden_size.",
)
def bound_without_root(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    start = scaled_start(lambda shape: 2 * torch.rand(shape) - 1, 1 / hidden_size)
    create(self, input_size, hidden_size, num_layers, dropout, bidirectional, start)


@mistake(
    ref.LSTM.__init__,
    says="You draw the parameters between 0 and 1/√H, so none of them is negative.",
    hint="The interval is symmetric around 0.",
)
def parameters_from_zero_to_bound(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    start = scaled_start(torch.rand, hidden_size**-0.5)
    create(self, input_size, hidden_size, num_layers, dropout, bidirectional, start)


@mistake(
    ref.LSTM.__init__,
    says="You draw the parameters from a normal distribution with standard deviation 1/√H.",
    hint="The handout asks for a uniform distribution and says between which bounds.",
)
def normal_parameters_of_bound(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    start = scaled_start(torch.randn, hidden_size**-0.5)
    create(self, input_size, hidden_size, num_layers, dropout, bidirectional, start)


@mistake(
    ref.LSTM.__init__,
    says="Your biases start at zero; the handout draws them like the weights.",
    hint="Every entry of every parameter is drawn.",
)
def biases_start_at_zero(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    drawn = scaled_start(lambda shape: 2 * torch.rand(shape) - 1, hidden_size**-0.5)
    start = lambda shape: drawn(shape) if len(shape) == 2 else torch.zeros(shape)  # noqa: E731
    create(self, input_size, hidden_size, num_layers, dropout, bidirectional, start)


@mistake(
    ref.LSTM.__init__,
    says="You draw the parameters from a normal distribution.",
    hint="The handout asks for a uniform distribution and says between which bounds.",
)
def normal_parameters(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    create(self, input_size, hidden_size, num_layers, dropout, bidirectional, torch.randn)


@mistake(
    ref.LSTM.__init__,
    says="All your parameters start at zero, so all units stay alike.",
    hint="The handout asks for a uniform distribution and says between which bounds.",
)
def zero_parameters(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    create(self, input_size, hidden_size, num_layers, dropout, bidirectional, torch.zeros)


@mistake(
    ref.LSTM.__init__,
    says="Your weights are (in, out), those of PyTorch are (out, in).",
    hint="weight_ih_l0 has one row for every entry of z.",
)
def weights_in_out(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    create(self, input_size, hidden_size, num_layers, dropout, bidirectional, lambda shape: uniform(shape[::-1]))


@mistake(
    ref.LSTM.__init__,
    id="R43",
    says="Your layers have one bias each; those of PyTorch have two.",
    hint="Compare the names in your state_dict() with those in the table of the handout.",
)
def one_bias(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    create(self, input_size, hidden_size, num_layers, dropout, bidirectional, uniform)
    for name in [name for name, _ in self.named_parameters() if name.startswith("bias_hh")]:
        value = getattr(self, name).detach()
        delattr(self, name)
        setattr(self, name, torch.zeros_like(value))


@mistake(
    ref.LSTM.__init__,
    id="L33",
    says="Your upper layers of a bidirectional LSTM read H features; the layer below puts out 2H.",
    hint="Above layer 0, `in` depends on whether there are two directions.",
)
def upper_input_too_narrow(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    self.num_layers = num_layers
    self.suffixes = ("", "_reverse") if bidirectional else ("",)
    self.dropout = nn.Dropout(dropout)
    in_sizes = [input_size] + [hidden_size] * (num_layers - 1)
    make_parameters(self, hidden_size, in_sizes, self.suffixes, uniform)


@mistake(
    ref.LSTM.__init__,
    says="Your weights are plain tensors: the module does not know them, and no optimiser would train them.",
    hint="What is to be trained must be an nn.Parameter and an attribute of the module.",
)
def unregistered_tensors(self, input_size, hidden_size, num_layers=1, dropout=0.0, bidirectional=False):
    nn.Module.__init__(self)
    create(self, input_size, hidden_size, num_layers, dropout, bidirectional, uniform)
    for name, value in list(self.named_parameters()):
        delattr(self, name)
        setattr(self, name, value.detach())
