"""Hidden tests, part 4: the pre-norm block."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.transformer_block.blocks import (
    OFF,
    check_block,
    check_block_gradients,
    check_block_manners,
    check_masked,
    check_residuals,
)
from graders.transformer_block.inputs import BLOCKS, MASKS, USUAL, draw_block, draw_tiny_block


@number("4.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("off", OFF)
def test_pre_norm_residuals(student, off):
    """The residual connections: the block with one or both sublayers switched off."""
    check_residuals(student, "pre_norm_block", off)


@number("4.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("sizes", BLOCKS.values(), ids=BLOCKS)
def test_pre_norm_block(student, sizes):
    """The whole block: one sequence, no mask."""
    check_block(student, "pre_norm_block", *draw_block(**sizes))


@number("4.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(2,), (2, 6), (1,), (3,), (5,), (12,), (12, 3), (33,)])
def test_pre_norm_batch(student, batch):
    """The block with batch dimensions in front."""
    check_block(student, "pre_norm_block", *draw_block(batch, **USUAL))


@number("4.4")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("kind", MASKS)
def test_pre_norm_mask(student, kind):
    """The block under a mask: causal, padding, one for every example."""
    check_masked(student, "pre_norm_block", kind)


@number("4.5")
@weight(0.25)
@visibility("after_published")
def test_pre_norm_eps(student):
    """Both layer norms use EPS: tokens with a tiny variance."""
    check_block(student, "pre_norm_block", *draw_tiny_block("W_O b_O W2 b2"))


@number("4.6")
@weight(0.5)
@visibility("after_published")
def test_pre_norm_gradients(student):
    """Gradients flow back through both norms and both residual connections."""
    check_block_gradients(student, "pre_norm_block")


@number("4.7")
@weight(0.25)
@visibility("after_published")
def test_pre_norm_manners(student):
    """float32 stays float32, inputs are unchanged, any device works, and earlier calls make no difference."""
    check_block_manners(student, "pre_norm_block")
