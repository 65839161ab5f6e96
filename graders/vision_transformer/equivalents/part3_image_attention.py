"""Other right attentions over the places of a picture."""

import torch
import torch.nn.functional as F

from reference import vision_transformer as ref
from softmark import equivalent


@equivalent(ref.image_attention)
def attention_on_the_grid(query, features, W_q, W_x, v):
    from_query = F.linear(query, W_q)[:, :, None, None]
    z = torch.tanh(from_query + torch.einsum("ac,nchw->nahw", W_x, features))
    scores = torch.einsum("a,nahw->nhw", v, z)
    weights = torch.exp(scores - torch.logsumexp(scores, dim=(1, 2), keepdim=True))
    return (weights[:, None] * features).sum(dim=(2, 3)), weights


@equivalent(ref.image_attention)
def attention_by_convolution(query, features, W_q, W_x, v):
    z = F.conv2d(features, W_x[..., None, None]) + (query @ W_q.T)[..., None, None]
    scores = F.conv2d(z.tanh(), v.view(1, -1, 1, 1)).flatten(1)
    weights = scores.softmax(-1).view(features.shape[0], *features.shape[2:])
    return torch.einsum("nhw,nchw->nc", weights, features), weights


@equivalent(ref.image_attention)
def attention_picture_by_picture(query, features, W_q, W_x, v):
    contexts, maps = [], []
    for q, x in zip(query, features, strict=True):
        places = x.flatten(1)
        scores = v @ torch.tanh((W_q @ q)[:, None] + W_x @ places)
        weights = torch.softmax(scores, dim=0)
        contexts.append(places @ weights)
        maps.append(weights.view(x.shape[1:]))
    return torch.stack(contexts), torch.stack(maps)


@equivalent(ref.image_attention)
def attention_with_a_stable_softmax(query, features, W_q, W_x, v):
    X = features.permute(0, 2, 3, 1)
    scores = torch.tanh(X @ W_x.mT + (query @ W_q.mT)[:, None, None]) @ v
    e = (scores - scores.amax(dim=(1, 2), keepdim=True)).exp()
    weights = e / e.sum(dim=(1, 2), keepdim=True)
    return (weights.unsqueeze(-1) * X).sum(dim=1).sum(dim=1), weights
