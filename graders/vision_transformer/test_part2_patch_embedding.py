"""Hidden tests of part 2: patches become tokens."""

import pytest
import torch.nn.functional as F
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.vision_transformer.modules import check, check_several, checked_pair, filled, weights_of
from graders.vision_transformer.pictures import digit
from reference import vision_transformer as ref
from softmark import (
    agree,
    agree_at_extremes,
    agree_in_turn,
    confirm_reference,
    draw,
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

SIZES = {
    "all_different": (2, 3, (4, 6), 2, 5),
    "one_picture": (1, 2, (6, 3), 3, 4),
    "one_channel": (3, 1, (2, 8), 2, 7),
    "one_row": (2, 3, (1, 5), 1, 4),
    "one_column": (4, 2, (5, 1), 1, 3),
    "one_patch": (3, 2, (4, 4), 4, 8),
    "one_of_all": (1, 1, (1, 1), 1, 1),
    "all_alike": (4, 4, (4, 4), 2, 4),
    "as_wide_as_a_patch": (2, 2, (6, 4), 2, 8),
    "many_patches": (1, 1, (8, 12), 1, 2),
}
"""N, C, (H, W), p and D."""


def draw_images(n, c, size):
    return draw("n c h w", n=n, c=c, h=size[0], w=size[1])


@number("2.1")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [(3, (4, 6), 2, 5), (1, (6, 3), 3, 4), (2, (5, 1), 1, 3)], ids=str)
def test_embedding_parameters(student, sizes):
    """The parameters of the handout by name and shape; all of them have an influence."""
    own = student.PatchEmbedding(*sizes)
    expected = without_values(ref.PatchEmbedding(*sizes).state_dict())
    own.has_entries(expected)
    agree(without_values(own.parameters()), expected)
    uses_weights(own, draw_images(2, *sizes[:2]))


@number("2.2")
@weight(1.25)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_linear_layer(student, sizes):
    """Each patch goes through the linear layer, which is a convolution; class token and positions are 0."""
    n, c, size, p, d = sizes
    weights = weights_of("PatchEmbedding", c, size, p, d)
    weights |= {name: 0 * weights[name] for name in ("class_token", "positions")}
    images = draw_images(n, c, size)
    kernel, bias = weights["proj.weight"], weights["proj.bias"]
    confirm_reference(
        lambda: filled(ref.PatchEmbedding(c, size, p, d), weights)(images)[:, 1:],
        lambda: F.conv2d(images, kernel, bias, stride=p).flatten(2).transpose(1, 2),
        "PyTorch's F.conv2d",
    )
    check(student, "PatchEmbedding", (c, size, p, d), weights, images)


@number("2.3")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_class_token_and_positions(student, sizes):
    """The class token comes first, and every token gets its position; all patches are alike."""
    n, *rest = sizes
    weights = weights_of("PatchEmbedding", *rest)
    weights["proj.weight"] = 0 * weights["proj.weight"]
    check(student, "PatchEmbedding", rest, weights, draw_images(n, *rest[:2]))


@number("2.4")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("size", [(6, 4), (4, 8), (2, 6), (8, 6), (2, 12), (5, 6), (4, 7)], ids=str)
def test_embedding_of_another_size(student, size):
    """Pictures of another size raise ValueError, also if they have as many patches."""
    own = student.PatchEmbedding(3, (4, 6), 2, 5)
    own(draw_images(2, 3, (4, 6)).float())
    raises(ValueError, own, draw_images(2, 3, size).float())


@number("2.5")
@weight(0.5)
@visibility("after_published")
def test_embedding_gradients(student):
    """Gradients reach the pictures and every parameter."""
    for name in ("all_different", "one_picture", "one_row", "one_of_all"):
        n, *rest = SIZES[name]
        images = draw_images(n, *rest[:2])
        own, ours = checked_pair(student, "PatchEmbedding", rest, images)
        gradients_agree(own, ours, images)
        agree_at_extremes(own, ours, images)


@number("2.6")
@weight(0.5)
@visibility("after_published")
def test_embedding_conduct(student):
    """dtype, device, mode, other modules and earlier calls do not matter; a digit is a picture like any other."""
    sizes = 3, (4, 6), 2, 5
    images = draw_images(2, 3, (4, 6))
    own, ours = checked_pair(student, "PatchEmbedding", sizes, images)
    for conduct in (repeatable, leaves_inputs, works_on_meta):
        conduct(own, images)
    agree_in_turn(own, ours, [images], [draw_images(3, 3, (4, 6))], [draw_images(1, 3, (4, 6))], [100 * images])
    weights = to_float32(weights_of("PatchEmbedding", *sizes))
    for module in (own, ours):
        filled(module, weights)
    for scale in (1, 100):
        agree(own, ours, to_float32(scale * images))
    keeps_dtype(own, images, dtypes=(images.float().dtype,))
    shown = digit(4)[None]
    cases = (sizes, images), (sizes, images), ((1, (8, 6), 2, 3), shown)
    check_several(student, "PatchEmbedding", cases)
