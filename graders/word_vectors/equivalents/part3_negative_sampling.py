"""Other right losses of negative sampling."""

import torch
import torch.nn.functional as F

from reference import word_vectors as ref
from softmark import equivalent


@equivalent(ref.negative_sampling_loss)
def softplus_of_signed_products(E, U, centres, positives, negatives):
    others = torch.cat([positives[:, None], negatives], dim=1)
    products = torch.einsum("nd,nkd->nk", E[centres], U[others])
    signs = torch.ones_like(products)
    signs[:, 0] = -1
    return F.softplus(signs * products).sum(dim=1).mean()


@equivalent(ref.negative_sampling_loss)
def cross_entropy_of_yes_and_no(E, U, centres, positives, negatives):
    v = E[centres].unsqueeze(1)
    products = torch.cat([(U[positives].unsqueeze(1) * v).sum(-1), (U[negatives] * v).sum(-1)], dim=1)
    real = torch.zeros_like(products)
    real[:, 0] = 1
    losses = F.binary_cross_entropy_with_logits(products, real, reduction="none")
    return losses.sum() / len(centres)


@equivalent(ref.negative_sampling_loss)
def example_after_example(E, U, centres, positives, negatives):
    total = 0
    for n in range(len(centres)):
        v = E[centres[n]]
        total = total - F.logsigmoid(U[positives[n]] @ v)
        for k in range(negatives.shape[1]):
            total = total - F.logsigmoid(-(U[negatives[n, k]] @ v))
    return total / len(centres)


@equivalent(ref.negative_sampling_loss)
def table_of_all_products(E, U, centres, positives, negatives):
    products = E[centres] @ U.T
    near = products.gather(1, positives[:, None])
    far = products.gather(1, negatives)
    zero = torch.zeros_like(near)
    return (torch.logaddexp(zero, -near).sum(1) + torch.logaddexp(torch.zeros_like(far), far).sum(1)).mean()


@equivalent(ref.negative_sampling_loss)
def batched_products(E, U, centres, positives, negatives):
    v = F.embedding(centres, E).unsqueeze(2)
    near = torch.bmm(F.embedding(positives, U).unsqueeze(1), v).flatten()
    far = torch.bmm(F.embedding(negatives, U), v).squeeze(2)
    return -F.logsigmoid(near).mean() - F.logsigmoid(-far).sum() / far.shape[0]
