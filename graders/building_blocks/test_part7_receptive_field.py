"""Hidden tests of part 7: the receptive field of a stack of convolutions."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from reference import building_blocks as ref
from softmark import agree, agree_in_turn, raises

STACKS = [([3], [2]), ([2, 3], [1, 2]), ([7, 7], [1, 1]), ([2, 2, 2, 2], [1, 2, 4, 8]), ([1, 4], [5, 3]), ([], [])]
STACKS += [([5, 3, 4], [3, 1, 2]), ([1], [9]), ([2], [1]), ([4] * 12, [2**layer for layer in range(12)])]


@number("7.6")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(("kernels", "dilations"), STACKS)
def test_receptive_field(student, kernels, dilations):
    """The number of tokens that one output sees"""
    agree(student.receptive_field, ref.receptive_field, kernels, dilations)
    agree(student.receptive_field, ref.receptive_field, [*kernels, 6], [*dilations, 3])


@number("7.7")
@weight(0.25)
@visibility("after_published")
def test_receptive_field_of_uneven_lists(student):
    """Lists of different lengths raise ValueError, and any calls may come before"""
    calls = ([3, 2], [2, 1]), ([4, 4, 4], [1, 2, 3]), ([5], [1]), ([3, 2], [1, 2])
    agree_in_turn(student.receptive_field, ref.receptive_field, *calls)
    for kernels, dilations in ([3, 2], [1]), ([3], [1, 2]), ([], [1]), ([2], []), ([3, 1], [2]), ([3], [2, 0]):
        raises(ValueError, student.receptive_field, kernels, dilations)
