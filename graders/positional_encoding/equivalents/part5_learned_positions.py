"""Other right modules of learned positions."""

import torch
import torch.nn as nn

from reference import positional_encoding as ref
from softmark import equivalent


@equivalent(ref.LearnedPositions)
class ZerosAndLookup(nn.Module):
    def __init__(self, max_len, d):
        super().__init__()
        self.max_len = max_len
        self.table = nn.Parameter(torch.zeros(max_len, d))

    def forward(self, X):
        if X.size(-2) > self.max_len:
            raise ValueError(f"at most {self.max_len} tokens")
        t = torch.arange(X.size(-2), device=X.device)
        return X + nn.functional.embedding(t, self.table).to(X.dtype)


@equivalent(ref.LearnedPositions)
class XavierAndNarrow(nn.Module):
    def __init__(self, max_len, d):
        super().__init__()
        self.table = nn.Parameter(torch.empty(max_len, d))
        nn.init.xavier_uniform_(self.table)

    def forward(self, X):
        length = X.shape[-2]
        if not length <= len(self.table):
            raise ValueError("sequence too long")
        return torch.add(X, torch.narrow(self.table, 0, 0, length).type_as(X))


@equivalent(ref.LearnedPositions.forward)
def one_hot_lookup(self, X):
    n, rows = X.shape[-2], self.table.shape[0]
    if n > rows:
        raise ValueError("sequence too long")
    choose = torch.eye(n, rows, dtype=self.table.dtype)
    return X + (choose @ self.table).to(X.dtype)
