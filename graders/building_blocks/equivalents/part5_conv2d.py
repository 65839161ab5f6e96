"""Other right convolutions of pictures."""

import torch
import torch.nn.functional as F

from reference import building_blocks as ref
from softmark import equivalent


@equivalent(ref.conv2d)
def windows_and_einsum(X, K, b, stride, padding):
    k = K.shape[0]
    padded = F.pad(X, (0, 0, padding, padding, padding, padding))
    windows = padded.unfold(-3, k, stride).unfold(-3, k, stride)
    return torch.einsum("...rcqij,ijqo->...rco", windows, K) + b


@equivalent(ref.conv2d)
def columns_of_patches(X, K, b, stride, padding):
    *batch, h, w, n_in = X.shape
    k, n_out = K.shape[0], K.shape[3]
    pictures = X.reshape(-1, h, w, n_in).permute(0, 3, 1, 2)
    columns = F.unfold(pictures, k, padding=padding, stride=stride)
    weight = K.permute(3, 2, 0, 1).reshape(n_out, -1)
    Y = (weight @ columns).transpose(1, 2) + b
    return Y.reshape(*batch, (h + 2 * padding - k) // stride + 1, -1, n_out)


@equivalent(ref.conv2d)
def place_by_place(X, K, b, stride, padding):
    k = K.shape[0]
    X = F.pad(X, (0, 0, padding, padding, padding, padding))
    rows = []
    for top in range(0, X.shape[-3] - k + 1, stride):
        places = []
        for left in range(0, X.shape[-2] - k + 1, stride):
            patch = X[..., top : top + k, left : left + k, :]
            places.append((patch.unsqueeze(-1) * K).sum(dim=(-4, -3, -2)) + b)
        rows.append(torch.stack(places, dim=-2))
    return torch.stack(rows, dim=-3)


@equivalent(ref.conv2d)
def stride_at_the_end(X, K, b, stride, padding):
    *batch, h, w, n_in = X.shape
    k = K.shape[0]
    frame = torch.zeros(*batch, h + 2 * padding, w + 2 * padding, n_in, dtype=X.dtype, device=X.device)
    frame[..., padding : h + padding, padding : w + padding, :] = X
    rows, columns = h + 2 * padding - k + 1, w + 2 * padding - k + 1
    total = b
    for i in range(k):
        for j in range(k):
            total = total + torch.matmul(frame[..., i : i + rows, j : j + columns, :], K[i, j])
    return total[..., ::stride, ::stride, :]


@equivalent(ref.conv2d)
def channel_by_channel(X, K, b, stride, padding):
    k, _, n_in, n_out = K.shape
    padded = F.pad(X, (0, 0, padding, padding, padding, padding))
    outputs = []
    for o in range(n_out):
        patches = [padded[..., q].unfold(-2, k, stride).unfold(-2, k, stride) for q in range(n_in)]
        outputs.append(sum((patch * K[:, :, q, o]).sum(dim=(-2, -1)) for q, patch in enumerate(patches)) + b[o])
    return torch.stack(outputs, dim=-1)
