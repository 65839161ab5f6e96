"""Hidden tests of part 5: a mixture of experts."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from graders.cost_model.inputs import BATCHES, NAMES_OF_BATCHES, ROUTERS, draw_router
from graders.cost_model.lent import experts, strict_experts
from reference import cost_model as ref
from softmark import Failed, agree, agree_in_turn, draw, gradients_agree, lend, well_behaved

MANY = 2000
"""So many calls are more than any way of writing it needs: the numbers are judged, and not the work."""


def draw_mixture(d, n_experts, k, batch=(), dtype=torch.float64):
    """Draw the arguments of a mixture whose experts may be called often."""
    X, W_router = draw_router(d, n_experts, batch, dtype)
    return X, W_router, lend(experts, calls=MANY), k


def draw_own(batch):
    """Draw tokens whose first four features are the scores of four experts."""
    return draw("batch d", batch=batch, d=5), torch.eye(5, 4, dtype=torch.float64)


@number("5.1")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize(("d", "n_experts", "k"), ROUTERS)
def test_tokens(student, d, n_experts, k):
    """One token and several: what the chosen experts make of each, weighted."""
    for batch in (), (6,):
        agree(student.mixture, ref.mixture, *draw_mixture(d, n_experts, k, batch))
        agree(student.mixture, ref.mixture, *draw_mixture(d, 1, 1, batch))


@number("5.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", BATCHES, ids=NAMES_OF_BATCHES)
def test_mixture_of_batches(student, batch):
    """Tokens with batch dimensions in front, in both precisions, with equal scores among them."""
    for row, (d, n_experts, k) in enumerate(ROUTERS[:2]):
        dtype = torch.float32 if row % 2 else torch.float64
        agree(student.mixture, ref.mixture, *draw_mixture(d, n_experts, k, batch, dtype))
    X, *others = draw_mixture(3, 5, 2, batch)
    agree(student.mixture, ref.mixture, 0 * X, *others)


@number("5.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(), (2,), (12,), (3, 4)], ids=str)
def test_calls(student, batch):
    """Each expert that has tokens is called once, and an expert without tokens is not called."""
    for d, n_experts, k in (3, 5, 2), (4, 9, 1):
        X, W_router = draw_router(d, n_experts, batch)
        used = len(ref.route(X, W_router, k)[0].unique())
        agree(student.mixture, ref.mixture, X, W_router, lend(experts, calls=used), k)


@number("5.4")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(), (1,), (7,), (2, 4)], ids=str)
def test_own_tokens_only(student, batch):
    """An expert gets the tokens that chose it, and no other ones."""
    X, W_router = draw_own(batch)
    try:
        agree(student.mixture, ref.mixture, X, W_router, lend(strict_experts, calls=MANY), 2)
    except Failed as failure:
        if failure.verdict.exception != "ValueError":
            raise
        fact = "mixture: an expert gets tokens that did not choose it, or is called without tokens"
        raise failure.saying(fact) from failure


@number("5.5")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(), (3,), (2, 2)], ids=str)
def test_mixture_gradients(student, batch):
    """Gradients reach the tokens, through the experts and through the weights, and the router."""
    for d, n_experts, k in (5, 4, 2), (2, 3, 1), (4, 4, 4), (1, 2, 2), (2, 1, 1):
        gradients_agree(student.mixture, ref.mixture, *draw_mixture(d, n_experts, k, batch))
    gradients_agree(student.mixture, ref.mixture, *draw_mixture(3, 4, 2, batch, torch.float32))


@number("5.6")
@weight(0.5)
@visibility("after_published")
def test_mixture_manners(student):
    """Large scores, dtype, device, inputs and repeated calls."""
    X, W_router, lent, k = draw_mixture(5, 6, 3, (4,))
    well_behaved(student.mixture, ref.mixture, X, W_router, lent, k)
    for factor in 1000, -1000:
        agree(student.mixture, ref.mixture, factor * X, W_router, lent, k)
    gradients_agree(student.mixture, ref.mixture, 64 * X, W_router / 64, lent, k)
    calls = [draw_mixture(*sizes, batch) for sizes, batch in zip(ROUTERS, BATCHES, strict=False)]
    others = (X, W_router, lent, 2), (X.flip(0), W_router, lent, k)
    agree_in_turn(student.mixture, ref.mixture, (X, W_router, lent, k), *calls, *others)
