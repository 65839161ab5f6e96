"""Other right greedy searches."""

import torch

from reference import seq2seq as ref
from softmark import equivalent


@equivalent(ref.greedy)
def with_lists(step, state, start, end, limit):
    rows = [[] for _ in range(len(state))]
    last = [start] * len(rows)
    for _ in range(limit):
        logits, state = step(torch.tensor(last, device=state.device), state)
        for n, row in enumerate(rows):
            over = bool(row) and row[-1] == end
            last[n] = end if over else int(logits[n].argmax())
            row.append(last[n])
        if all(row[-1] == end for row in rows):
            break
    return torch.tensor(rows, device=state.device)


@equivalent(ref.greedy)
def into_a_table(step, state, start, end, limit):
    N = state.size(0)
    answer = torch.full((N, limit), end, dtype=torch.long, device=state.device)
    last = torch.tensor([start] * N, device=state.device)
    running = torch.ones(N, dtype=torch.bool, device=state.device)
    for t in range(limit):
        logits, state = step(last, state)
        best = torch.log_softmax(logits, -1).max(-1).indices
        last = torch.where(running, best, torch.full_like(best, end))
        answer[:, t] = last
        running = running & last.ne(end)
        if not running.any():
            return answer[:, : t + 1]
    return answer


@equivalent(ref.greedy)
def running_rows_only(step, state, start, end, limit):
    running = torch.arange(len(state), device=state.device)
    columns = [torch.full_like(running, start)]
    while len(columns) <= limit and len(running):
        logits, state = step(columns[-1][running], state)
        column = torch.full_like(columns[-1], end)
        column[running] = _first_best(logits)
        columns.append(column)
        on = column[running] != end
        running, state = running[on], state[on]
    return torch.stack(columns[1:], 1)


def _first_best(logits):
    return (logits == logits.amax(1, keepdim=True)).long().argmax(1)
