"""Other right temperatures."""

import torch

from reference import language_model as ref
from softmark import equivalent


@equivalent(ref.with_temperature)
def with_where(logits, temperature):
    if temperature < 0:
        raise ValueError("negative")
    best, place = logits.max(dim=-1, keepdim=True)
    if temperature:
        return logits.sub(best).div(temperature)
    ids = torch.arange(logits.size(-1), device=logits.device)
    return torch.where(ids == place, 0.0, -torch.inf).to(logits.dtype)


@equivalent(ref.with_temperature)
def row_by_row(logits, temperature):
    if temperature < 0.0:
        raise ValueError(f"{temperature} < 0")
    rows = logits.reshape(-1, logits.shape[-1]).clone()
    for row in rows:
        largest = row.max()
        if temperature == 0:
            first = int((row == largest).nonzero()[0])
            row.fill_(float("-inf"))
            row[first] = 0
        else:
            row -= largest
            row /= temperature
    return rows.view(logits.shape)


@equivalent(ref.with_temperature)
def logarithm_of_one_hot(logits, temperature):
    if temperature < 0:
        raise ValueError("a temperature is at least 0")
    if temperature == 0:
        one_hot = torch.zeros_like(logits)
        one_hot.scatter_(-1, logits.argmax(-1).unsqueeze(-1), 1)
        return one_hot.log()
    centred = logits - torch.max(logits, -1, keepdim=True)[0]
    return centred * (1 / temperature)
