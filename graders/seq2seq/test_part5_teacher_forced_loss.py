"""Hidden tests of part 5: the loss of teacher forcing."""

import pytest
import torch
import torch.nn.functional as F
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.seq2seq.inputs import some_lengths
from reference import seq2seq as ref
from softmark import (
    agree,
    agree_at_extremes,
    agree_in_turn,
    confirm_reference,
    draw,
    draw_integers,
    gradients_agree,
    well_behaved,
)

SIZES = [
    (3, 5, 7),
    (1, 6, 3),
    (4, 1, 5),
    (1, 1, 2),
    (4, 4, 4),
    (5, 3, 3),
    (1, 33, 4),
    (1, 100, 2),
    (3, 2, 40),
]
"""N, T and V."""


def loss_inputs(n, t, v, pad=None):
    """Draw logits, and targets of which those behind the lengths are `pad`, and no others; without pad all count."""
    logits, ids = 2 * draw("n t v", n=n, t=t, v=v), draw_integers(0, v, "n t", n=n, t=t)
    if pad is None:
        return logits, ids, -1
    others = torch.where(ids == pad, (ids + 1) % v, ids)
    padding = torch.arange(t) >= some_lengths(n, t)[:, None]
    return logits, torch.where(padding, pad, others), pad


def losses(loss, logits, targets, pad):
    """Return the losses of these logits, of larger ones and of their opposites: one number may be right by chance."""
    return [loss(factor * logits, targets, pad) for factor in (1, 2, -1)]


def reference_losses(*inputs):
    return losses(ref.teacher_forced_loss, *inputs)


def torch_losses(logits, targets, pad):
    """Return what PyTorch says. It wants one real target at least."""
    ids = targets.flatten()
    return losses(lambda z, *_: F.cross_entropy(z.flatten(0, 1), ids, ignore_index=pad), logits, targets, pad)


def check_loss(student, *inputs):
    _, targets, pad = inputs
    if bool((targets != pad).any()):
        confirm_reference(lambda: reference_losses(*inputs), lambda: torch_losses(*inputs), "PyTorch's cross entropy")
    agree(lambda *inputs: losses(student.teacher_forced_loss, *inputs), reference_losses, *inputs)


@number("5.1")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_loss_without_padding(student, sizes):
    """The mean of -log p(target) over all tokens."""
    check_loss(student, *loss_inputs(*sizes))


@number("5.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("pad", [0, 2, 1, 3, -100, -1])
def test_loss_with_padding(student, pad):
    """The padding counts neither in the sum nor in the number of tokens, whatever number stands there."""
    for sizes in (3, 5, 7), (2, 6, 4), (5, 4, 5), (2, 4, 1):
        check_loss(student, *loss_inputs(*sizes, pad))


@number("5.3")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("pad", [0, 1, -100])
def test_loss_of_padding_only(student, pad):
    """A batch of nothing but padding has a loss of 0, and gradients of 0."""
    logits, _, _ = loss_inputs(3, 4, 5)
    for row in range(4):
        targets = torch.full((3, 4), pad)
        targets[: row % 3, 0] = 2
        check_loss(student, logits, targets, pad)
        gradients_agree(student.teacher_forced_loss, ref.teacher_forced_loss, logits, targets, pad)


@number("5.4")
@weight(0.5)
@visibility("after_published")
def test_loss_conduct(student):
    """Gradients pass, large logits and float32 are right, no input is changed, and any calls may come before."""
    own, ours, inputs = student.teacher_forced_loss, ref.teacher_forced_loss, loss_inputs(3, 5, 6, 2)
    check_loss(student, *inputs)
    check_loss(student, *loss_inputs(2, 4, 1))  # a vocabulary of one token
    for call in (inputs, loss_inputs(1, 1, 1, -100), loss_inputs(2, 4, 3, 0), loss_inputs(4, 3, 5)):
        gradients_agree(own, ours, *call)
    agree_at_extremes(own, ours, *inputs)
    well_behaved(own, ours, *inputs)
    others = loss_inputs(4, 8, 9, 3), loss_inputs(1, 1, 1, -2), (inputs[0], inputs[1], 1), loss_inputs(3, 5, 7, 2)
    agree_in_turn(own, ours, inputs, *others)
