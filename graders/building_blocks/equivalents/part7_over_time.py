"""Other right convolutions over time, and receptive fields."""

import torch
import torch.nn.functional as F

from reference import building_blocks as ref
from softmark import equivalent


@equivalent(ref.causal_conv1d)
def windows_of_tokens(X, K, b, dilation):
    k = K.shape[0]
    padded = F.pad(X, (0, 0, (k - 1) * dilation, 0))
    windows = padded.unfold(-2, (k - 1) * dilation + 1, 1)[..., ::dilation]
    return torch.einsum("...tqj,jqo->...to", windows, K) + b


@equivalent(ref.causal_conv1d)
def token_by_token(X, K, b, dilation):
    k, T = K.shape[0], X.shape[-2]
    outputs = []
    for t in range(T):
        y = b.expand(*X.shape[:-2], -1)
        for back in range(k):
            if t - back * dilation >= 0:
                y = y + X[..., t - back * dilation, :] @ K[k - 1 - back]
        outputs.append(y)
    return torch.stack(outputs, dim=-2)


@equivalent(ref.causal_conv1d)
def shifted_products(X, K, b, dilation):
    T, Y = X.shape[-2], X @ K[-1] + b
    for back in range(1, len(K)):
        late = X[..., : max(T - back * dilation, 0), :] @ K[len(K) - 1 - back]
        Y = Y + F.pad(late, (0, 0, T - late.shape[-2], 0))
    return Y


@equivalent(ref.causal_conv1d)
def one_large_product(X, K, b, dilation):
    k, n_in, n_out = K.shape
    padded = torch.cat([torch.zeros_like(X[..., :1, :]).expand(*X.shape[:-2], (k - 1) * dilation, n_in), X], dim=-2)
    places = torch.arange(X.shape[-2], device=X.device)[:, None] + dilation * torch.arange(k, device=X.device)
    return padded[..., places, :].flatten(-2) @ K.reshape(k * n_in, n_out) + b


@equivalent(ref.causal_conv1d)
def kernel_with_holes(X, K, b, dilation):
    k, n_in, n_out = K.shape
    reach = (k - 1) * dilation + 1
    with_holes = torch.zeros(reach, n_in, n_out, dtype=K.dtype, device=K.device)
    with_holes[::dilation] = K
    T = X.shape[-2]
    padded = F.pad(X, (0, 0, reach - 1, 0))
    return sum(padded[..., j : j + T, :] @ with_holes[j] for j in range(reach)) + b


@equivalent(ref.receptive_field)
def first_token_that_is_seen(kernels, dilations):
    if len(kernels) != len(dilations):
        raise ValueError("one dilation for each kernel")
    first = 0
    for index in range(len(kernels)):
        first -= (kernels[index] - 1) * dilations[index]
    return 1 - first


@equivalent(ref.receptive_field)
def sum_of_products(kernels, dilations):
    return 1 + sum((k - 1) * d for k, d in zip(kernels, dilations, strict=True))
