"""Hidden tests: attention scores, 20 points.

A part that builds on earlier ones (5 on 4; 6 on 3, 4 and 5) is judged given the student's own: its values by `carried`,
of which a case can have one; everything else by `unless_inherited`. So a mistake is paid for once.
"""

from itertools import product

import pytest
import torch
from gradescope_utils.autograder_utils.decorators import number, visibility, weight

from reference import attention_scores as ref
from softmark import (
    Failed,
    agree,
    draw,
    gradients_agree,
    keeps_dtype,
    leaves_inputs,
    repeatable,
    works_on_meta,
)
from softmark.verdict import Category, current

ONE_AND_TWO = [(3,), (2, 3)]
NONE_ONE_TWO = [(), (3,), (2, 3)]
BOTH_DTYPES = [torch.float64, torch.float32]


def name_of(value):
    """Parts of a case's id."""
    return f"batch{len(value)}" if isinstance(value, tuple) else str(value).removeprefix("torch.")


def holds(check, *args, **kwargs):
    """Whether the student passes a check that is no test of this part."""
    try:
        check(*args, **kwargs)
    except Failed:
        return False
    return True


def unless_inherited(earlier, check, *args, **kwargs):
    """Make a check; when it fails although the earlier parts pass it, each with its arguments, this part is charged."""
    try:
        check(*args, **kwargs)
    except Failed:
        if all(holds(check, *part) for part in earlier):
            raise


def random_mask(*sizes):
    """True now and then. The first query may look everywhere, the others at one key at least, not at all."""
    x = draw(" ".join(map(str, sizes)))
    mask = x < -0.2
    mask.scatter_(-1, x.argmin(-1, keepdim=True), True)
    mask.scatter_(-1, x.argmax(-1, keepdim=True), False)
    if sizes[-2] > 1:
        mask[..., 0, :] = True
    return mask


# Part 1: attend ---------------------------------------------------------------------------------------------


@number("1.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [{"T": 5, "d": 3}, {"T": 3, "d": 8}], ids=["narrow", "wide"])
def test_attend(student, sizes):
    """The context of one query, without batch."""
    h, X = draw("d", "T d", **sizes)
    agree(student.attend, ref.attend, h, X)
    agree(student.attend, ref.attend, h, X[:1])


@number("1.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("batch", ONE_AND_TWO, ids=name_of)
def test_attend_batch(student, batch):
    """The context with batch dimensions in front."""
    h, X = draw("batch d", "batch T d", batch=batch, T=5, d=7)
    agree(student.attend, ref.attend, h, X)
    agree(student.attend, ref.attend, h, X[..., :1, :])


@number("1.3")
@weight(0.25)
@visibility("after_published")
def test_attend_gradients(student):
    """Gradients reach the query and the tokens."""
    h, X = draw("batch d", "batch T d", batch=2, T=5, d=3)
    agree(student.attend, ref.attend, h, X)
    gradients_agree(student.attend, ref.attend, h, X)


@number("1.4")
@weight(0.25)
@visibility("after_published")
def test_attend_manners(student):
    """float32 stays float32, the inputs stay as they were, and any device will do."""
    h, X = draw("batch d", "batch T d", batch=2, T=5, d=3, dtype=torch.float32)
    agree(student.attend, ref.attend, h, X)
    keeps_dtype(student.attend, h, X)
    leaves_inputs(student.attend, h, X)
    works_on_meta(student.attend, h, X)


# Part 2: project --------------------------------------------------------------------------------------------

RECTANGULAR = {"T": 5, "D": 6, "d_k": 3, "d_v": 4}
SQUARE = {"T": 5, "D": 4, "d_k": 4, "d_v": 4}


def draw_tokens_and_weights(sizes, batch=(), dtype=torch.float64):
    return draw("batch T D", "D d_k", "D d_k", "D d_v", batch=batch, dtype=dtype, **sizes)


@number("2.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [RECTANGULAR, SQUARE], ids=["rectangular", "square"])
def test_project(student, sizes):
    """Queries, keys and values, in this order."""
    X, *W = draw_tokens_and_weights(sizes)
    agree(student.project, ref.project, X, *W)
    agree(student.project, ref.project, X[:1], *W)


@number("2.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", ONE_AND_TWO, ids=name_of)
def test_project_batch(student, batch):
    """Queries, keys and values with batch dimensions in front."""
    agree(student.project, ref.project, *draw_tokens_and_weights(RECTANGULAR, batch))


@number("2.3")
@weight(0.25)
@visibility("after_published")
def test_project_gradients(student):
    """Gradients reach the tokens and each of the three weights."""
    inputs = draw_tokens_and_weights(RECTANGULAR, (2,))
    agree(student.project, ref.project, *inputs)
    gradients_agree(student.project, ref.project, *inputs)


@number("2.4")
@weight(0.25)
@visibility("after_published")
def test_project_manners(student):
    """float32 stays float32, the inputs stay as they were, and any device will do."""
    inputs = draw_tokens_and_weights(RECTANGULAR, (2,), torch.float32)
    agree(student.project, ref.project, *inputs)
    for output in range(3):
        keeps_dtype(student.project, *inputs, output=output)
    leaves_inputs(student.project, *inputs)
    works_on_meta(student.project, *inputs)


# Part 3: scores ---------------------------------------------------------------------------------------------

SIZES = {
    "more_keys": {"m": 5, "n": 7, "d_k": 6},
    "more_queries": {"m": 6, "n": 2, "d_k": 10},
    "one_query": {"m": 1, "n": 5, "d_k": 3},
    "square": {"m": 5, "n": 5, "d_k": 5},
}


@number("3.1")
@weight(1.5)
@visibility("after_published")
@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_scores(student, sizes):
    """The score matrix S = Q Kᵀ / √d_k."""
    Q, K = draw("m d_k", "n d_k", **sizes)
    agree(student.scores, ref.scores, Q, K)


@number("3.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("batch", ONE_AND_TWO, ids=name_of)
def test_scores_batch(student, batch):
    """A score matrix for every example of a batch."""
    Q, K = draw("batch m d_k", "batch n d_k", batch=batch, m=5, n=7, d_k=6)
    agree(student.scores, ref.scores, Q, K)
    agree(student.scores, ref.scores, Q[..., :1, :], K)
    agree(student.scores, ref.scores, Q, K[..., :1, :])


@number("3.3")
@weight(0.75)
@visibility("after_published")
def test_scores_gradients(student):
    """Gradients reach queries and keys."""
    Q, K = draw("batch m d_k", "batch n d_k", batch=2, m=5, n=7, d_k=6)
    agree(student.scores, ref.scores, Q, K)
    gradients_agree(student.scores, ref.scores, Q, K)


@number("3.4")
@weight(0.75)
@visibility("after_published")
def test_scores_manners(student):
    """float32 stays float32, the inputs stay as they were, and any device will do."""
    Q, K = draw("batch m d_k", "batch n d_k", batch=2, m=5, n=7, d_k=6, dtype=torch.float32)
    agree(student.scores, ref.scores, Q, K)
    keeps_dtype(student.scores, Q, K)
    leaves_inputs(student.scores, Q, K)
    works_on_meta(student.scores, Q, K)


# Part 4: softmax_rows ---------------------------------------------------------------------------------------


def draw_large_scores(dtype=torch.float64):
    """Rows around +1000 and around -1000, a row that holds both, and an ordinary one."""
    level = torch.tensor([1000.0, -1000.0, 1000.0, 900.0, 0.0], dtype=dtype).unsqueeze(-1).repeat(1, 7)
    level[2, 3:] = -1000
    return 2 * draw("batch heads m n", batch=2, heads=3, m=5, n=7, dtype=dtype) + level


@number("4.1")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("batch", NONE_ONE_TWO, ids=name_of)
def test_softmax_rows(student, batch):
    """Weights from scores of ordinary size."""
    S = 2 * draw("batch m n", batch=batch, m=5, n=7)
    agree(student.softmax_rows, ref.softmax_rows, S)
    agree(student.softmax_rows, ref.softmax_rows, S[..., :1, :])
    agree(student.softmax_rows, ref.softmax_rows, S[..., :1])


@number("4.2")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("dtype", BOTH_DTYPES, ids=name_of)
def test_softmax_rows_large(student, dtype):
    """Weights from scores as large as ±1000."""
    agree(student.softmax_rows, ref.softmax_rows, draw_large_scores(dtype))


@number("4.3")
@weight(0.5)
@visibility("after_published")
def test_softmax_rows_gradients(student):
    """Gradients, at ordinary and at large scores."""
    for S in (draw("batch heads m n", batch=2, heads=3, m=5, n=7), draw_large_scores()):
        agree(student.softmax_rows, ref.softmax_rows, S)
        gradients_agree(student.softmax_rows, ref.softmax_rows, S)


@number("4.4")
@weight(0.5)
@visibility("after_published")
def test_softmax_rows_manners(student):
    """float32 stays float32, the scores stay as they were, and any device will do."""
    S = draw("batch heads m n", batch=2, heads=3, m=5, n=7, dtype=torch.float32)
    agree(student.softmax_rows, ref.softmax_rows, S)
    keeps_dtype(student.softmax_rows, S)
    leaves_inputs(student.softmax_rows, S)
    works_on_meta(student.softmax_rows, S)


# Part 5: masked_softmax -------------------------------------------------------------------------------------


def gives(want, function, *args):
    """Whether the student's function gives this value, where that is no test of this part."""
    return holds(lambda: agree(function(*args), want))


def stable(student):
    """Whether the student's part 4 survives large scores; if not, parts 5 and 6 are asked without them."""
    S = torch.tensor([[1000, 1000, 990], [-1000, -1000, -990], [1000, -1000, 0]], dtype=torch.float64)
    return gives(ref.softmax_rows(S), student.softmax_rows, S)


def batch_for_masks(student, batch):
    """The batch dimensions, or none if the student's part 4 cannot process them."""
    S = torch.ones(*batch, 5, 7, dtype=torch.float64)
    try:
        A = student.softmax_rows(S)
    except Failed:
        return ()
    return batch if getattr(A, "shape", None) == S.shape else ()


def agree_masked(student, S, mask):
    carried = {"softmax_rows": student.softmax_rows}
    agree(student.masked_softmax, ref.masked_softmax, S, mask, carried=carried)


@number("5.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("batch", NONE_ONE_TWO, ids=name_of)
def test_masked_softmax(student, batch):
    """A mask for every example, and in every row at least one allowed key."""
    batch = batch_for_masks(student, batch)
    S = 2 * draw("batch m n", batch=batch, m=5, n=7)
    agree_masked(student, S, random_mask(*batch, 5, 7))


@number("5.2")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("sizes", [(5, 7), (2, 1, 5, 7), (2, 1, 1, 7)], ids=["for_all", "for_heads", "for_queries"])
def test_masked_softmax_broadcast(student, sizes):
    """A mask that is shared by examples, by heads, or by heads and queries."""
    batch = batch_for_masks(student, (2, 3))
    S = 2 * draw("batch m n", batch=batch, m=5, n=7)
    agree_masked(student, S, random_mask(*(sizes if batch else sizes[-2:])))


@number("5.3")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("batch", NONE_ONE_TWO, ids=name_of)
def test_masked_softmax_blocked_row(student, batch):
    """A row whose keys are all blocked is exactly 0, the other rows are not."""
    batch = batch_for_masks(student, batch)
    S, without = 2 * draw("batch m n", batch=batch, m=5, n=7), random_mask(*batch, 5, 7)
    mask = without.clone()
    mask[..., 3, :] = False
    if batch:
        mask[0], mask[-1] = mask[0].roll(1, dims=-2), without[-1]
    agree_masked(student, S, mask)


@number("5.4")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("blocked_are", ["high", "low"])
@pytest.mark.parametrize("deep", [False, True], ids=["mild", "deep"])
def test_masked_softmax_spread(student, deep, blocked_are):
    """Nothing leaks from a blocked key, whatever its score is and however low those of the allowed keys are."""
    S, mask = draw("m n", m=6, n=7), random_mask(6, 7)
    depth = [0, 10, 50, 100, 1000, 10_000] if deep else [0, 10, 20, 30, 50, 100]
    depth = torch.tensor(depth, dtype=S.dtype).unsqueeze(-1)
    if not stable(student):
        depth = depth.clamp(max=100)
    allowed = (30 if deep else 3) * S - depth
    blocked = S + depth.clamp(max=500) if blocked_are == "high" else S - depth
    agree_masked(student, torch.where(mask, allowed, blocked), mask)


@number("5.5")
@weight(0.25)
@visibility("after_published")
def test_masked_softmax_gradients(student):
    """Gradients: finite, and 0 for what is blocked."""
    S, mask = draw("m n", m=5, n=7), random_mask(5, 7)
    mask[2] = False
    agree_masked(student, S, mask)
    if not current().carried:
        earlier = [(student.softmax_rows, ref.softmax_rows, draw_large_scores())]
        unless_inherited(earlier, gradients_agree, student.masked_softmax, ref.masked_softmax, S, mask)


@number("5.6")
@weight(0.25)
@visibility("after_published")
def test_masked_softmax_manners(student):
    """float32 stays float32, scores and mask stay as they were, and any device will do."""
    S, mask = draw("m n", m=5, n=7, dtype=torch.float32) - 5, random_mask(5, 7)
    agree_masked(student, S, mask)
    earlier = [(student.softmax_rows, S)]
    for check in (keeps_dtype, leaves_inputs, works_on_meta):
        unless_inherited(earlier, check, student.masked_softmax, S, mask)


# Part 6: attention ------------------------------------------------------------------------------------------


def processable(student, batch, n, dtype):
    """The wanted sizes and dtype, or the nearest with which the student's earlier parts give results of the right form.

    Without a batch if they know none; as many keys as queries if they exchange the two; the other dtype if they insist
    on it, since A @ V needs one for both.
    """
    other = torch.float32 if dtype is torch.float64 else torch.float64
    for choice in product((batch, ()), (n, 5), (dtype, other)):
        Q, K = (torch.ones(*choice[0], tokens, 6, dtype=choice[2]) for tokens in (5, choice[1]))
        S = ref.scores(Q, K)
        try:
            results = student.scores(Q, K), student.softmax_rows(S), student.masked_softmax(S, S > 0)
        except Failed as failure:
            if failure.verdict.category is not Category.ERROR:
                break  # a crash or a time-out: nothing smaller will do
            continue
        if all((getattr(A, "shape", None), getattr(A, "dtype", None)) == (S.shape, S.dtype) for A in results):
            return choice
    return batch, n, dtype


def draw_queries_keys_values(student, batch=(), n=7, dtype=torch.float64):
    batch, n, dtype = processable(student, batch, n, dtype)
    return draw("batch m d_k", "batch n d_k", "batch n d_v", batch=batch, m=5, n=n, d_k=6, d_v=8, dtype=dtype)


def sees_nowhere(student):
    """Whether the student's part 5 makes zeros of a row without an allowed key; if not, part 6 is asked without one."""
    mask = torch.tensor([[True, True, False], [False, False, False]])
    return gives(mask / 2, student.masked_softmax, torch.zeros(2, 3), mask)


def agree_attention(student, *inputs, **mask):
    carried = {name: getattr(student, name) for name in ("scores", "softmax_rows", "masked_softmax")}
    agree(student.attention, ref.attention, *inputs, carried=carried, **mask)


@number("6.1")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("batch", NONE_ONE_TWO, ids=name_of)
def test_self_attention(student, batch):
    """Self-attention without a mask: as many queries as keys."""
    agree_attention(student, *draw_queries_keys_values(student, batch, n=5), mask=None)


@number("6.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize("batch", NONE_ONE_TWO, ids=name_of)
def test_cross_attention(student, batch):
    """Cross-attention: queries from elsewhere, values of another width."""
    Q, K, V = draw_queries_keys_values(student, batch)
    agree_attention(student, Q, K, V)
    if not current().carried:
        agree_attention(student, Q[..., :1, :], K, V)
        agree_attention(student, Q, K[..., :1, :], V[..., :1, :])


@number("6.3")
@weight(1)
@visibility("after_published")
@pytest.mark.parametrize("kind", ["each_example", "heads", "causal_and_padding", "blocked_queries"])
def test_masked_attention(student, kind):
    """Attention under a mask."""
    batch, n = (2, 3) if kind == "heads" else (3,), 5 if kind == "causal_and_padding" else 7
    Q, K, V = draw_queries_keys_values(student, batch, n)
    *batch, m, n = *Q.shape[:-1], K.shape[-2]
    mask = random_mask(2, 1, m, n) if kind == "heads" and batch else random_mask(*batch, m, n)
    if kind == "causal_and_padding":
        mask = ref.causal_mask(n) & ref.padding_mask(torch.tensor([4, 5, 2] if batch else 4), n)
    if kind == "blocked_queries" and sees_nowhere(student):
        mask[..., 4, :] = False
        mask[0, 1] = False
    agree_attention(student, Q, K, V, mask=mask)


@number("6.4")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("blocked", [False, True], ids=["all_see", "one_sees_nothing"])
def test_attention_gradients(student, blocked):
    """Gradients reach queries, keys and values, and are finite where a query may look nowhere."""
    Q, K, V = draw_queries_keys_values(student, (2,))
    S = ref.scores(Q, K)
    mask = random_mask(*S.shape)
    if blocked and sees_nowhere(student):
        mask[..., 2, :] = False
    agree_attention(student, Q, K, V, mask=mask)
    if not current().carried:
        earlier = [(student.scores, ref.scores, Q, K), (student.softmax_rows, ref.softmax_rows, draw_large_scores())]
        earlier.append((student.masked_softmax, ref.masked_softmax, S, mask))
        unless_inherited(earlier, gradients_agree, student.attention, ref.attention, Q, K, V, mask=mask)


@number("6.5")
@weight(0.5)
@visibility("after_published")
@pytest.mark.parametrize("masked", [False, True], ids=["unmasked", "masked"])
@pytest.mark.parametrize("dtype", BOTH_DTYPES, ids=name_of)
def test_attention_large(student, dtype, masked):
    """Attention where the scores of a query reach ±1000; three keys fit it nearly equally well."""
    Q, K, V = draw_queries_keys_values(student, (2,), dtype=dtype)
    size = 1000 if stable(student) else 30
    K[..., 0, :] = Q[..., 2, :]
    Q[..., 2, :] *= size / ref.scores(Q, K)[..., 2, :].abs().max()
    K[..., 1:3, :] = K[..., :1, :] + K[..., 1:3, :] / size
    mask = random_mask(*Q.shape[:-1], K.shape[-2])
    mask[..., :3] = True
    first = mask[0] if Q.dim() > 2 else mask
    first[1:, 1] = False
    agree_attention(student, Q, K, V, mask=mask if masked else None)


@number("6.6")
@weight(0.5)
@visibility("after_published")
def test_attention_manners(student):
    """float32 stays float32, inputs stay as they were, two calls give the same, any device will do."""
    Q, K, V = draw_queries_keys_values(student, (2,), dtype=torch.float32)
    S = ref.scores(Q, K)
    mask = random_mask(*S.shape)
    agree_attention(student, Q, K, V, mask=mask)
    repeatable(student.attention, Q, K, V, mask=mask)
    earlier = [(student.scores, Q, K), (student.softmax_rows, S), (student.masked_softmax, S, mask)]
    for check in (keeps_dtype, leaves_inputs, works_on_meta):
        unless_inherited(earlier, check, student.attention, Q, K, V, mask=mask)
    unless_inherited(earlier, keeps_dtype, student.attention, Q, K, V, mask=mask, output=1)
    unless_inherited(earlier[:2], works_on_meta, student.attention, Q, K, V)


# Part 7: causal_mask and padding_mask -----------------------------------------------------------------------


@number("7.1")
@weight(0.75)
@visibility("after_published")
def test_causal_mask(student):
    """Who may look where from left to right."""
    for n in (6, 3, 2, 1):
        agree(student.causal_mask, ref.causal_mask, n)


@number("7.2")
@weight(0.75)
@visibility("after_published")
@pytest.mark.parametrize(
    "lengths", [[2, 5, 1, 4], [[3, 0, 5], [1, 4, 2]], [5, 0]], ids=["batch1", "batch2", "full_and_empty"]
)
def test_padding_mask(student, lengths):
    """What is padding in each sequence."""
    agree(student.padding_mask, ref.padding_mask, torch.tensor(lengths), 5)


@number("7.3")
@weight(0.25)
@visibility("after_published")
def test_masks_together(student):
    """Both masks at once, joined with &."""
    lengths = torch.tensor([4, 7, 2])
    agree(student.causal_mask, ref.causal_mask, 7)
    agree(student.padding_mask, ref.padding_mask, lengths, 7)
    together = student.causal_mask(7) & student.padding_mask(lengths, 7)
    agree(together, ref.causal_mask(7) & ref.padding_mask(lengths, 7))


@number("7.4")
@weight(0.25)
@visibility("after_published")
def test_padding_mask_device(student):
    """The padding mask is made on the device of the lengths."""
    lengths = torch.tensor([4, 7, 2])
    agree(student.padding_mask, ref.padding_mask, lengths, 7)
    leaves_inputs(student.padding_mask, lengths, 7)
    works_on_meta(student.padding_mask, lengths, 7)
