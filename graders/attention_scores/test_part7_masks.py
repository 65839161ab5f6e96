"""Part 7, causal_mask and padding_mask."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from reference import attention_scores as ref
from softmark import agree, agree_in_turn, leaves_inputs, works_on_meta


@number("7.1")
@weight(0.75)
@visibility("after_published")
def test_causal_mask(student):
    """The causal mask: each token may look at itself and to the left."""
    agree_in_turn(student.causal_mask, ref.causal_mask, [3], [67], [2], [1])


@number("7.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(
    "lengths", [[2, 5, 1, 4], [[3, 0, 5], [1, 4, 2]], [5, 0]], ids=["batch1", "batch2", "full_and_empty"]
)
def test_padding_mask(student, lengths):
    """The padding mask: the padding of each sequence is blocked."""
    agree(student.padding_mask, ref.padding_mask, torch.tensor(lengths), 5)


@number("7.3")
@weight(0.25)
@visibility("after_published")
def test_masks_together(student):
    """Both masks at once, joined with &."""
    lengths = torch.tensor([4, 7, 2])
    agree(student.causal_mask, ref.causal_mask, 7)
    agree(student.padding_mask, ref.padding_mask, lengths, 7)
    together = student.causal_mask(7) & student.padding_mask(lengths, 7)
    agree(together, ref.causal_mask(7) & ref.padding_mask(lengths, 7))


@number("7.4")
@weight(0.25)
@visibility("after_published")
def test_padding_mask_device(student):
    """The padding mask is made on the device of the lengths, and earlier calls make no difference."""
    lengths = torch.tensor([4, 7, 2])
    agree(student.padding_mask, ref.padding_mask, lengths, 7)
    leaves_inputs(student.padding_mask, lengths, 7)
    works_on_meta(student.padding_mask, lengths, 7)
    others = (lengths - 2, 7), (torch.tensor([[68, 3]]), 68), (torch.tensor(1), 1), (torch.tensor([3]), 5)
    agree_in_turn(student.padding_mask, ref.padding_mask, (lengths, 7), *others)
