"""Other right losses."""

import torch
import torch.nn.functional as F

from reference import building_blocks as ref
from softmark import equivalent


def require(fits):
    if not fits:
        raise ValueError("the shapes do not fit")


@equivalent(ref.squared_loss)
def squares_of_each_example(y_pred, y):
    require(y_pred.size() == y.size())
    return torch.square(y - y_pred).reshape(y.size(0), -1).sum(dim=1).mean()


@equivalent(ref.squared_loss)
def example_by_example(y_pred, y):
    require(tuple(y_pred.shape) == tuple(y.shape))
    losses = [((one - other) * (one - other)).sum() for one, other in zip(y_pred, y, strict=True)]
    return torch.stack(losses).mean()


@equivalent(ref.squared_loss)
def dot_product(y_pred, y):
    require(list(y_pred.shape) == list(y.shape))
    error = (y_pred - y).flatten()
    return error.dot(error) / y_pred.shape[0]


@equivalent(ref.squared_loss)
def squared_norm(y_pred, y):
    require(y_pred.shape == y.shape)
    return torch.pow(y_pred - y, 2).mean() * (y.numel() // len(y))


@equivalent(ref.logistic_loss)
def softplus_of_the_margin(z, y):
    require(z.shape == y.shape)
    return F.softplus((1 - 2 * y) * z).mean()


@equivalent(ref.logistic_loss)
def log_sigmoids(z, y):
    require(z.shape == y.shape)
    y = y.to(z.dtype)
    return -(y * F.logsigmoid(z) + (1 - y) * F.logsigmoid(-z)).sum() / z.numel()


@equivalent(ref.logistic_loss)
def two_classes(z, y):
    require(z.shape == y.shape)
    return ref.softmax_loss(torch.stack([torch.zeros_like(z), z], dim=-1), y)


@equivalent(ref.logistic_loss)
def where_the_sign_decides(z, y):
    require(z.shape == y.shape)
    small = -torch.where(z >= 0, z, -z)
    log_total = torch.where(z >= 0, z, torch.zeros_like(z)) + torch.log1p(torch.exp(small))
    return torch.mean(log_total - torch.where(y == 1, z, torch.zeros_like(z)))


@equivalent(ref.logistic_loss)
def example_by_example_and_class(z, y):
    require(z.shape == y.shape)
    zero = torch.zeros_like(z[0])
    losses = [torch.logaddexp(zero, -logit if of_class else logit) for logit, of_class in zip(z, y, strict=True)]
    return sum(losses) / len(losses)


@equivalent(ref.softmax_loss)
def log_softmax_and_index(logits, y):
    require(y.shape == (len(logits),))
    return -torch.log_softmax(logits, dim=-1)[torch.arange(len(y)), y].mean()


@equivalent(ref.softmax_loss)
def log_sum_exp_and_one_hot(logits, y):
    require(y.dim() == 1 and len(y) == len(logits))
    Y = F.one_hot(y, logits.shape[1]).to(logits.dtype)
    return (torch.logsumexp(logits, dim=1) - (Y * logits).sum(dim=1)).mean()


@equivalent(ref.softmax_loss)
def row_after_row(logits, y):
    require(y.dim() == 1 and y.shape[0] == logits.shape[0])
    losses = []
    for row, of_class in zip(logits, y, strict=True):
        shifted = row - row.max()
        losses.append(shifted.exp().sum().log() - shifted[of_class])
    return sum(losses) / len(losses)


@equivalent(ref.softmax_loss)
def sum_over_differences(logits, y):
    require(y.shape == logits.shape[:1])
    differences = logits - torch.take_along_dim(logits, y[:, None], dim=1)
    top = differences.detach().max(dim=1, keepdim=True).values
    return ((differences - top).exp().sum(dim=1).log() + top.squeeze(1)).mean()
