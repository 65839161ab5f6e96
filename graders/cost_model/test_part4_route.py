"""Hidden tests of part 4: a router."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.cost_model.inputs import BATCHES, NAMES_OF_BATCHES, ROUTERS, draw_router
from reference import cost_model as ref
from softmark import agree, agree_at_extremes, agree_in_turn, draw_integers, gradients_agree, raises, well_behaved


def draw_ties(d, n_experts, batch=(5,)):
    """Draw a router some of whose experts have the same scores for every token."""
    X, W_router = draw_router(d, n_experts, batch)
    return X, W_router[:, draw_integers(0, (n_experts + 1) // 2, "E", E=n_experts)]


@number("4.1")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(("d", "n_experts", "k"), ROUTERS)
def test_route(student, d, n_experts, k):
    """The experts with the highest scores, the highest first, and softmax over their scores."""
    for batch in (), (20,):
        agree(student.route, ref.route, *draw_router(d, n_experts, batch), k)
        agree(student.route, ref.route, *draw_router(d, 1, batch), 1)


@number("4.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", BATCHES, ids=NAMES_OF_BATCHES)
def test_route_of_batches(student, batch):
    """Tokens with batch dimensions in front, in both precisions."""
    for row, (d, n_experts, k) in enumerate(ROUTERS[:4]):
        dtype = torch.float32 if row % 2 else torch.float64
        agree(student.route, ref.route, *draw_router(d, n_experts, batch, dtype), k)


@number("4.3")
@weight(0.75)
@visibility("after_published")
def test_ties(student):
    """Of equal scores, the smaller number goes first, wherever the line between chosen and not chosen is."""
    for batch in (9,), (2, 3):
        for k in 1, 2, 3, 5, 6:
            agree(student.route, ref.route, *draw_ties(3, 6, batch), k)
    for n_experts, k in (4, 2), (40, 7), (3, 3), (2, 1), (100, 1):
        X, W_router = draw_router(2, n_experts, (3,))
        agree(student.route, ref.route, 0 * X, W_router, k)
        agree(student.route, ref.route, *draw_ties(2, n_experts), k)


@number("4.4")
@weight(0.5)
@visibility("after_published")
def test_route_gradients(student):
    """Gradients reach the tokens and the router through the weights."""
    for row, (d, n_experts, k) in enumerate(ROUTERS):
        X, W_router = draw_router(d, n_experts, BATCHES[row % 5])
        gradients_agree(student.route, ref.route, X, W_router, k)
    for batch in (), (3,), (2, 2):
        gradients_agree(student.route, ref.route, *draw_router(3, 5, batch, torch.float32), 3)
    X, W_router = draw_router(3, 5, (4,))
    gradients_agree(student.route, ref.route, 64 * X, W_router / 64, 3)


@number("4.5")
@weight(0.5)
@visibility("after_published")
def test_route_manners(student):
    """Large scores, dtype, device, inputs and repeated calls."""
    inputs = *draw_router(5, 6, (4,)), 3
    well_behaved(student.route, ref.route, *inputs)
    agree_at_extremes(student.route, ref.route, *inputs)
    for factor in 1000, -1000:
        agree(student.route, ref.route, factor * inputs[0], inputs[1], 3)
    calls = [(*draw_router(d, E, batch), k) for (d, E, k), batch in zip(ROUTERS, BATCHES, strict=False)]
    agree_in_turn(student.route, ref.route, inputs, *calls, (*inputs[:2], 2), (*draw_router(5, 6, (4,)), 3))


@number("4.6")
@weight(0.25)
@visibility("after_published")
def test_route_refuses(student):
    """A k that is too small or too large raises ValueError; all experts may be chosen."""
    for n_experts, k in (4, 5), (4, 0), (1, 2), (3, -1), (2, 100):
        agree(student.route, ref.route, *draw_router(3, n_experts, (2,)), n_experts)
        raises(ValueError, student.route, *draw_router(3, n_experts, (2,)), k)
