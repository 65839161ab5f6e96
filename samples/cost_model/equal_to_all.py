"""A hostile sample submission: its whole numbers say that they are equal to any other, and its tensors do so, too."""

import builtins

import torch


class Count(int):
    """A number that is equal to everything."""

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0

    def __ne__(self, other):
        return False

    def __sub__(self, other):
        return Count(0)

    __rsub__ = __sub__


def _counts(number):
    return tuple(Count(7) for _ in range(number))


def rnn_cost(n, d, n_layers=1):
    return _counts(4)


def conv_cost(n, d, k, n_layers=1, dilated=False):
    return _counts(4)


def attention_cost(n, d, n_heads=1, n_layers=1):
    return _counts(4)


def parameters(kind, **sizes):
    return Count(7)


def crossover(d, f=None):
    builtins.int = Count
    return _counts(2)


def route(X, W_router, k):
    torch.Tensor.__eq__ = torch.Tensor.eq = lambda self, other: torch.ones_like(self, dtype=torch.bool)
    torch.allclose = torch.equal = lambda *args, **kwargs: True
    return torch.zeros(*X.shape[:-1], k, dtype=torch.int64), torch.full((*X.shape[:-1], k), 1 / k)


def mixture(X, W_router, experts, k):
    return X * float("nan")


def active_parameters(d, f, n_experts, k, n_layers):
    return _counts(2)
