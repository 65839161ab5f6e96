"""Wrong biases for relative positions."""

import torch

from reference import positional_encoding as ref
from softmark import mistake


def offsets(n, m):
    """Key minus query, unclipped."""
    return torch.arange(m) - torch.arange(n)[:, None]  # (n, m)


@mistake(
    ref.relative_bias,
    id="P33",
    says="Your offset is query minus key; it is key minus query, so your pattern is mirrored.",
    hint="The key one place to the right of its query has offset +1.",
)
def query_minus_key(n, m, table):
    L = table.shape[-1] // 2
    return table[..., (-offsets(n, m)).clamp(-L, L) + L]


@mistake(
    ref.relative_bias,
    id="P34",
    says="Offsets beyond the table wrap around, so far keys get the bias of near ones; they must be clipped.",
    hint="A negative index counts from the end; limit the offset before you look it up.",
)
def offsets_wrap_around(n, m, table):
    size = table.shape[-1]
    return table[..., (offsets(n, m) + size // 2) % size]


@mistake(
    ref.relative_bias,
    says="You clip offsets at L only; keys far to the left wrap around to the other end of the table.",
    hint="Offsets are clipped at -L as well as at L.",
)
def clipped_on_the_right_only(n, m, table):
    L = table.shape[-1] // 2
    entry = (offsets(n, m) + L).clamp(max=2 * L)
    return table[..., entry % table.shape[-1]]


@mistake(
    ref.relative_bias,
    says="You clip offsets at -L only; keys far to the right wrap around to the other end of the table.",
    hint="Offsets are clipped at L as well as at -L.",
)
def clipped_on_the_left_only(n, m, table):
    L = table.shape[-1] // 2
    entry = (offsets(n, m) + L).clamp(min=0)
    return table[..., entry % table.shape[-1]]


@mistake(
    ref.relative_bias,
    says="You clip one step too early, at L-1: the two ends of the table are never used.",
    hint="A table of 7 entries has L = 3, and offset 3 has an entry of its own.",
)
def clipped_too_early(n, m, table):
    L = table.shape[-1] // 2
    return table[..., offsets(n, m).clamp(-(L - 1), L - 1) + L]


@mistake(
    ref.relative_bias,
    says="You clip at L-1 on the right: the last entry of the table is never used.",
    hint="A table of 7 entries has L = 3, and offset 3 has an entry of its own.",
)
def clipped_too_early_on_the_right(n, m, table):
    L = table.shape[-1] // 2
    return table[..., offsets(n, m).clamp(-L, L - 1) + L]


@mistake(
    ref.relative_bias,
    says="You clip at L-1 on the right: the last entry of the table is never used.",
    hint="A table of 7 entries has L = 3, and offset 3 has an entry of its own.",
)
def selected_too_early_on_the_right(n, m, table):
    L = table.shape[-1] // 2
    entry = offsets(n, m).clamp(-L, L - 1) + L
    return table.index_select(-1, entry.flatten()).unflatten(-1, (n, m))  # no index -1 where L is 0


@mistake(
    ref.relative_bias,
    says="You take L from the first axis of the table, which is the axis of the heads as soon as there are any.",
    hint="The table is (…, 2L+1): count axes from the end.",
)
def L_from_first_axis(n, m, table):
    L = len(table) // 2
    return table[..., offsets(n, m).clamp(-L, L) + L]


@mistake(
    ref.relative_bias,
    says="Your L is one too large: offset 0 is the entry in the middle of the table.",
    hint="A table of 7 entries has L = 3 and its middle at index 3.",
)
def L_one_too_large(n, m, table):
    L = (table.shape[-1] + 1) // 2
    return table[..., offsets(n, m).clamp(-L, L) + L]


@mistake(
    ref.relative_bias,
    says="You clip the table's index at L, so every key to the right of its query gets the bias of offset 0.",
    hint="Clip the offset to -L … L first, and shift it to an index afterwards.",
)
def index_clipped_at_L(n, m, table):
    L = table.shape[-1] // 2
    return table[..., (offsets(n, m) + L).clamp(0, L)]


@mistake(
    ref.relative_bias,
    says="You use the offset as an index without shifting it: offset 0 is the middle of the table.",
    hint="The first entry of the table belongs to offset -L.",
)
def middle_forgotten(n, m, table):
    L = table.shape[-1] // 2
    return table[..., offsets(n, m).clamp(-L, L) % table.shape[-1]]


@mistake(
    ref.relative_bias,
    says="Your entries are one off: offset 0 is the entry in the middle of the table.",
    hint="A table of 7 entries has its middle at index 3.",
)
def one_entry_off(n, m, table):
    L = table.shape[-1] // 2
    return table[..., (offsets(n, m).clamp(-L, L) + L + 1).clamp(max=2 * L)]


@mistake(
    ref.relative_bias,
    says="You use the distance without its sign, so left and right get the same bias.",
    hint="The table has entries of its own for negative offsets.",
)
def sign_of_offset_lost(n, m, table):
    L = table.shape[-1] // 2
    return table[..., offsets(n, m).abs().clamp(max=L) + L]


@mistake(
    ref.relative_bias,
    says="Your bias lies on its side: queries are rows and keys are columns.",
    hint="The shape must end with n, m.",
)
def keys_as_rows(n, m, table):
    L = table.shape[-1] // 2
    return table[..., offsets(n, m).clamp(-L, L) + L].transpose(-1, -2).contiguous()


@mistake(
    ref.relative_bias,
    says="Keys too far away get a bias of 0; they get the bias at that end of the table.",
    hint="Clipping changes the offset, it does not switch the bias off.",
)
def far_keys_get_nothing(n, m, table):
    L = table.shape[-1] // 2
    offset = offsets(n, m).to(table.device)
    return table[..., offset.clamp(-L, L) + L] * (offset.abs() <= L)


@mistake(
    ref.relative_bias,
    says="Keys too far away are masked with -∞; they get the bias at that end of the table.",
    hint="Clipping changes the offset, it does not forbid the key.",
)
def far_keys_masked(n, m, table):
    L = table.shape[-1] // 2
    offset = offsets(n, m).to(table.device)
    return table[..., offset.clamp(-L, L) + L].masked_fill(offset.abs() > L, float("-inf"))


@mistake(
    ref.relative_bias,
    says="Your bias depends on the key's own position; it should depend on its distance from the query.",
    hint="Along a diagonal of the bias all numbers are the same.",
)
def position_of_the_key(n, m, table):
    L = table.shape[-1] // 2
    return table[..., torch.arange(m).clamp(max=L).expand(n, m) + L]


@mistake(
    ref.relative_bias,
    says="The offset is counted from the last query and the last key; it is j - i with both counted from 0.",
    hint="B[0, 0] is the bias of offset 0, also when there are more keys than queries.",
)
def aligned_at_the_end(n, m, table):
    L = table.shape[-1] // 2
    return table[..., (offsets(n, m) + n - m).clamp(-L, L) + L]


@mistake(
    ref.relative_bias,
    says="All heads got the biases of the first head.",
    hint="Offsets index the last axis of the table; all axes before it stay.",
)
def first_head_only(n, m, table):
    L = table.shape[-1] // 2
    first = table[(0,) * (table.dim() - 1)]
    B = first[offsets(n, m).clamp(-L, L) + L]
    return B.expand(*table.shape[:-1], n, m).clone()


@mistake(
    ref.relative_bias,
    says="Your heads come last; they stay in front: (…, n, m).",
    hint="Scores are (…, heads, n, m), and the bias is added to them.",
)
def heads_last(n, m, table):
    L = table.shape[-1] // 2
    B = table[..., offsets(n, m).clamp(-L, L) + L]
    return B.movedim((-2, -1), (0, 1)).contiguous()


@mistake(
    ref.relative_bias,
    says="The table learns nothing: your bias is cut off from it.",
    hint="Look for .item(), torch.tensor, detach or numpy.",
)
def bias_detached(n, m, table):
    L = table.shape[-1] // 2
    return table.detach()[..., offsets(n, m).clamp(-L, L) + L]


@mistake(
    ref.relative_bias,
    says="Your bias is always float32; it keeps the dtype of the table.",
    hint="If you fill a tensor yourself, make it with the table's dtype.",
)
def always_float32(n, m, table):
    L = table.shape[-1] // 2
    return table[..., offsets(n, m).clamp(-L, L) + L].float()
