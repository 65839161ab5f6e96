"""Other right beam searches."""

import torch

from reference import seq2seq as ref
from softmark import equivalent


@equivalent(ref.beam_search)
def lists_of_hypotheses(step, state, start, end, width, limit):
    beam = [([], 0.0, state[0])]
    for _ in range(limit):
        if all(end in tokens for tokens, _, _ in beam):
            break
        last = torch.tensor([tokens[-1] if tokens else start for tokens, _, _ in beam], device=state.device)
        logits, new = step(last, torch.stack([own for _, _, own in beam]))
        log_p = logits.log_softmax(-1)
        candidates = []
        for k, (tokens, score, _) in enumerate(beam):
            if end in tokens:
                candidates.append(([*tokens, end], score, new[k]))
            else:
                candidates += [([*tokens, v], score + log_p[k, v], new[k]) for v in range(log_p.shape[1])]
        beam = sorted(candidates, key=lambda one: -one[1])[:width]
    scores = torch.stack([torch.as_tensor(score, dtype=state.dtype, device=state.device) for _, score, _ in beam])
    return torch.tensor([tokens for tokens, _, _ in beam], device=state.device), scores


@equivalent(ref.beam_search)
def only_rows_that_run(step, state, start, end, width, limit):
    tokens = torch.full((1, 1), start, device=state.device)
    scores = state.new_zeros(1)
    for _ in range(limit):
        over = (tokens[:, 1:] == end).any(1)
        if over.all():
            break
        logits, new = step(tokens[~over, -1], state[~over])
        V = logits.shape[1]
        table = scores[:, None].expand(-1, V).clone()
        table[~over] = table[~over] + torch.log_softmax(logits, 1)
        allowed = ~over[:, None] | (torch.arange(V, device=state.device) == end)
        state = state.clone()
        state[~over] = new
        where = allowed.flatten().nonzero()[:, 0]
        best = torch.argsort(table.flatten()[where], descending=True, stable=True)[:width]
        chosen = where[best]
        k, v = torch.div(chosen, V, rounding_mode="floor"), chosen.remainder(V)
        tokens, scores, state = torch.cat([tokens[k], v[:, None]], 1), table.flatten()[chosen], state[k]
    return tokens[:, 1:], scores


@equivalent(ref.beam_search)
def with_parents(step, state, start, end, width, limit):
    history, score = [], torch.zeros(1, 1, dtype=state.dtype, device=state.device)
    last, over = torch.tensor([start], device=state.device), torch.tensor([False], device=state.device)
    while len(history) < limit and not bool(over.all()):
        logits, state = step(last, state)
        gain = logits - logits.logsumexp(dim=1, keepdim=True)
        gain[over] = float("-inf")
        gain[over, end] = 0
        total = (score + gain).view(-1)
        order = sorted(range(len(total)), key=lambda i: (-float(total[i]), i))
        order = [i for i in order if total[i] > float("-inf")][:width]
        parent = torch.tensor([i // gain.shape[1] for i in order], device=state.device)
        last = torch.tensor([i % gain.shape[1] for i in order], device=state.device)
        score, state, over = total[order][:, None], state[parent], over[parent] | (last == end)
        history = [column[parent] for column in history] + [last]
    return torch.stack(history, dim=1), score[:, 0]
