"""Hidden tests of part 2: numbers of parameters."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight
from torch import nn

from reference import cost_model as ref
from softmark import agree, confirm_reference, raises

RECURRENT = [(3, 5, 4), (5, 3, 1), (3, 5, 2), (7, 2, 3), (1, 1, 1), (4, 1, 5), (4, 4, 4)]
"""d, h and the number of layers."""
LARGE = 10**10 + 19


def count(student, kind, **sizes):
    agree(student.parameters, ref.parameters, kind, **sizes)


def numel(module):
    """Return the number of parameters of a module of PyTorch's."""
    return sum(parameter.numel() for parameter in module.parameters())


def check_recurrent(student, kind):
    """Check the count of recurrent layers: one and several, small sizes and large ones."""
    for d, h, n_layers in RECURRENT:
        count(student, kind, d=d, h=h, n_layers=n_layers)
    count(student, kind, n_layers=3, h=LARGE, d=7)


@number("2.1")
@weight(0.5)
@visibility("after_published")
def test_rnn(student):
    """A recurrent network: two matrices and two biases for each layer, whose first one has another width."""
    confirm_reference(
        lambda: torch.tensor(ref.parameters("rnn", d=3, h=5, n_layers=2)),
        lambda: torch.tensor(numel(nn.RNN(3, 5, 2))),
        "nn.RNN",
    )
    check_recurrent(student, "rnn")


@number("2.2")
@weight(0.5)
@visibility("after_published")
def test_lstm(student):
    """An LSTM: the same for four gates."""
    confirm_reference(
        lambda: torch.tensor(ref.parameters("lstm", d=3, h=5, n_layers=2)),
        lambda: torch.tensor(numel(nn.LSTM(3, 5, 2))),
        "nn.LSTM",
    )
    check_recurrent(student, "lstm")


@number("2.3")
@weight(0.5)
@visibility("after_published")
def test_conv(student):
    """A convolution: one matrix for each entry of the kernel, and one bias."""
    for d, h, k in (3, 5, 2), (5, 3, 7), (2, 11, 3), (1, 1, 1), (4, 4, 4), (3, 1, 2), (1, 3, 5), (7, 2, LARGE):
        count(student, "conv", d=d, h=h, k=k)


@number("2.4")
@weight(0.5)
@visibility("after_published")
def test_attention(student):
    """Attention: four matrices and four biases, however many heads share them."""
    for d, n_heads in (6, 2), (6, 3), (15, 5), (1, 1), (4, 4), (7, 1), (4, 1), (LARGE, 1):
        count(student, "attention", d=d, n_heads=n_heads)


@number("2.5")
@weight(0.5)
@visibility("after_published")
def test_feed_forward(student):
    """A feed-forward network: two matrices and two biases."""
    for d, f in (3, 5), (5, 3), (2, 8), (1, 1), (4, 4), (1, 7), (7, 1), (LARGE, 3):
        count(student, "feed_forward", d=d, f=f)


@number("2.6")
@weight(0.5)
@visibility("after_published")
def test_block(student):
    """A block: attention, a feed-forward network and two norms."""
    for d, f, n_heads in (6, 5, 2), (6, 24, 3), (15, 7, 5), (1, 1, 1), (4, 4, 4), (7, 1, 1), (1, 9, 1), (LARGE, 3, 1):
        count(student, "block", d=d, f=f, n_heads=n_heads)


@number("2.7")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(
    ("vocabulary", "n", "d", "n_heads", "n_layers"),
    [(50257, 2048, 12288, 96, 96), (50257, 1024, 768, 12, 12), (11, 7, 6, 3, 2), (5, 13, 4, 1, 1), (1, 1, 1, 1, 1),
     (2, 3, 15, 5, 7), (4, 4, 4, 4, 4), (17, 5, 1, 1, 3), (LARGE, 3, 8, 2, 2)],
)  # fmt: skip
def test_gpt(student, vocabulary, n, d, n_heads, n_layers):
    """A GPT: words, positions, blocks and the last norm."""
    count(student, "gpt", vocabulary=vocabulary, n=n, d=d, n_heads=n_heads, n_layers=n_layers)


@number("2.8")
@weight(0.25)
@visibility("after_published")
def test_other_kinds(student):
    """Any other kind is refused, and no call depends on an earlier one."""
    for kind in "transformer", "RNN", "", "gpt2":
        raises(ValueError, student.parameters, kind, d=4, h=3, n_layers=2)
    sizes = [("conv", 3, 5, 2), ("conv", 5, 7, 3), ("conv", 2, 3, 1), ("conv", 3, 5, 2)]
    for kind, d, h, k in sizes:
        count(student, kind, d=d, h=h, k=k)
        count(student, "rnn", d=d, h=h, n_layers=k)
        count(student, "attention", d=d, n_heads=1)
