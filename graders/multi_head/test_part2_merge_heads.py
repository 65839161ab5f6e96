"""Hidden tests: merging the heads."""

import pytest
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from reference import multi_head as ref
from softmark import agree, agree_in_turn, draw, gradients_agree, well_behaved

SIZES = [(3, 5, 4), (2, 7, 3), (4, 2, 5), (4, 4, 3), (3, 5, 5), (4, 6, 4), (3, 3, 3)]
SIZES += [(3, 33, 2), (2, 65, 3), (2, 257, 1), (17, 3, 2), (2, 3, 70), (6, 5, 1)]


@number("2.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("h", "d_head"), [(3, 4), (1, 6), (5, 1), (4, 4)])
def test_merge_one_token(student, h, d_head):
    """One token: the features of head 0, then those of head 1, and so on."""
    agree(student.merge_heads, ref.merge_heads, draw("h 1 d_head", h=h, d_head=d_head))


@number("2.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize(("h", "T", "d_head"), SIZES)
def test_merge_many_tokens(student, h, T, d_head):
    """Several tokens: a row holds the features of one token and of no other; sizes that differ and that do not."""
    H = draw("h T d_head", h=h, T=T, d_head=d_head)
    agree(student.merge_heads, ref.merge_heads, H)
    agree(student.merge_heads, ref.merge_heads, H[:1])


@number("2.3")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("batch", [(2,), (2, 7), (1, 2), (3,), (4,), (5,), (33,), (2, 2), (3, 3), (5, 5)])
def test_merge_with_batch(student, batch):
    """Batch dimensions stay in front, one or two of them; as many examples as heads, tokens or features, too."""
    agree(student.merge_heads, ref.merge_heads, draw("batch h T d_head", batch=batch, h=3, T=5, d_head=4))


@number("2.4")
@weight(0.5)
@visibility("after_published")
def test_merge_gradient(student):
    """Gradients flow back through the merge, whatever the sizes are."""
    H = draw("batch h T d_head", batch=(2,), h=3, T=5, d_head=4)
    for heads in (H, 40 * H, H[0], H[:, :1], H[:, :, :1], H[None], H[0, :, :3]):
        gradients_agree(student.merge_heads, ref.merge_heads, heads.contiguous())


@number("2.5")
@weight(0.5)
@visibility("after_published")
def test_merge_is_a_clean_function(student):
    """dtype and device of the input, which is unchanged; earlier calls make no difference."""
    H = draw("batch h T d_head", batch=(2,), h=3, T=5, d_head=4)
    well_behaved(student.merge_heads, ref.merge_heads, H)
    larger, smaller = draw("h T d_head", h=4, T=7, d_head=6), draw("h T d_head", h=2, T=3, d_head=1)
    other = draw("batch h T d_head", batch=(2,), h=4, T=5, d_head=3)  # the same width, from other heads
    agree_in_turn(student.merge_heads, ref.merge_heads, [H], [larger], [smaller], [40 * H], [other])
    for numbers in (0 * H, H.abs(), -H.abs(), H / 1000):
        agree(student.merge_heads, ref.merge_heads, numbers)
