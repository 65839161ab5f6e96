"""A thousand random honest variants of masked attention: none loses a mark."""

import math
import random

import torch

from softmark.verdict import TestContext, activate, agree
from tests.support import lecture

VARIANTS = 1000


def product(rng):
    return rng.choice([
        lambda A, B: A @ B,
        lambda A, B: torch.einsum("...ij,...jk->...ik", A, B),
        lambda A, B: (B.mT @ A.mT).mT,
        lambda A, B: (A.unsqueeze(-1) * B.unsqueeze(-3)).sum(-2),
        lambda A, B: torch.stack([A[..., i, :].unsqueeze(-2) @ B for i in range(A.shape[-2])], -3).squeeze(-2),
    ])  # fmt: skip


def scaled(rng, multiply):
    """Scores: where the root goes, and how precise it is."""
    root = rng.choice([
        math.sqrt,
        lambda d: d**0.5,
        lambda d: torch.sqrt(torch.tensor(float(d))),
        lambda d: torch.tensor(d).float().sqrt(),
        lambda d: torch.tensor(d, dtype=torch.float64).sqrt(),
    ])  # fmt: skip
    return rng.choice([
        lambda Q, K: multiply(Q, K.mT) / root(K.shape[-1]),
        lambda Q, K: multiply(Q / root(K.shape[-1]), K.mT),
        lambda Q, K: multiply(Q, K.mT / root(K.shape[-1])),
        lambda Q, K: multiply(Q / root(K.shape[-1]) ** 0.5, K.mT / root(K.shape[-1]) ** 0.5),
        lambda Q, K: multiply(Q, K.mT) * (1 / root(K.shape[-1])),
    ])  # fmt: skip


def in_place(S):
    E = S.clone()
    E -= E.amax(-1, keepdim=True)
    E.exp_()
    E /= E.sum(-1, keepdim=True)
    return E


def normalised(rng):
    return rng.choice([
        lambda S: torch.softmax(S, -1),
        lambda S: S.log_softmax(-1).exp(),
        lambda S: torch.exp(S - S.logsumexp(-1, keepdim=True)),
        lambda S: torch.exp2((S - S.amax(-1, keepdim=True)) * math.log2(math.e)) / torch.exp(
            S - S.amax(-1, keepdim=True)
        ).sum(-1, keepdim=True),
        lambda S: torch.exp(S) / torch.exp(S).sum(-1, keepdim=True),
        in_place,
        lecture.softmax_rows,
    ])  # fmt: skip


def masked(rng, normalise):
    """Every row has an allowed key, so that all of these are the same."""
    fill = rng.choice([-math.inf, -1e9, -1e20, -1e5])
    return rng.choice([
        lambda S, mask: normalise(S.masked_fill(~mask, fill)),
        lambda S, mask: normalise(torch.where(mask, S, torch.tensor(fill, dtype=S.dtype))),
        lambda S, mask: normalise(S + torch.zeros(mask.shape).masked_fill(~mask, fill)),
        lambda S, mask: normalise(S.masked_fill(mask.logical_not(), torch.finfo(S.dtype).min)),
        lambda S, mask: (lambda E: E / E.sum(-1, keepdim=True))(normalise(S) * mask),
        lambda S, mask: torch.nan_to_num(normalise(S.masked_fill(~mask, -math.inf))),
    ])  # fmt: skip


def student(rng):
    """One honest student: choices of order, library, constants, fill value and precision."""
    multiply, mix = product(rng), product(rng)
    scores, weights = scaled(rng, multiply), masked(rng, normalised(rng))
    precision = rng.choice([None, None, None, torch.float32, torch.float64])
    back = rng.random() < 0.5

    def attention(Q, K, V, mask):
        dtype = Q.dtype
        if precision is not None:
            Q, K, V = Q.to(precision), K.to(precision), V.to(precision)
        A = weights(scores(Q, K), mask).to(V.dtype)
        Y = mix(A, V)
        return (Y.to(dtype), A.to(dtype)) if back else (Y, A)

    return attention


def inputs(rng):
    generator = torch.Generator().manual_seed(rng.randrange(2**32))
    batch = rng.choice([(), (2,), (3, 2)])
    m, n, d, e = (rng.randint(1, 9) for _ in range(4))
    size = rng.choice([0.1, 1.0, 1.0, 3.0])

    def normal(*shape):
        return size * torch.randn(*batch, *shape, generator=generator, dtype=torch.float64)

    mask = torch.rand(*batch, m, n, generator=generator) > rng.random()
    mask[..., 0] = True
    dtype = rng.choice([torch.float64, torch.float64, torch.float32])
    return *(x.to(dtype) for x in (normal(m, d), normal(n, d), normal(n, e))), mask


class TestHonestVariants:
    """Dtype, order of reduction, einsum or matmul, fill value, in-place on own copies: all of it is right."""

    def test_none_loses_a_mark(self):
        """Over random seeds, shapes, batches and sizes, the worst error stays well below the tolerance, too."""
        worst = []
        for seed in range(VARIANTS):
            rng = random.Random(seed)
            with activate(TestContext(seed=seed)) as case:
                agree(student(rng), lecture.attention, *inputs(rng))
            worst.append(case.checks[0].ratio)
        assert max(worst) <= 0.1
        assert sorted(worst)[int(0.99 * VARIANTS)] <= 0.01
