"""Other right ways to clip, and to multiply derivatives."""

import torch

from reference import recurrent as ref
from softmark import equivalent


@equivalent(ref.clip)
def clip_one_long_vector(gradients, c):
    present = [g.reshape(-1) for g in gradients if g is not None]
    if len(present) == 0:
        return gradients
    norm = torch.linalg.vector_norm(torch.cat(present))
    factor = torch.clamp(c / norm, max=1.0) if norm > 0 else 1.0
    return [g * factor if g is not None else None for g in gradients]


@equivalent(ref.clip)
def clip_norm_of_norms(gradients, c):
    norms = [g.norm() for g in gradients if g is not None]
    total = torch.stack(norms).norm() if norms else torch.tensor(0.0)
    clipped = []
    for g in gradients:
        if g is not None and total > c:
            g = g / (total / c)
        clipped.append(g)
    return clipped


@equivalent(ref.clip)
def clip_with_plain_numbers(gradients, c):
    squares = sum(float(g.pow(2).sum()) for g in gradients if g is not None)
    if squares <= c * c:
        return [None if g is None else g.clone() for g in gradients]
    return [None if g is None else g.mul(c / squares**0.5) for g in gradients]


@equivalent(ref.state_jacobian)
def jacobian_sequence_by_sequence(hs, W_h):
    matrices = []
    for n in range(hs.shape[1]):
        factors = [torch.diag(1 - h * h) @ W_h for h in hs[:, n]]
        J = factors[0]
        for factor in factors[1:]:
            J = factor @ J
        matrices.append(J)
    return torch.stack(matrices)


@equivalent(ref.state_jacobian)
def jacobian_from_the_end(hs, W_h):
    _, N, H = hs.shape
    J = torch.eye(H, dtype=hs.dtype, device=hs.device).repeat(N, 1, 1)
    for h in hs.flip(0):
        J = (J * (1 - h.square()).unsqueeze(1)) @ W_h
    return J


@equivalent(ref.state_jacobian)
def jacobian_with_einsum(hs, W_h):
    steps = torch.einsum("tnh,hk->tnhk", 1 - hs**2, W_h)
    J = steps[0]
    for t in range(1, len(hs)):
        J = torch.einsum("nij,njk->nik", steps[t], J)
    return J
