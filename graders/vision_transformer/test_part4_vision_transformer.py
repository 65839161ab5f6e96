"""Hidden tests of part 4: the vision transformer."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.vision_transformer.modules import check, check_several, checked_pair, filled, weights_of
from graders.vision_transformer.pictures import digit, stripes
from reference import vision_transformer as ref
from softmark import (
    Category,
    Failed,
    agree,
    agree_in_turn,
    draw,
    fail,
    gradients_agree,
    keeps_dtype,
    leaves_inputs,
    raises,
    repeatable,
    to_float32,
    uses_weights,
    without_values,
    works_on_meta,
)

USUAL = 3, (4, 6), 2, 8, 2, 5, 2, 3
"""C, (H, W), p, D, heads, d_ff, layers and classes."""
SMALL = 1, (4, 2), 2, 4, 2, 3, 1, 2
SIZES = {
    "usual": (2, *USUAL),
    "one_picture": (1, 2, (6, 3), 3, 4, 1, 7, 1, 2),
    "one_row": (3, 1, (1, 3), 1, 8, 4, 8, 3, 1),
    "one_column": (4, 1, (3, 1), 1, 4, 2, 1, 1, 4),
    "one_feature": (2, 1, (2, 4), 2, 1, 1, 1, 1, 2),
    "as_many_pictures_as_tokens": (7, 2, (4, 6), 2, 4, 2, 3, 1, 3),
}
"""N, and the others."""


def draw_images(n, c, size):
    return draw("n c h w", n=n, c=c, h=size[0], w=size[1])


def muted(weights):
    """Return the weights with blocks that add nothing."""
    ends = ("out_proj.weight", "out_proj.bias", "linear2.weight", "linear2.bias")
    return {name: 0 * value if name.endswith(ends) else value for name, value in weights.items()}


@number("4.1")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [USUAL, (1, (6, 3), 3, 4, 1, 7, 1, 2)], ids=str)
def test_transformer_parameters(student, sizes):
    """The parameters of the handout by name and shape; every block has its own, and all have an influence."""
    own = student.VisionTransformer(*sizes)
    expected = without_values(ref.VisionTransformer(*sizes).state_dict())
    own.has_entries(expected)
    agree(without_values(own.parameters()), expected)
    uses_weights(own, draw_images(2, *sizes[:2]))


@number("4.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [USUAL, (2, (6, 3), 3, 4, 1, 7, 1, 2)], ids=str)
def test_read_out(student, sizes):
    """The class token goes through norm and head; the blocks add nothing."""
    weights = muted(weights_of("VisionTransformer", *sizes))
    check(student, "VisionTransformer", sizes, weights, draw_images(3, *sizes[:2]))


@number("4.3")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_logits(student, sizes):
    """The logits: tokens, blocks, norm, head."""
    n, *rest = sizes
    check(student, "VisionTransformer", rest, weights_of("VisionTransformer", *rest), draw_images(n, *rest[:2]))


@number("4.4")
@weight(0.25)
@visibility("after_published")
def test_logits_of_pictures(student):
    """The logits of digits and of stripes."""
    for pictures, p in ([digit(0), digit(1), digit(4)], 2), ([stripes(4, 6, 4, 2), stripes(4, 6, 3, 2)], 2):
        images = torch.stack(pictures)
        sizes = images.shape[1], tuple(images.shape[2:]), p, 6, 3, 7, 1, 4
        check(student, "VisionTransformer", sizes, weights_of("VisionTransformer", *sizes), images)


@number("4.5")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("size", [(6, 4), (4, 8), (2, 6), (5, 6)], ids=str)
def test_transformer_of_another_size(student, size):
    """Pictures of another size raise ValueError."""
    own = student.VisionTransformer(*USUAL)
    own(draw_images(2, 3, (4, 6)).float())
    raises(ValueError, own, draw_images(2, 3, size).float())


@number("4.6")
@weight(0.5)
@visibility("after_published")
def test_transformer_gradients(student):
    """Gradients reach the pictures and every parameter."""
    for name, scale in ("usual", 1), ("one_picture", 60):
        n, *rest = SIZES[name]
        images = scale * draw_images(n, *rest[:2])
        own, ours = checked_pair(student, "VisionTransformer", rest, images)
        gradients_agree(own, ours, images)


@number("4.7")
@weight(0.5)
@visibility("after_published")
def test_transformer_conduct(student):
    """dtype, device, mode, other modules and earlier calls do not matter."""
    images = draw_images(2, *SMALL[:2])
    own, ours = checked_pair(student, "VisionTransformer", SMALL, images)
    same_in_both_modes(own, images)
    for conduct in (repeatable, leaves_inputs, works_on_meta):
        conduct(own, images)
    agree_in_turn(own, ours, [images], [draw_images(3, *SMALL[:2])], [draw_images(1, *SMALL[:2])], [60 * images])
    weights = to_float32(weights_of("VisionTransformer", *SMALL))
    for module in (own, ours):
        filled(module, weights)
    agree(own, ours, to_float32(images))
    keeps_dtype(own, images, dtypes=(torch.float32,))
    other = 1, (2, 4), 2, 4, 1, 5, 1, 3
    check_several(student, "VisionTransformer", [(SMALL, images), (SMALL, images), (other, draw_images(2, 1, (2, 4)))])


def same_in_both_modes(own, images):
    """Fail if the module gives other results in training: a dropout is left."""
    try:
        agree(own.train()(images), own.eval()(images))
    except Failed as failure:
        if failure.verdict.category is Category.ERROR:
            raise
        fail(Category.PROPERTY, "VisionTransformer gives other results in train() than in eval()")
