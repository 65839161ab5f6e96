"""Other right read-outs."""

import torch

from reference import recurrent as ref
from softmark import equivalent


@equivalent(ref.read_out)
def read_out_sequence_by_sequence(outputs, lengths, how):
    read = {"last": lambda y: y[-1], "mean": lambda y: y.mean(0), "max": lambda y: y.max(0).values}
    if how not in read:
        raise ValueError(how)
    return torch.stack([read[how](outputs[:length, n]) for n, length in enumerate(lengths)])


@equivalent(ref.read_out)
def read_out_with_a_mask(outputs, lengths, how):
    T, N, H = outputs.shape
    mask = (torch.arange(T, device=outputs.device).unsqueeze(1) < lengths.unsqueeze(0)).unsqueeze(2)
    if how == "mean":
        return (outputs * mask).sum(0) / mask.sum(0)
    if how == "max":
        return torch.where(mask, outputs, torch.finfo(outputs.dtype).min).max(dim=0)[0]
    if how != "last":
        raise ValueError("how must be last, mean or max")
    return outputs.gather(0, (lengths - 1).view(1, N, 1).expand(1, N, H)).squeeze(0)


@equivalent(ref.read_out)
def read_out_with_weights(outputs, lengths, how):
    T = len(outputs)
    steps = torch.arange(1, T + 1, device=lengths.device)[:, None]
    if how == "last":
        weights = (steps == lengths).to(outputs.dtype)
    elif how == "mean":
        weights = (steps <= lengths).to(outputs.dtype) / lengths
    elif how == "max":
        kept = outputs.transpose(0, 1).masked_fill((steps > lengths).T[..., None], float("-inf"))
        return torch.amax(kept, dim=1)
    else:
        raise ValueError
    return torch.einsum("tn,tnh->nh", weights, outputs)
