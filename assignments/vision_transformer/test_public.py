"""Public tests: the vision transformer. Run them with `softmark check`.

The numbers are in examples.json: small inputs, and the right answers to them. Some parts are compared with PyTorch as
well. The hidden tests look in more places; the handout says everything that they ask for.
"""

import pytest
import torch
import torch.nn.functional as F
from gradescope_utils.autograder_utils.decorators import number

from softmark import (
    agree,
    draw,
    gradients_agree,
    keeps_dtype,
    leaves_inputs,
    raises,
    repeatable,
    uses_inputs,
    works_on_meta,
)


def all_get_gradients(module, images):
    """Assert that a gradient reaches every parameter of a module."""
    found = module.vjp((images,), {}, module(images)).parameters
    missing = [name for name, gradient in found.items() if gradient is None]
    assert not missing, f"no gradient reaches {', '.join(missing)}"


# Part 1: patches --------------------------------------------------------------------------------------------


@number("1.1")
@pytest.mark.parametrize("name", ["patches", "patches, three rows"])
def test_patches(student, example, name):
    """Pixels that say where they are: 1234 is picture 1, channel 2, row 3, column 4."""
    example(student.patches, name)


@number("1.2")
@pytest.mark.parametrize("name", ["unpatch", "unpatch, one column"])
def test_unpatch(student, example, name):
    """The same pictures, put together again."""
    example(student.unpatch, name)


@number("1.3")
def test_patches_that_do_not_fit(student):
    """Rows, columns or numbers of patches that do not fit raise ValueError."""
    for height, width in (4, 5), (5, 4), (1, 4):
        raises(ValueError, student.patches, draw("2 3 h w", h=height, w=width), 2)
    for tokens, width, grid in (6, 12, (2, 2)), (6, 10, (2, 3)):
        raises(ValueError, student.unpatch, draw("2 t k", t=tokens, k=width), 2, grid)


@number("1.4")
def test_patches_manners(student):
    """The dtype stays, the inputs stay as they were, and pixels may be patches."""
    images, rows = draw("2 3 4 6", "2 6 12")
    for function, given in (student.patches, (images, 2)), (student.unpatch, (rows, 2, (3, 2))):
        keeps_dtype(function, *given)
        leaves_inputs(function, *given)
    agree(student.patches(images, 1), images.flatten(2).transpose(1, 2))


# Part 2: PatchEmbedding -------------------------------------------------------------------------------------


@number("2.1")
def test_embedding(student, example):
    """Linear layer, class token, positions."""
    example(student.PatchEmbedding, "PatchEmbedding")


@number("2.2")
def test_embedding_is_a_convolution(student):
    """The patches' tokens are what a convolution with stride p says, with the same gradients."""
    own, images = student.PatchEmbedding(3, (4, 6), 2, 5), draw("2 3 4 6")
    weights = dict(zip(("proj.weight", "proj.bias"), draw("5 3 2 2", "5"), strict=True))
    weights |= {"class_token": torch.zeros(5).double(), "positions": torch.zeros(7, 5).double()}
    own.load_state_dict(weights)
    convolved = F.conv2d(images, weights["proj.weight"], weights["proj.bias"], stride=2)
    agree(own(images)[:, 1:], convolved.flatten(2).transpose(1, 2))
    works_on_meta(own, images)
    all_get_gradients(own, images)


@number("2.3")
def test_pictures_of_another_size(student):
    """Pictures of another size raise ValueError, also if they have as many patches."""
    own = student.PatchEmbedding(3, (4, 6), 2, 5)
    for height, width in (6, 4), (4, 8), (2, 12):
        raises(ValueError, own, draw("2 3 h w", h=height, w=width, dtype=torch.float32))


# Part 3: image_attention ------------------------------------------------------------------------------------


@number("3.1")
@pytest.mark.parametrize("name", ["image_attention", "image_attention, large scores"])
def test_image_attention(student, example, name):
    """Context and map of two pictures, of ordinary and of large scores."""
    example(student.image_attention, name)


@number("3.2")
def test_maps_sum_to_one(student):
    """The map of every picture sums to 1, gradients pass through it, and the inputs stay as they were."""
    *given, cotangent = draw("n d", "n c h w", "a d", "a c", "a", "n h w", n=3, d=4, c=2, h=5, w=3, a=6)
    _, found = student.image_attention(*given)
    through_map = student.image_attention.vjp(tuple(given), {}, (None, cotangent)).args
    assert all(gradient is not None for gradient in through_map), "no gradient passes through the map"
    agree(found.sum(dim=(1, 2)), torch.ones(3, dtype=torch.float64))
    keeps_dtype(student.image_attention, *given)
    leaves_inputs(student.image_attention, *given)


# Part 4: VisionTransformer ----------------------------------------------------------------------------------


@number("4.1")
def test_transformer(student, example):
    """The logits of three pictures."""
    example(student.VisionTransformer, "VisionTransformer")


@number("4.2")
def test_pictures_do_not_mix(student):
    """Every picture gets alone what it gets in a batch, in train() and in eval(); all parameters get gradients."""
    own, images = student.VisionTransformer(1, (4, 6), 2, 8, 2, 5, 1, 3), draw("4 1 4 6", dtype=torch.float32)
    together = own(images)
    for i in range(4):
        agree(own(images[i : i + 1]), together[i : i + 1])
    agree(own.eval()(images), together)
    uses_inputs(own, images)
    repeatable(own, images)
    all_get_gradients(own, images)


@number("4.3")
def test_transformer_refuses(student):
    """Pictures of another size raise ValueError."""
    own = student.VisionTransformer(1, (4, 6), 2, 8, 2, 5, 1, 3)
    raises(ValueError, own, draw("2 1 6 4", dtype=torch.float32))


# Part 5: resize_positions -----------------------------------------------------------------------------------


@number("5.1")
@pytest.mark.parametrize("name", ["resize_positions, larger", "resize_positions, smaller"])
def test_resize(student, example, name):
    """A larger grid, and a smaller one."""
    example(student.resize_positions, name)


@number("5.2")
def test_resize_and_library(student):
    """PyTorch's interpolation says the same of a grid with one feature, and the class token's row stays."""

    def library(table, old, new):
        resized = F.interpolate(table[1:].reshape(1, 1, *old), size=new, mode="bilinear", align_corners=False)
        return torch.cat([table[:1], resized.reshape(-1, 1)])

    table = draw("n 1", n=13)
    agree(student.resize_positions, library, table, (3, 4), (5, 2))
    gradients_agree(student.resize_positions, library, table, (3, 4), (5, 2))
    agree(student.resize_positions(table, (3, 4), (3, 4)), table)
    works_on_meta(student.resize_positions, table, (3, 4), (5, 2))
    keeps_dtype(student.resize_positions, table, (3, 4), (5, 2))
    raises(ValueError, student.resize_positions, table, (3, 5), (5, 2))


# Part 6: similarity -----------------------------------------------------------------------------------------


@number("6.1")
@pytest.mark.parametrize("name", ["similarity", "similarity, three tokens", "similarity, one token"])
def test_similarity(student, example, name):
    """A batch, and the lecture's three numbers: as three tokens and as one."""
    example(student.similarity, name)


@number("6.2")
def test_similarity_of_a_vector(student):
    """A vector raises ValueError; one batch dimension and two are right."""
    raises(ValueError, student.similarity, draw("d", d=3))
    X = draw("2 3 4 5")
    agree(student.similarity(X)[1], student.similarity(X[1]))


@number("6.3")
def test_similarity_gradients(student):
    """Gradients pass through both factors."""
    X = draw("t d", t=4, d=3)
    gradients_agree(student.similarity, lambda X: torch.einsum("id, jd -> ij", X, X), X)
