"""Other right windows."""

import torch

from reference import language_model as ref
from softmark import equivalent


@equivalent(ref.windows)
def slices(ids, context, starts=None):
    if len(ids) < context + 1:
        raise ValueError("too short")
    begins = list(range(0, len(ids) - context, context)) if starts is None else starts.tolist()
    if any(begin < 0 or begin + context >= len(ids) for begin in begins):
        raise ValueError("outside")
    inputs = torch.stack([ids[begin : begin + context] for begin in begins])
    targets = torch.stack([ids[begin + 1 : begin + context + 1] for begin in begins])
    return inputs, targets


@equivalent(ref.windows)
def unfolded(ids, context, starts=None):
    if ids.numel() <= context:
        raise ValueError("too short")
    longer = ids.unfold(0, context + 1, 1)
    if starts is None:
        rows = longer[::context]
    else:
        if starts.min() < 0 or starts.max() >= len(longer):
            raise ValueError("outside")
        rows = longer[starts]
    return rows[:, :-1], rows[:, 1:]


@equivalent(ref.windows)
def reshaped(ids, context, starts=None):
    count = (len(ids) - 1) // context
    if count < 1:
        raise ValueError("no window")
    if starts is None:
        return ids[: count * context].view(count, context), ids[1 : count * context + 1].view(count, context)
    last = ids.size(0) - 1 - context
    if not torch.all(starts.ge(0) & starts.le(last)):
        raise ValueError("outside")
    steps = torch.arange(context + 1, device=ids.device)
    both = torch.take(ids, starts.unsqueeze(1) + steps)
    return both[:, :context], both[:, 1:]
