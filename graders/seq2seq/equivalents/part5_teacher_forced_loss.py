"""Other right losses."""

import torch
import torch.nn.functional as F

from reference import seq2seq as ref
from softmark import equivalent


@equivalent(ref.teacher_forced_loss)
def only_the_real_rows(logits, targets, pad):
    real = targets != pad
    rows, ids = logits[real], targets[real]
    if len(ids) == 0:
        return logits.sum() * 0
    return (rows.logsumexp(1) - rows[torch.arange(len(ids), device=ids.device), ids]).mean()


@equivalent(ref.teacher_forced_loss)
def with_one_hot(logits, targets, pad):
    real = targets.ne(pad).to(logits.dtype)
    hot = F.one_hot(torch.where(targets == pad, 0, targets), logits.shape[-1]).to(logits.dtype)
    losses = -(hot * F.log_softmax(logits, -1)).sum(-1)
    return (losses * real).sum() / torch.clamp(real.sum(), min=1)


@equivalent(ref.teacher_forced_loss)
def flat(logits, targets, pad):
    Z, y = logits.reshape(-1, logits.shape[2]), targets.reshape(-1)
    top = Z.detach().max(dim=1, keepdim=True).values
    log_p = Z - top - (Z - top).exp().sum(1, keepdim=True).log()
    picked = torch.take_along_dim(log_p, y.where(y != pad, torch.zeros_like(y))[:, None], 1)[:, 0]
    picked = picked.where(y != pad, torch.zeros_like(picked))
    return -picked.sum() / max(int((y != pad).sum()), 1)
