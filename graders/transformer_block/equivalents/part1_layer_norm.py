"""Other right solutions, in other styles: each must earn all the marks, or a hidden test asks for more than it says.

This file: layer norm.
"""

import torch
import torch.nn.functional as F

from reference import transformer_block as ref
from softmark import equivalent


@equivalent(ref.layer_norm)
def norm_with_var(X, gain, bias, eps):
    mean = X.mean(-1, keepdim=True)
    var = X.var(-1, unbiased=False, keepdim=True)
    return (X - mean) / (var + eps).sqrt() * gain + bias


@equivalent(ref.layer_norm)
def norm_with_var_mean(X, gain, bias, eps):
    var, mean = torch.var_mean(X, dim=-1, correction=0, keepdim=True)
    return torch.addcmul(bias, (X - mean) * torch.rsqrt(var + eps), gain)


@equivalent(ref.layer_norm)
def norm_with_std_squared(X, gain, bias, eps):
    sigma = torch.std(X, dim=-1, correction=0, keepdim=True)
    return gain * ((X - X.mean(dim=-1, keepdim=True)) / torch.sqrt(sigma**2 + eps)) + bias


@equivalent(ref.layer_norm)
def norm_with_sums(X, gain, bias, eps):
    d = X.shape[-1]
    centred = X - (X.sum(dim=-1) / d).unsqueeze(-1)
    sigma2 = torch.einsum("...d,...d->...", centred, centred) / d
    return bias + gain * centred * ((sigma2 + eps) ** -0.5)[..., None]


@equivalent(ref.layer_norm)
def norm_with_centring_matrix(X, gain, bias, eps):
    d = X.shape[-1]
    C = torch.eye(d, dtype=X.dtype, device=X.device) - 1 / d
    Z = X @ C
    return gain * Z / torch.sqrt(Z.pow(2).mean(-1, True) + eps) + bias


@equivalent(ref.layer_norm)
def norm_with_length(X, gain, bias, eps):
    Z = X - X.mean(dim=-1, keepdim=True)
    d = X.shape[-1]
    longer = torch.cat([Z, torch.full_like(Z[..., :1], (d * eps) ** 0.5)], dim=-1)
    return gain * d**0.5 * F.normalize(longer, dim=-1)[..., :-1] + bias


@equivalent(ref.layer_norm)
def norm_token_by_token(X, gain, bias, eps):
    rows = []
    for x in X.reshape(-1, X.shape[-1]):
        z = x - x.mean()
        rows.append(gain * z / torch.sqrt((z * z).mean() + eps) + bias)
    return torch.stack(rows).reshape(X.shape)


@equivalent(ref.layer_norm)
def norm_in_float64_and_back(X, gain, bias, eps):
    wide = X.double()
    wide = wide - wide.mean(dim=-1, keepdim=True)
    wide = wide / torch.sqrt(wide.square().mean(dim=-1, keepdim=True) + eps)
    return gain * wide.to(X.dtype) + bias


@equivalent(ref.layer_norm)
def norm_of_features_first(X, gain, bias, eps):
    features = X.movedim(-1, 0)
    Z = features - features.mean(0)
    Z = Z / torch.sqrt((Z**2).mean(0) + eps)
    return Z.movedim(0, -1) * gain + bias
