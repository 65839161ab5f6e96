"""Wrong solutions of part 7: causal_mask and padding_mask."""

import math

import torch

from reference import attention_scores as ref
from softmark import mistake


@mistake(
    ref.causal_mask,
    says="Your mask is True for the future: it says what is blocked.",
    hint="True means may look: what came before, and the token itself.",
    id="M01",
)
def causal_inverted(n):
    return torch.ones(n, n, dtype=torch.bool).triu(1)


@mistake(
    ref.causal_mask,
    says="You keep the upper triangle: a token may look at itself and the future.",
    hint="Rows are queries, columns are keys: which triangle is the past?",
    id="M09",
)
def causal_upper(n):
    return torch.ones(n, n, dtype=torch.bool).triu()


@mistake(
    ref.causal_mask,
    says="A token may not look at itself, so the first one may look nowhere.",
    hint="The diagonal belongs to the allowed part.",
    id="M10",
)
def causal_without_diagonal(n):
    return torch.ones(n, n, dtype=torch.bool).tril(-1)


@mistake(
    ref.causal_mask,
    says="A token may look at the one that follows it.",
    hint="Your triangle reaches one step too far.",
    id="M11",
)
def causal_one_ahead(n):
    return torch.ones(n, n, dtype=torch.bool).tril(1)


@mistake(
    ref.causal_mask,
    says="Everything is allowed.",
    hint="The future must be hidden.",
)
def causal_all_allowed(n):
    return torch.ones(n, n, dtype=torch.bool)


@mistake(
    ref.causal_mask,
    says="A token may look at itself and one step back only.",
    hint="All of the past is allowed.",
    id="M38",
)
def causal_window(n):
    return torch.ones(n, n, dtype=torch.bool).tril().triu(-1)


@mistake(
    ref.causal_mask,
    says="Your mask holds numbers 0 and 1 instead of booleans.",
    hint="The dtype of a mask is torch.bool.",
    id="M22",
)
def causal_of_ones(n):
    return torch.ones(n, n).tril()


@mistake(
    ref.causal_mask,
    says="Your mask holds 0 and -inf, to be added to scores.",
    hint="A mask of this course is boolean, True = may look.",
)
def causal_additive(n):
    return torch.zeros(n, n).masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), -math.inf)


@mistake(
    ref.causal_mask,
    says="Your triangle starts in the wrong corner: rows and columns run in opposite directions.",
    hint="Write down the mask of three tokens by hand.",
)
def causal_flipped(n):
    return torch.ones(n, n, dtype=torch.bool).tril().flip(-1)


@mistake(
    ref.padding_mask,
    says="Your mask is True for the padding: it says what is blocked.",
    hint="True means may look: the real tokens.",
    id="M01",
)
def padding_inverted(lengths, n):
    return torch.arange(n, device=lengths.device) >= lengths[..., None, None]


@mistake(
    ref.padding_mask,
    says="One place of the padding stays visible.",
    hint="Positions count from 0: the last real token stands at length - 1.",
)
def padding_one_too_many(lengths, n):
    return torch.arange(n, device=lengths.device) <= lengths[..., None, None]


@mistake(
    ref.padding_mask,
    says="The last real token is hidden.",
    hint="Positions count from 0: the last real token stands at length - 1.",
)
def padding_one_too_few(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths[..., None, None] - 1


@mistake(
    ref.padding_mask,
    says="Your mask hides queries (rows), not keys: its shape is (…, n, 1).",
    hint="Padding must remove columns: the axis of the keys is the last one.",
    id="M15",
)
def padding_as_rows(lengths, n):
    return (torch.arange(n, device=lengths.device) < lengths[..., None, None]).transpose(-1, -2)


@mistake(
    ref.padding_mask,
    says="The axis of the queries is missing: your shape is (…, n).",
    hint="The handout asks for (…, 1, n), so that the mask broadcasts over the queries.",
    id="M18",
)
def padding_without_query_axis(lengths, n):
    return torch.arange(n, device=lengths.device) < lengths[..., None]


@mistake(
    ref.padding_mask,
    says="You put the padding first and the tokens last.",
    hint="The real tokens are the first ones of each sequence.",
)
def padding_on_the_left(lengths, n):
    return torch.arange(n, device=lengths.device) >= n - lengths[..., None, None]


@mistake(
    ref.padding_mask,
    says="All sequences get the longest one's mask.",
    hint="Each sequence has a length of its own.",
    id="M35",
)
def padding_longest(lengths, n):
    return torch.arange(n, device=lengths.device) < torch.full_like(lengths, 1)[..., None, None] * lengths.max()


@mistake(
    ref.padding_mask,
    says="All sequences get the first one's mask.",
    hint="Each sequence has a length of its own.",
)
def padding_first_example(lengths, n):
    first = lengths.flatten()[0]
    return torch.arange(n, device=lengths.device) < torch.ones_like(lengths)[..., None, None] * first


@mistake(
    ref.padding_mask,
    says="An empty sequence is treated as a full one.",
    hint="A length of 0 hides every key.",
    id="M33",
)
def padding_empty_is_full(lengths, n):
    lengths = torch.where(lengths == 0, n, lengths)
    return torch.arange(n, device=lengths.device) < lengths[..., None, None]


@mistake(
    ref.padding_mask,
    says="You block the queries that are padding as well.",
    hint="Padding is hidden as a key; the axis of the queries has size 1 in the result.",
)
def padding_rows_and_columns(lengths, n):
    real = torch.arange(n, device=lengths.device) < lengths[..., None]
    return real.unsqueeze(-1) & real.unsqueeze(-2)


@mistake(
    ref.padding_mask,
    says="Your mask holds numbers 0 and 1 instead of booleans.",
    hint="The dtype of a mask is torch.bool.",
    id="M39",
)
def padding_of_ones(lengths, n):
    return (torch.arange(n, device=lengths.device) < lengths[..., None, None]).to(torch.uint8)


@mistake(
    ref.padding_mask,
    says="Your mask is on the CPU, whatever device `lengths` is on.",
    hint="A new tensor needs the device of the input.",
    id="M25",
)
def padding_on_cpu(lengths, n):
    return torch.arange(n) < lengths[..., None, None]
