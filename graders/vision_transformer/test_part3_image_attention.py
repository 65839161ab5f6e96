"""Hidden tests of part 3: attention over the places of a picture."""

import pytest
import torch
import torch.nn.functional as F
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.vision_transformer.modules import tensors_in
from graders.vision_transformer.pictures import blob, digit, stripes
from reference import vision_transformer as ref
from softmark import (
    agree,
    agree_at_extremes,
    agree_in_turn,
    confirm_reference,
    draw,
    gradients_agree,
    uses_inputs,
    well_behaved,
)

SIZES = [
    *((2, 4, 3, 2, 5, 6), (1, 3, 2, 4, 3, 5), (3, 2, 1, 5, 2, 4), (4, 1, 3, 2, 3, 2), (2, 3, 4, 1, 6, 3)),
    *((3, 5, 2, 4, 1, 2), (2, 3, 4, 3, 2, 1), (1, 1, 1, 1, 1, 1), (3, 3, 3, 3, 3, 3), (4, 4, 2, 2, 4, 4)),
    *((6, 2, 3, 2, 3, 5), (1, 3, 2, 8, 12, 3), (2, 33, 20, 2, 2, 17)),
]
"""N, d, C, h, w and A: all different, one of them 1, equal ones, large ones."""
SCENES = {
    "blobs": [blob(4, 6, 1, 4, 2), blob(4, 6, 3, 0, 2)],
    "stripes": [stripes(5, 3, 4, 2), stripes(5, 3, 2, 2), stripes(5, 3, 6, 2)],
    "digits": [digit(1), digit(7), digit(0)],
}


def attention_inputs(n, d, c, h, w, a):
    """Draw query, features, W_q, W_x and v; the arguments of tanh are of order one."""
    query, features, W_q, W_x, v = draw("n d", "n c h w", "a d", "a c", "a", n=n, d=d, c=c, h=h, w=w, a=a)
    return query, features, W_q / d**0.5, W_x / c**0.5, v


def witness(query, features, W_q, W_x, v):
    """Return what PyTorch's attention makes of the scores as a mask that is added."""
    N, C, h, w = features.shape
    summed = (W_q @ query.T).T[:, :, None, None] + F.conv2d(features, W_x[:, :, None, None])
    scores = F.conv2d(summed.tanh(), v[None, :, None, None]).reshape(N, 1, h * w)
    X = features.reshape(N, C, h * w).mT
    context = F.scaled_dot_product_attention(torch.zeros_like(X[:, :1]), X, X, attn_mask=scores)
    return context[:, 0], scores.softmax(-1).reshape(N, h, w)


def check_map(student, given):
    """Check the map by itself: where it is wrong, the context is wrong, too."""

    def own_map(*given):
        answer = student.image_attention(*given)
        return answer[1] if isinstance(answer, tuple | list) and len(answer) == 2 else answer

    agree(own_map, lambda *given: ref.image_attention(*given)[1], *given)


@number("3.1")
@weight(0.5)
@visibility("visible")
@pytest.mark.parametrize("scene", SCENES.values(), ids=SCENES)
def test_maps_of_pictures(student, scene):
    """A query that looks for light finds it: map and context of blobs, stripes and digits."""
    features = torch.stack(scene)
    n, c = features.shape[:2]
    query, W_q, v = draw("n 3", "2 3", "2", n=n)
    looks_for_light = torch.tensor([[4.0], [2.0]], dtype=torch.float64).expand(2, c).clone()
    given = query, features, W_q, looks_for_light, 3 * v.abs()
    check_map(student, given)
    agree(student.image_attention, ref.image_attention, *given)


@number("3.2")
@weight(1.25)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_map(student, sizes):
    """The map: the softmax over all places of a picture, laid out as the picture is."""
    given = attention_inputs(*sizes)
    confirm_reference(lambda: ref.image_attention(*given), lambda: witness(*given), "PyTorch's attention")
    check_map(student, given)


@number("3.3")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES[:6], ids=str)
def test_context_of_the_own_map(student, sizes):
    """The context is the mean of the places, weighted by the map that is returned, whatever the map is."""
    n, _, c, h, w, _ = sizes
    given = attention_inputs(*sizes)
    context, weights = tensors_in(student.image_attention(*given), (n, c), (n, h, w))
    uses_inputs(student.image_attention, *given)
    agree(context, torch.einsum("nhw,nchw->nc", weights, given[1]))


@number("3.4")
@weight(0.25)
@visibility("after_published")
def test_equal_places(student):
    """If all places are alike, each has the same weight, and the context is that place."""
    for n, d, c, h, w, a in (2, 3, 4, 2, 5, 3), (3, 1, 1, 4, 3, 2), (1, 2, 3, 6, 1, 4):
        query, features, *weights = attention_inputs(n, d, c, h, w, a)
        level = features[:, :, :1, :1].expand(n, c, h, w).clone()
        agree(student.image_attention, ref.image_attention, query, level, *weights)
        agree(student.image_attention, ref.image_attention, 0 * query, features, *weights[:2], 0 * weights[2])


@number("3.5")
@weight(0.5)
@visibility("after_published")
def test_attention_gradients(student):
    """Gradients reach query, features and all weights, also where tanh and softmax saturate."""
    for sizes in SIZES[:9]:
        given = attention_inputs(*sizes)
        agree(student.image_attention, ref.image_attention, *given)
        gradients_agree(student.image_attention, ref.image_attention, *given)
    given = attention_inputs(*SIZES[0])
    for large in (0,), (1,), (4,):
        agree_at_extremes(student.image_attention, ref.image_attention, *given, large=large)


@number("3.6")
@weight(0.5)
@visibility("after_published")
def test_attention_conduct(student):
    """float32 stays, inputs stay as they were, any device will do, and so will any calls before."""
    given = attention_inputs(2, 4, 3, 2, 5, 3)
    agree(student.image_attention, ref.image_attention, *given)
    well_behaved(student.image_attention, ref.image_attention, *given)
    larger, smaller = attention_inputs(3, 6, 5, 4, 7, 8), attention_inputs(1, 1, 1, 1, 1, 1)
    turned = given[0], given[1].transpose(2, 3).contiguous(), *given[2:]
    agree_in_turn(student.image_attention, ref.image_attention, given, larger, smaller, turned)
