"""Other right ways to choose and to write."""

import torch

from reference import language_model as ref
from softmark import equivalent


@equivalent(ref.choose)
def searched(probabilities, uniforms):
    rows, u = probabilities.reshape(-1, probabilities.shape[-1]), uniforms.reshape(-1, 1).to(probabilities.dtype)
    found = torch.searchsorted(rows.cumsum(-1), u, right=True)[:, 0]
    ids = torch.arange(rows.shape[1], device=rows.device)
    last = torch.where(rows > 0, ids, 0).amax(1)
    return found.minimum(last).reshape(uniforms.shape)


@equivalent(ref.choose)
def piece_by_piece(probabilities, uniforms):
    chosen = []
    for p, u in zip(
        probabilities.reshape(-1, probabilities.shape[-1]).tolist(), uniforms.flatten().tolist(), strict=True
    ):
        end, token = 0.0, None
        for v, width in enumerate(p):
            if width > 0 and (token is None or u >= end):
                token = v
            end += width
        chosen.append(token)
    return torch.tensor(chosen, device=uniforms.device).reshape(uniforms.shape)


@equivalent(ref.choose)
def first_end_behind(probabilities, uniforms):
    behind = (probabilities.cumsum(-1) > uniforms.unsqueeze(-1)) & (probabilities > 0)
    reversed_ids = torch.arange(probabilities.shape[-1], 0, -1, device=probabilities.device)
    last = ((probabilities > 0) * reversed_ids.flip(-1)).argmax(-1)
    return torch.where(behind.any(-1), (behind * reversed_ids).argmax(-1), last)


@equivalent(ref.generate)
def into_a_table(model, ids, uniforms, context, temperature=1.0, k=None, p=None, end=None):
    N, T = ids.shape
    n = uniforms.shape[1]
    text = torch.cat([ids, ids.new_zeros(N, n)], dim=1)
    mode, over = model.training, [False] * N
    model.train(False)
    try:
        for t in range(T, T + n):
            with torch.inference_mode():
                z = ref.with_temperature(model(text[:, max(0, t - context) : t])[:, -1, :], temperature)
                z = z if k is None else ref.top_k(z, k)
                z = z if p is None else ref.top_p(z, p)
                new = ref.choose(z.softmax(-1), uniforms[:, t - T]).tolist()
            for i in range(N):
                text[i, t] = end if over[i] else new[i]
                over[i] = over[i] or (end is not None and new[i] == end)
    finally:
        model.train(mode)
    return text


@equivalent(ref.generate)
def each_row_alone(model, ids, uniforms, context, temperature=1.0, k=None, p=None, end=None):
    modes = {module: module.training for module in model.modules()}
    model.eval()
    rows = []
    for row, us in zip(ids, uniforms, strict=True):
        ended = False
        for u in us:
            logits = ref.with_temperature(model(row[-context:].unsqueeze(0)).detach()[0, -1], temperature)
            if k is not None:
                logits = ref.top_k(logits, k)
            if p is not None:
                logits = ref.top_p(logits, p)
            token = torch.as_tensor(end).to(row) if ended else ref.choose(torch.softmax(logits, 0), u)
            ended = ended or (end is not None and bool(token == end))
            row = torch.cat([row, token.reshape(1)])
        rows.append(row)
    for module, mode in modes.items():
        module.training = mode
    return torch.stack(rows)
