"""Hidden tests of part 2: the loss and the perplexity."""

import pytest
import torch
import torch.nn.functional as F
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.language_model.inputs import loss_inputs
from reference import language_model as ref
from softmark import (
    agree,
    agree_at_extremes,
    agree_in_turn,
    confirm_reference,
    gradients_agree,
    well_behaved,
)

SIZES = [
    ((), 5, 7),
    ((3,), 4, 6),
    ((2, 3), 4, 5),
    ((1,), 1, 2),
    ((4,), 1, 5),
    ((4,), 4, 4),
    ((5, 1), 3, 3),
    ((2,), 100, 3),
    ((3,), 2, 40),
]
"""Batch, T and V."""


def several(function, logits, *rest):
    """Return the answers for these logits, for larger ones and for their opposites: one may be right by chance."""
    return [function(factor * logits, *rest) for factor in (1, -1.5)]


def reference_losses(*inputs):
    return several(ref.next_token_loss, *inputs)


def torch_losses(logits, targets, ignore):
    """Return what PyTorch says. It wants one target that counts at least."""
    rows, ids = logits.shape[-1], targets.flatten()
    return several(lambda z: F.cross_entropy(z.reshape(-1, rows), ids, ignore_index=ignore), logits)


def reference_perplexities(*inputs):
    return several(ref.perplexity, *inputs)


def check_loss(student, *inputs):
    if bool((inputs[1] != inputs[2]).any()):
        confirm_reference(lambda: reference_losses(*inputs), lambda: torch_losses(*inputs), "PyTorch's cross entropy")
    agree(lambda *inputs: several(student.next_token_loss, *inputs), reference_losses, *inputs)


def check_perplexity(student, *inputs):
    agree(lambda *inputs: several(student.perplexity, *inputs), reference_perplexities, *inputs)


@number("2.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_loss_of_all_targets(student, sizes):
    """The mean of -log p(target) over all positions, with none, one and two batch dimensions."""
    check_loss(student, *loss_inputs(*sizes))


@number("2.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("ignore", [0, 2, -100, -1])
def test_loss_with_ignored_targets(student, ignore):
    """Targets that are ignored count neither in the sum nor in the number, whatever number stands for them."""
    for batch, t, v in ((3,), 5, 7), ((2, 3), 4, 5), ((), 7, 4):
        check_loss(student, *loss_inputs(batch, t, v, ignore))


@number("2.3")
@weight(0.25)
@visibility("after_published")
def test_loss_of_no_target(student):
    """If no target counts, the loss is 0, its gradients are 0, and the perplexity is 1."""
    logits = loss_inputs((3,), 4, 5)[0]
    for ignore in (1, -100):
        for counting in (0, 1, 2):
            targets = torch.full((3, 4), ignore)
            targets[:counting, 1] = 2
            check_loss(student, logits, targets, ignore)
            gradients_agree(student.next_token_loss, ref.next_token_loss, logits, targets, ignore)
            agree(student.perplexity, ref.perplexity, logits, targets, ignore)


@number("2.4")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(
    ("sizes", "ignore"), [*((sizes, None) for sizes in SIZES[:4]), (SIZES[1], 0), (SIZES[2], -100)]
)
def test_perplexity(student, sizes, ignore):
    """The perplexity: exp of the mean, over the targets that count."""
    check_perplexity(student, *loss_inputs(*sizes, ignore))


@number("2.5")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("of", ["next_token_loss", "perplexity"])
def test_loss_conduct(student, of):
    """Gradients pass, -100 is ignored by default, large logits and float32 are right, any calls may come before."""
    own, ours, inputs = getattr(student, of), getattr(ref, of), loss_inputs((3,), 5, 6, 2)
    agree(own, ours, *inputs)
    agree(own, ours, *loss_inputs((3,), 5, 6, -100)[:2])
    agree(own, ours, *loss_inputs((2,), 4, 1)[:2])  # a vocabulary of one token
    agree(own, ours, loss_inputs((2,), 4, 1)[0], torch.tensor([[0, -1, 0, -1], [-1, 0, 0, 0]]), -1)
    for call in (inputs, loss_inputs((), 1, 3, -100)[:2], loss_inputs((2, 2), 4, 3, 0), loss_inputs((4,), 3, 5)):
        gradients_agree(own, ours, *call)
    if of == "next_token_loss":
        agree_at_extremes(own, ours, *inputs)
    likely = 500 * F.one_hot(inputs[1], 6).double() + inputs[0]
    for factor in (1, -0.01):
        agree(own, ours, factor * likely, *inputs[1:])
        gradients_agree(own, ours, factor * likely, *inputs[1:])
    well_behaved(own, ours, *inputs)
    others = loss_inputs((4,), 8, 9, 3), loss_inputs((1,), 1, 1, -2), (inputs[0], inputs[1], 1), loss_inputs((), 5, 7)
    agree_in_turn(own, ours, inputs, *others, loss_inputs((3,), 5, 6, 2))
