"""Other right losses with the full softmax."""

import torch
import torch.nn.functional as F

from reference import word_vectors as ref
from softmark import equivalent


def of_each(log_p, targets):
    return log_p[torch.arange(len(targets), device=targets.device), targets]


@equivalent(ref.cbow_loss)
def masked_fill_and_index(E, U, contexts, mask, targets):
    vectors = E[contexts].masked_fill(~mask.unsqueeze(-1), 0)
    h = vectors.sum(1) / mask.sum(1).clamp(min=1).unsqueeze(-1)
    return -of_each(torch.log_softmax(h @ U.T, dim=1), targets).mean()


@equivalent(ref.cbow_loss)
def weights_of_the_words(E, U, contexts, mask, targets):
    weights = mask / mask.sum(dim=1, keepdim=True).clamp(min=1)
    h = torch.einsum("nc,ncd->nd", weights.to(E.dtype), F.embedding(contexts, E))
    logits = torch.einsum("nd,vd->nv", h, U)
    return (torch.logsumexp(logits, dim=-1) - of_each(logits, targets)).mean()


@equivalent(ref.cbow_loss)
def context_after_context(E, U, contexts, mask, targets):
    losses = []
    for ids, counted, target in zip(contexts, mask, targets, strict=True):
        real = ids[counted]
        h = E[real].mean(dim=0) if len(real) else torch.zeros_like(E[0])
        products = U @ h
        losses.append(products.logsumexp(0) - products[target])
    return torch.stack(losses).mean()


@equivalent(ref.cbow_loss)
def counts_of_words(E, U, contexts, mask, targets):
    counts = (F.one_hot(contexts, len(E)) * mask[..., None]).sum(dim=1)
    total = counts.sum(dim=1, keepdim=True)
    h = (counts.to(E.dtype) @ E) / torch.where(total > 0, total, torch.ones_like(total))
    Y = F.one_hot(targets, len(U)).to(E.dtype)
    return -(Y * F.log_softmax(h @ U.T, dim=-1)).sum() / len(targets)


@equivalent(ref.cbow_loss)
def small_number_below(E, U, contexts, mask, targets):
    chosen = mask[:, :, None].to(E.dtype)
    h = torch.sum(F.embedding(contexts, E) * chosen, 1) / (chosen.sum(1) + 1e-12)
    return -torch.take_along_dim(torch.log_softmax(h @ U.mT, -1), targets[:, None], dim=1).mean()


@equivalent(ref.skip_gram_loss)
def log_softmax_and_gather(E, U, centres, targets):
    log_p = F.log_softmax(F.embedding(centres, E) @ U.T, dim=1)
    return -log_p.gather(1, targets.view(-1, 1)).squeeze(1).mean()


@equivalent(ref.skip_gram_loss)
def context_of_one_word(E, U, centres, targets):
    return ref.cbow_loss(E, U, centres[:, None], torch.ones_like(centres[:, None], dtype=torch.bool), targets)


@equivalent(ref.skip_gram_loss)
def table_of_all_words(E, U, centres, targets):
    log_p = torch.log_softmax(E @ U.T, dim=-1)
    return -log_p[centres, targets].mean()


@equivalent(ref.skip_gram_loss)
def one_hot_rows(E, U, centres, targets):
    x = F.one_hot(centres, E.shape[0]).to(E.dtype)
    logits = x @ E @ U.T
    top = logits.amax(dim=1, keepdim=True)
    log_total = torch.log(torch.exp(logits - top).sum(dim=1)) + top.squeeze(1)
    return (log_total - of_each(logits, targets)).sum() / len(centres)


@equivalent(ref.skip_gram_loss)
def pair_after_pair(E, U, centres, targets):
    losses = []
    for centre, target in zip(centres.tolist(), targets.tolist(), strict=True):
        products = (U * E[centre]).sum(dim=1)
        losses.append(torch.logsumexp(products - products[target], dim=0))
    return sum(losses) / len(losses)
