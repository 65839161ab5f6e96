"""Other right ways to cut pictures and to put them together."""

import torch

from reference import vision_transformer as ref
from softmark import equivalent


@equivalent(ref.patches)
def patches_by_slices(images, p):
    _, _, H, W = images.shape
    if H % p or W % p:
        raise ValueError("no patches")
    cut = [images[:, :, i : i + p, j : j + p].flatten(1) for i in range(0, H, p) for j in range(0, W, p)]
    return torch.stack(cut, dim=1)


@equivalent(ref.patches)
def patches_by_windows(images, p):
    if images.size(2) % p or images.size(3) % p:
        raise ValueError("no patches")
    windows = images.unfold(2, p, p).unfold(3, p, p)
    return windows.permute(0, 2, 3, 1, 4, 5).flatten(3).flatten(1, 2)


@equivalent(ref.patches)
def patches_in_two_steps(images, p):
    N, C, H, W = images.shape
    if (H % p, W % p) != (0, 0):
        raise ValueError("no patches")
    bands = images.view(N, C, H // p, p, W).transpose(1, 2)
    return bands.reshape(N, H // p, C, p, W // p, p).movedim(4, 2).reshape(N, -1, C * p * p)


@equivalent(ref.patches)
def patches_by_index(images, p):
    N, _, H, W = images.shape
    if H % p or W % p:
        raise ValueError("no patches")
    pixels = torch.arange(H * W, device=images.device).view(H // p, p, W // p, p).transpose(1, 2).reshape(-1, p * p)
    return images.flatten(2)[:, :, pixels].transpose(1, 2).reshape(N, len(pixels), -1)


@equivalent(ref.patches)
def patches_by_einsum(images, p):
    N, C, H, W = images.shape
    if H % p or W % p:
        raise ValueError("no patches")
    return torch.einsum("nchiwj->nhwcij", images.view(N, C, H // p, p, W // p, p)).flatten(3).flatten(1, 2)


@equivalent(ref.unpatch)
def unpatch_by_rows_of_patches(rows, p, grid):
    N, tokens, width = rows.shape
    h, w = grid
    if tokens != h * w or width % p**2:
        raise ValueError("the patches do not fit")
    tiles = rows.reshape(N, h, w, -1, p, p)
    bands = [torch.cat([tiles[:, i, j] for j in range(w)], dim=-1) for i in range(h)]
    return torch.cat(bands, dim=-2)


@equivalent(ref.unpatch)
def unpatch_into_zeros(rows, p, grid):
    N, tokens, width = rows.shape
    if tokens != grid[0] * grid[1] or width % (p * p) != 0:
        raise ValueError("the patches do not fit")
    picture = rows.new_zeros(N, width // (p * p), grid[0] * p, grid[1] * p)
    for k in range(tokens):
        i, j = p * (k // grid[1]), p * (k % grid[1])
        picture[:, :, i : i + p, j : j + p] = rows[:, k].reshape(N, -1, p, p)
    return picture


@equivalent(ref.unpatch)
def unpatch_with_transposes(rows, p, grid):
    h, w = grid
    if rows.shape[1] != h * w or rows.shape[2] % (p * p):
        raise ValueError("the patches do not fit")
    cut = rows.unflatten(2, (-1, p, p)).unflatten(1, (h, w))
    return cut.movedim(3, 1).transpose(3, 4).flatten(4, 5).flatten(2, 3)
