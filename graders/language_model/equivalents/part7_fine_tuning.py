"""Other right ways to freeze a model and to read features."""

import torch

from reference import language_model as ref
from softmark import equivalent


@equivalent(ref.freeze)
def by_words(model, trainable):
    wanted = [name.split(".") for name in trainable]
    unused, learning = set(trainable), []
    own = [(name, parameter, name.split(".")) for name, parameter in model.named_parameters()]
    for name, _, words in own:
        fitting = [words[: len(w)] == w for w in wanted]
        unused -= {".".join(w) for w, fits in zip(wanted, fitting, strict=True) if fits}
        if any(fitting):
            learning.append(name)
    if unused:
        raise ValueError(f"unknown: {unused}")
    for name, parameter, _ in own:
        parameter.requires_grad = name in learning
    return learning


@equivalent(ref.freeze)
def by_modules(model, trainable):
    modules, parameters = dict(model.named_modules()), dict(model.named_parameters())
    chosen = []
    for name in trainable:
        if name in parameters:
            chosen.append(parameters[name])
        elif name in modules and name:
            chosen.extend(modules[name].parameters())
        else:
            raise ValueError(name)
    model.requires_grad_(False)
    for parameter in chosen:
        parameter.requires_grad_(True)
    return [name for name, parameter in parameters.items() if parameter.requires_grad]


@equivalent(ref.features)
def gathered(model, ids, lengths):
    H = model.hidden(ids)
    place = (lengths - 1).view(-1, 1, 1).expand(-1, 1, H.shape[-1])
    return H.gather(1, place).squeeze(1)


@equivalent(ref.features)
def without_the_padding(model, ids, lengths):
    rows = [model.hidden(row[:length])[-1] for row, length in zip(ids, lengths.tolist(), strict=True)]
    return torch.stack(rows)


@equivalent(ref.features)
def one_hot_places(model, ids, lengths):
    H = model.hidden(ids)
    last = torch.arange(ids.shape[1], device=ids.device) == (lengths - 1).unsqueeze(1)
    return torch.einsum("ntd,nt->nd", H, last.to(H.dtype))
