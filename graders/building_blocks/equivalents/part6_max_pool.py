"""Other right ways of max pooling."""

import torch
import torch.nn.functional as F

from reference import building_blocks as ref
from softmark import equivalent


@equivalent(ref.max_pool)
def windows(X, size):
    return X.unfold(-3, size, size).unfold(-3, size, size).amax(dim=(-2, -1))


@equivalent(ref.max_pool)
def maximum_of_shifted_pictures(X, size):
    h, w = X.shape[-3] // size * size, X.shape[-2] // size * size
    largest = X[..., 0:h:size, 0:w:size, :]
    for i in range(size):
        for j in range(size):
            largest = torch.maximum(largest, X[..., i:h:size, j:w:size, :])
    return largest.clone()


@equivalent(ref.max_pool)
def patch_by_patch(X, size):
    rows = []
    for r in range(X.shape[-3] // size):
        places = []
        for c in range(X.shape[-2] // size):
            patch = X[..., r * size : (r + 1) * size, c * size : (c + 1) * size, :]
            places.append(patch.flatten(-3, -2).max(dim=-2).values)
        rows.append(torch.stack(places, dim=-2))
    return torch.stack(rows, dim=-3)


@equivalent(ref.max_pool)
def rows_first(X, size):
    *batch, h, w, n = X.shape
    X = X[..., : h - h % size, :, :].reshape(*batch, h // size, size, w, n).max(dim=-3)[0]
    X = X[..., : w - w % size, :].reshape(*batch, h // size, w // size, size, n)
    return X.max(dim=-2)[0]


@equivalent(ref.max_pool)
def unfolded_patches(X, size):
    *batch, h, w, n = X.shape
    columns = F.unfold(X.reshape(-1, h, w, n).permute(0, 3, 1, 2), size, stride=size)
    largest = columns.reshape(columns.shape[0], n, size * size, -1).amax(dim=2)
    return largest.transpose(1, 2).reshape(*batch, h // size, w // size, n)
