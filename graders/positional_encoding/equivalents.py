"""Right positional encodings written in other ways: every one of them must earn all 20 points."""

import torch
import torch.nn as nn

from reference import positional_encoding as ref
from softmark.verdict import equivalent

# Part 1: angles


@equivalent(ref.angles)
def exp_of_log(n, d):
    import math

    step = -math.log(10000.0) / d
    omega = torch.exp(torch.arange(0, d, 2, dtype=torch.float64) * step)
    return torch.arange(n, dtype=torch.float64).unsqueeze(1) * omega


@equivalent(ref.angles)
def outer_product(n, d):
    t = torch.arange(n).double()
    omega = torch.pow(torch.tensor(10000.0, dtype=torch.float64), -torch.arange(0, d, 2).double() / d)
    return torch.outer(t, omega)


@equivalent(ref.angles)
def einsum_of_powers(n, d):
    i = torch.arange((d + 1) // 2, dtype=torch.float64)
    return torch.einsum("t,i->ti", torch.arange(n, dtype=torch.float64), 1e4 ** (-2.0 * i / d))


@equivalent(ref.angles)
def nested_loops(n, d):
    A = torch.zeros(n, (d + 1) // 2, dtype=torch.float64)
    for t in range(n):
        for i in range((d + 1) // 2):
            A[t, i] = t / 10000 ** (2 * i / d)
    return A


@equivalent(ref.angles)
def list_of_lists(n, d):
    rows = [[t / 10000 ** (j / d) for j in range(0, d, 2)] for t in range(n)]
    return torch.tensor(rows, dtype=torch.float64)


@equivalent(ref.angles)
def every_second_of_full_width(n, d):
    j = torch.arange(d, dtype=torch.float64)
    full = torch.arange(n, dtype=torch.float64)[:, None] / 10000 ** (2 * (j // 2) / d)
    return full[:, ::2]


@equivalent(ref.angles)
def logspace(n, d):
    pairs = (d + 1) // 2
    wavelength = torch.logspace(0, 8 * (pairs - 1) / d, pairs, base=10.0, dtype=torch.float64)
    return torch.arange(n, dtype=torch.float64).view(-1, 1) / wavelength


@equivalent(ref.angles)
def with_numpy(n, d):
    import numpy as np

    t, i = np.meshgrid(np.arange(n), np.arange((d + 1) // 2), indexing="ij")
    return torch.from_numpy(t / np.power(10000.0, 2 * i / d))


@equivalent(ref.angles)
def float32_as_in_many_tutorials(n, d):
    import math

    position = torch.arange(n).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d, 2) * (-math.log(10000.0) / d))
    return position * div_term


@equivalent(ref.angles)
def float32_powers_of_integers(n, d):
    i = torch.arange((d + 1) // 2)
    return torch.arange(n)[:, None] / 10000 ** (2 * i / d)


@equivalent(ref.angles)
def summed_up(n, d):
    omega = 10000.0 ** (-torch.arange(0, d, 2, dtype=torch.float64) / d)
    return torch.cumsum(omega.expand(n, -1), dim=0) - omega


# Part 2: sinusoidal


@equivalent(ref.sinusoidal)
def stack_and_flatten(n, d):
    A = ref.angles(n, d)
    return torch.stack([A.sin(), A.cos()], dim=-1).flatten(start_dim=1)[:, :d]


@equivalent(ref.sinusoidal)
def sine_with_phase(n, d):
    phase = torch.arange(d, dtype=torch.float64) % 2 * (torch.pi / 2)
    return torch.sin(ref.angles(n, d).repeat_interleave(2, dim=1)[:, :d] + phase)


@equivalent(ref.sinusoidal)
def float32_table(n, d):
    A = ref.angles(n, d).float()
    P = torch.zeros(n, d)
    P[:, 0::2] = torch.sin(A)
    P[:, 1::2] = torch.cos(A)[:, : P[:, 1::2].shape[1]]
    return P


@equivalent(ref.sinusoidal)
def complex_exponential(n, d):
    A = ref.angles(n, d)
    Z = torch.polar(torch.ones_like(A), torch.pi / 2 - A)  # sin A + i cos A
    return torch.view_as_real(Z).reshape(n, -1)[:, :d]


@equivalent(ref.sinusoidal)
def where_column_is_odd(n, d):
    A = torch.repeat_interleave(ref.angles(n, d), 2, dim=-1)[:, :d]
    return torch.where(torch.arange(d) % 2 == 1, torch.cos(A), torch.sin(A))


@equivalent(ref.sinusoidal)
def concatenate_and_permute(n, d):
    A = ref.angles(n, d)
    halves = torch.cat([torch.sin(A), torch.cos(A)], dim=1)
    order = torch.arange(halves.shape[1]).view(2, -1).T.reshape(-1)
    return halves[:, order][:, :d]


@equivalent(ref.sinusoidal)
def row_by_row_with_math(n, d):
    import math

    P = torch.zeros(n, d, dtype=torch.float64)
    for t in range(n):
        for j in range(d):
            angle = t / 10000 ** ((j - j % 2) / d)
            P[t, j] = math.cos(angle) if j % 2 else math.sin(angle)
    return P


@equivalent(ref.sinusoidal)
def wider_table_cut(n, d):
    A = ref.angles(n, d)
    P = torch.zeros(n, d + d % 2, dtype=torch.float64)
    P[:, 0::2], P[:, 1::2] = A.sin(), A.cos()
    return P[:, :d].contiguous()


# Part 3: add_positions


@equivalent(ref.add_positions)
def type_as(X):
    return ref.sinusoidal(X.size(-2), X.size(-1)).type_as(X) + X


@equivalent(ref.add_positions)
def expanded_and_added(X):
    P = ref.sinusoidal(*X.shape[-2:]).to(X)
    return torch.add(X, P.expand(X.shape))


@equivalent(ref.add_positions)
def on_a_copy(X):
    Y = X.clone()
    Y += ref.sinusoidal(X.shape[-2], X.shape[-1]).to(X.device, X.dtype)
    return Y


@equivalent(ref.add_positions)
def added_in_float64(X):
    P = ref.sinusoidal(*X.shape[-2:]).to(X.device)
    return (X.double() + P).to(X.dtype)


@equivalent(ref.add_positions)
def flattened_batch(X):
    n, d = X.shape[-2:]
    Y = X.reshape(-1, n, d) + ref.sinusoidal(n, d).to(X)[None]
    return Y.view(X.shape)


# Part 4: shift_matrix


@equivalent(ref.shift_matrix)
def block_diagonal(k, d):
    if d % 2 != 0:
        raise ValueError("d must be even")
    blocks = []
    for b in k * ref.angles(2, d)[1]:
        c, s = torch.cos(b), torch.sin(b)
        blocks.append(torch.stack([c, -s, s, c]).view(2, 2))
    return torch.block_diag(*blocks)


@equivalent(ref.shift_matrix)
def filled_in_a_loop(k, d):
    import math

    if d % 2:
        raise ValueError("odd width")
    M = torch.zeros(d, d, dtype=torch.float64)
    for i in range(d // 2):
        b = k / 10000 ** (2 * i / d)
        M[2 * i, 2 * i] = M[2 * i + 1, 2 * i + 1] = math.cos(b)
        M[2 * i + 1, 2 * i] = math.sin(b)
        M[2 * i, 2 * i + 1] = -math.sin(b)
    return M


@equivalent(ref.shift_matrix)
def float32_matrix(k, d):
    if d % 2:
        raise ValueError("d must be even")
    M = torch.zeros(d, d)
    for i, omega in enumerate(ref.angles(2, d)[1].tolist()):
        b = torch.tensor(k * omega)
        M[2 * i, 2 * i : 2 * i + 2] = torch.stack([b.cos(), -b.sin()])
        M[2 * i + 1, 2 * i : 2 * i + 2] = torch.stack([b.sin(), b.cos()])
    return M


@equivalent(ref.shift_matrix)
def solved_by_least_squares(k, d):
    if d % 2:
        raise ValueError("only an even width can be shifted")
    t = torch.arange(abs(k), 200)
    P = ref.sinusoidal(200 + 2 * abs(k), d)
    return torch.linalg.lstsq(P[t], P[t + k]).solution


@equivalent(ref.shift_matrix)
def power_of_one_step(k, d):
    if d % 2:
        raise ValueError("only an even width can be shifted")
    omega = ref.angles(2, d)[1]
    turns = torch.stack([omega.cos(), -omega.sin(), omega.sin(), omega.cos()], dim=1).reshape(-1, 2, 2)
    step = torch.block_diag(*turns)
    return torch.linalg.matrix_power(step if k >= 0 else step.T, abs(k))


@equivalent(ref.shift_matrix)
def matrix_exponential(k, d):
    if d % 2:
        raise ValueError("only an even width can be shifted")
    omega = ref.angles(2, d)[1]
    turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
    return torch.linalg.matrix_exp(k * torch.kron(torch.diag(omega), turn))


@equivalent(ref.shift_matrix)
def kronecker_products(k, d):
    if d % 2:
        raise ValueError("only an even width can be shifted")
    b = k * ref.angles(2, d)[1]
    turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]], dtype=torch.float64)
    same = torch.eye(2, dtype=torch.float64)
    return torch.kron(torch.diag(b.cos()), same) + torch.kron(torch.diag(b.sin()), turn)


@equivalent(ref.shift_matrix)
def solved_from_the_table(k, d):
    if d % 2:
        raise ValueError("only an even width can be shifted")
    M = torch.zeros(d, d, dtype=torch.float64)
    for i in range(d // 2):
        omega = ref.angles(2, d)[1, i]
        t = torch.stack([torch.zeros_like(omega), torch.pi / 2 / omega])  # rows (0, 1) and (1, 0)
        before = torch.stack([torch.sin(t * omega), torch.cos(t * omega)], dim=1)
        after = torch.stack([torch.sin((t + k) * omega), torch.cos((t + k) * omega)], dim=1)
        M[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.linalg.solve(before, after)
    return M


# Part 5: LearnedPositions


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


# Part 6: relative_bias


@equivalent(ref.relative_bias)
def filled_entry_by_entry(n, m, table):
    L = (table.shape[-1] - 1) // 2
    rows = []
    for i in range(n):
        rows.append(torch.stack([table[..., max(-L, min(L, j - i)) + L] for j in range(m)], dim=-1))
    return torch.stack(rows, dim=-2)


@equivalent(ref.relative_bias)
def index_select(n, m, table):
    L = table.size(-1) // 2
    i, j = torch.meshgrid(torch.arange(n), torch.arange(m), indexing="ij")
    entry = torch.clip(j - i + L, 0, 2 * L).to(table.device)
    return table.index_select(-1, entry.flatten()).unflatten(-1, (n, m))


@equivalent(ref.relative_bias)
def gathered(n, m, table):
    L = table.shape[-1] // 2
    offset = torch.arange(m, device=table.device) - torch.arange(n, device=table.device)[:, None]
    entry = torch.maximum(torch.minimum(offset, torch.tensor(L)), torch.tensor(-L)) + L
    wide = table.unsqueeze(-2).expand(*table.shape[:-1], n, table.shape[-1])
    return torch.gather(wide, -1, entry.expand(*table.shape[:-1], n, m))


@equivalent(ref.relative_bias)
def one_hot_product(n, m, table):
    L = table.shape[-1] // 2
    offset = (torch.arange(m)[None, :] - torch.arange(n)[:, None]).clamp(min=-L, max=L)
    choose = nn.functional.one_hot(offset + L, 2 * L + 1).to(table)  # (n, m, 2L+1)
    return torch.einsum("nmo,...o->...nm", choose, table)


@equivalent(ref.relative_bias)
def sliding_windows(n, m, table):
    size = table.shape[-1]
    left = table[..., :1].expand(*table.shape[:-1], max(n, m))
    right = table[..., -1:].expand(*table.shape[:-1], max(n, m))
    line = torch.cat([left, table, right], dim=-1)  # every offset, clipped
    zero = max(n, m) + size // 2
    return torch.stack([line[..., zero - i : zero - i + m] for i in range(n)], dim=-2)
