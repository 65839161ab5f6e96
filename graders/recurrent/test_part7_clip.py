"""Hidden tests of part 7: clipping, and how the first state acts on the last."""

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from reference import recurrent as ref
from softmark import agree, agree_in_turn, confirm_reference, draw, to_float32, well_behaved


def drawn_gradients():
    """Draw gradients of four parameters; one has a single number, and their common norm is about 6."""
    return [*draw("3 4", "3", "2 3 5"), draw("1")[0]]


def norm_of(gradients):
    """Return the common norm, as PyTorch computes it."""
    return float(torch.nn.utils.get_total_norm([g for g in gradients if g is not None]))


def clip_like_torch(gradients, c):
    """Return what PyTorch's own clipping makes of gradients. It adds 1e-6 to their norm, so that must be large."""
    parameters = [torch.nn.Parameter(torch.zeros_like(g)) for g in gradients]
    for parameter, g in zip(parameters, gradients, strict=True):
        parameter.grad = g.clone()
    torch.nn.utils.clip_grad_norm_(parameters, c)
    return [parameter.grad for parameter in parameters]


@number("7.1")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("share", [0.8, 0.1, 1e-3])
def test_clip(student, share):
    """Gradients whose common norm is larger than c get the norm c, and keep their direction."""
    gradients = drawn_gradients()
    c = share * norm_of(gradients)
    large = [1e6 * g for g in gradients]
    confirm_reference(lambda: ref.clip(large, 1e6 * c), lambda: clip_like_torch(large, 1e6 * c), "clip_grad_norm_")
    agree(student.clip, ref.clip, gradients, c)
    agree(student.clip, ref.clip, large, 1e6 * c)
    agree(student.clip, ref.clip, [1e-6 * g for g in gradients], 1e-6 * c)
    agree(student.clip, ref.clip, gradients[:1], 1)


@number("7.2")
@weight(0.25)
@visibility("after_published")
@pytest.mark.parametrize("share", [1.1, 1.5, 100.0])
def test_clip_of_small_gradients(student, share):
    """Gradients whose common norm is at most c stay as they are."""
    gradients = drawn_gradients()
    agree(student.clip, ref.clip, gradients, norm_of(gradients) / 2)  # whoever never clips knows nothing of this
    agree(student.clip, ref.clip, gradients, share * norm_of(gradients))
    agree(student.clip, ref.clip, [None, *gradients], share * norm_of(gradients))
    agree(student.clip, ref.clip, [0 * g for g in gradients], share)


@number("7.3")
@weight(0.25)
@visibility("after_published")
def test_clip_without_some_gradients(student):
    """An entry that is None stays None, and the list may hold nothing else, or nothing."""
    first, *rest = drawn_gradients()
    for gradients in ([first, None, *rest], [None, first], [first, None], [None, None, *rest, None]):
        agree(student.clip, ref.clip, gradients, 0.5)
    for gradients in ([None], [None, None], []):
        agree(student.clip, ref.clip, gradients, 0.5)


@number("7.4")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(
    ("t", "n", "h"),
    [(4, 3, 2), (2, 5, 3), (1, 2, 4), (3, 1, 5), (5, 4, 1), (3, 3, 3), (2, 4, 4), (4, 2, 4), (1, 3, 1), (50, 2, 3)],
)
def test_state_jacobian(student, t, n, h):
    """∂h_T/∂h_0 is the product of the derivatives of all steps, in their order."""
    hs, W_h = torch.tanh(draw("t n h", t=t, n=n, h=h)), draw("h h", h=h)
    agree(student.state_jacobian, ref.state_jacobian, hs, W_h)
    x, h0, W_x, b = draw("t n 2", "n h", "h 2", "h", t=t, n=n, h=h)
    hs = ref.rnn(x, h0, W_x, W_h, b)[0]

    def by_autograd():
        full = torch.autograd.functional.jacobian(lambda state: ref.rnn(x, state, W_x, W_h, b)[1], h0)
        return torch.stack([full[sequence, :, sequence] for sequence in range(n)])

    confirm_reference(lambda: ref.state_jacobian(hs, W_h), by_autograd, "autograd")
    agree(student.state_jacobian, ref.state_jacobian, hs, W_h)


@number("7.5")
@weight(0.25)
@visibility("after_published")
def test_part_7_conduct(student):
    """The dtype stays, no input is changed, gradients explode or vanish, and any calls may come before."""
    gradients = drawn_gradients()
    agree(student.clip, ref.clip, gradients, 2)
    for c in (2.5, 1000.0):
        well_behaved(student.clip, ref.clip, gradients, c)
    agree_in_turn(student.clip, ref.clip, (gradients, 2), (gradients[:2], 1), (gradients, 100), ([None], 3))
    agree(student.clip, ref.clip, to_float32([100 * g for g in gradients]), 3.0)
    hs, W_h = torch.tanh(draw("4 3 2")), draw("2 2")
    well_behaved(student.state_jacobian, ref.state_jacobian, hs, W_h)
    turned = torch.linalg.qr(draw("3 3")).Q
    for factor in (2, 0.5):
        agree(student.state_jacobian, ref.state_jacobian, 0.1 * torch.tanh(draw("30 2 3")), factor * turned)
    agree(student.state_jacobian, ref.state_jacobian, hs, 100 * W_h)
    others = (torch.tanh(draw("6 4 3")), draw("3 3")), (torch.tanh(draw("2 1 1")), draw("1 1")), (hs.sign(), W_h)
    agree_in_turn(student.state_jacobian, ref.state_jacobian, (hs, W_h), *others, (hs, W_h.T.contiguous()))
