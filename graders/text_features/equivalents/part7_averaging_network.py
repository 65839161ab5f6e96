"""Other right ways to write part 7."""

import torch
import torch.nn.functional as F
from torch import nn

from reference import text_features as ref
from softmark import equivalent


@equivalent(ref.AveragingNetwork)
class PaddingIndex(nn.Module):
    """The library's padding_idx keeps gradients from the row of PAD."""

    def __init__(self, size, d, h, n_out, frozen=False):
        super().__init__()
        self.embedding = nn.Embedding(size + 4, d, padding_idx=0)
        self.embedding.weight.requires_grad = not frozen
        self.hidden, self.output = nn.Linear(d, h), nn.Linear(h, n_out)

    def forward(self, ids):
        E = self.embedding(ids).masked_fill((ids == 0)[..., None], 0.0)
        z0 = E.sum(-2) / torch.count_nonzero(ids, dim=-1).clamp(min=1)[..., None]
        return self.output(F.relu(self.hidden(z0)))


@equivalent(ref.AveragingNetwork)
class BagTimesTable(nn.Module):
    """The mean is a product: shares of the ids, times the table."""

    def __init__(self, size, d, h, n_out, frozen=False):
        super().__init__()
        self.frozen = frozen
        self.embedding = nn.Embedding(size + 4, d)
        self.hidden = nn.Linear(d, h)
        self.output = nn.Linear(h, n_out)

    def forward(self, ids):
        table = self.embedding.weight.detach() if self.frozen else self.embedding.weight
        counts = F.one_hot(ids, len(table)).to(table.dtype).sum(-2)[..., 1:]
        shares = counts / counts.sum(-1, keepdim=True).clamp(min=1)
        return self.output(self.hidden(shares @ table[1:]).clamp(min=0))


@equivalent(ref.AveragingNetwork)
class WeightsOfPlaces(nn.Module):
    """Every place has a weight: 1/n for a word, 0 for PAD."""

    def __init__(self, size, d, h, n_out, frozen=False):
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(torch.randn(size + 4, d), freeze=frozen)
        self.hidden = nn.Linear(d, h)
        self.output = nn.Linear(h, n_out)

    def forward(self, ids):
        E = self.embedding(ids)
        real = ids.ne(0).to(E.dtype)
        p = torch.nan_to_num(real / real.sum(-1, keepdim=True))
        z0 = (p.unsqueeze(-2) @ E).squeeze(-2)
        return self.output(torch.relu(self.hidden(z0)))
