"""Other right losses and perplexities."""

import torch

from reference import language_model as ref
from softmark import equivalent


@equivalent(ref.next_token_loss)
def chosen_positions(logits, targets, ignore=-100):
    z, y = logits.reshape(-1, logits.shape[-1]), targets.reshape(-1)
    kept = y != ignore
    if not kept.any():
        return (z * 0).sum()
    log_p = torch.log_softmax(z[kept], dim=1)
    return -log_p[torch.arange(len(log_p), device=z.device), y[kept]].mean()


@equivalent(ref.next_token_loss)
def one_hot_targets(logits, targets, ignore=-100):
    kept = targets.ne(ignore)
    ids = torch.arange(logits.shape[-1], device=logits.device)
    hot = (targets.unsqueeze(-1) == ids) & kept.unsqueeze(-1)
    total = -(logits.log_softmax(-1) * hot).sum()
    return total / max(int(kept.sum()), 1)


@equivalent(ref.next_token_loss)
def by_hand(logits, targets, ignore=-100):
    shifted = logits - logits.max(dim=-1, keepdim=True).values
    log_total = torch.log(torch.exp(shifted).sum(-1))
    real = (targets != ignore).to(logits.dtype)
    safe = targets.masked_fill(targets == ignore, 0).unsqueeze(-1)
    loss = log_total - torch.take_along_dim(shifted, safe, dim=-1).squeeze(-1)
    return torch.einsum("n,n->", loss.flatten(), real.flatten()) / torch.clamp_min(real.sum(), 1)


@equivalent(ref.perplexity)
def power_of_e(logits, targets, ignore=-100):
    return torch.pow(torch.e, ref.next_token_loss(logits, targets, ignore))


@equivalent(ref.perplexity)
def geometric_mean(logits, targets, ignore=-100):
    kept = targets != ignore
    log_p = torch.log_softmax(logits, -1).gather(-1, targets.where(kept, 0).unsqueeze(-1)).squeeze(-1)
    mean = log_p.masked_fill(~kept, 0).sum() / kept.sum().clamp_min(1)
    return 1 / torch.exp(mean)
