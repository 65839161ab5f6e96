"""Other right ways to write the shift matrix."""

import torch

from reference import positional_encoding as ref
from softmark import equivalent


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
