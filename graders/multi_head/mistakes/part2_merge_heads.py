"""Named mistakes: merging the heads."""

import torch

from reference import multi_head as ref
from softmark import mistake


@mistake(
    ref.merge_heads,
    id="H02",
    says="You reshape without moving the head axis back first, so a row holds features of different tokens.",
    hint="The tokens must stand before the heads again when you join the last two axes.",
)
def merge_by_view(H):
    *batch, n_heads, T, d_head = H.shape
    return H.reshape(*batch, T, n_heads * d_head)


@mistake(
    ref.merge_heads,
    id="H05",
    says="You merge as (d_head, n_heads): the features of the heads alternate instead of standing in blocks.",
    hint="All features of head 0 come first, then all of head 1, so the head index is the slower one.",
)
def merge_interleaved(H):
    return H.movedim(-3, -1).flatten(-2)


@mistake(
    ref.merge_heads,
    id="H18",
    says="You average the heads, so the result has the width of a single head.",
    hint="Concatenating keeps what every head found; nothing is added up.",
)
def merge_averages(H):
    return H.mean(dim=-3)


@mistake(
    ref.merge_heads,
    says="You add the heads up, so the result has the width of a single head.",
    hint="Concatenating keeps what every head found; nothing is added up.",
)
def merge_sums(H):
    return H.sum(dim=-3)


@mistake(
    ref.merge_heads,
    says="You exchange the tokens with the features of a head instead of with the heads.",
    hint="Write down every shape: before the last two axes are joined it is (…, T, n_heads, d_head).",
)
def merge_swaps_wrong_axes(H):
    *batch, n_heads, T, d_head = H.shape
    return H.transpose(-1, -2).reshape(*batch, T, n_heads * d_head)


@mistake(
    ref.merge_heads,
    says="You move the head axis but do not join it with the features: there is one axis too many.",
    hint="The last two axes, heads and features, become one.",
)
def merge_keeps_head_axis(H):
    return H.transpose(-3, -2)


@mistake(
    ref.merge_heads,
    says="You put the heads one below the other, as more tokens, instead of side by side.",
    hint="The number of tokens stays; it is the width that grows.",
)
def merge_along_tokens(H):
    return H.flatten(-3, -2)


@mistake(
    ref.merge_heads,
    says="Only the last head is in your result.",
    hint="If you go through the heads one by one, look at what is left of the earlier ones at the end.",
)
def merge_keeps_last_head(H):
    return H[..., -1, :, :]


@mistake(
    ref.merge_heads,
    says="Every block of your result is the first head.",
    hint="Block i of the width belongs to head i.",
)
def merge_repeats_first_head(H):
    return torch.cat([H[..., 0, :, :]] * H.shape[-3], dim=-1)


@mistake(
    ref.merge_heads,
    says="You concatenate the heads from the last to the first.",
    hint="Head 0 comes first.",
)
def merge_reversed(H):
    return torch.cat(H.unbind(-3)[::-1], dim=-1)


@mistake(
    ref.merge_heads,
    says="You count axes from the front, which is right for exactly one batch dimension.",
    hint="Name the axes from the end, then it does not matter how many batch dimensions there are.",
)
def merge_counts_axes_from_front(H):
    return H.transpose(1, 2).flatten(-2)


@mistake(
    ref.merge_heads,
    id="H26",
    says="You press all batch dimensions into one, so the result always has three axes.",
    hint="What stands before the heads in the input must stand before the tokens in the result.",
)
def merge_flattens_batch(H):
    n_heads, T, d_head = H.shape[-3:]
    return H.transpose(-3, -2).reshape(-1, T, n_heads * d_head)


@mistake(
    ref.merge_heads,
    says="You copy into a new float32 tensor, so the dtype of the input is lost.",
    hint="Rearranging needs no new tensor; if you make one, make it with the dtype and device of the input.",
)
def merge_into_float32(H):
    *batch, n_heads, T, d_head = H.shape
    Y = torch.zeros(*batch, T, n_heads * d_head)
    Y[...] = H.transpose(-3, -2).flatten(-2)
    return Y


@mistake(
    ref.merge_heads,
    says="You cut the result off from the input, so no gradient flows back into the heads.",
    hint="Stay with operations on the tensor; detach, .data, numpy and torch.tensor lose the gradient.",
)
def merge_detaches(H):
    return H.detach().transpose(-3, -2).flatten(-2)
