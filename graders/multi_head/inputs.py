"""The inputs of attention that hidden tests draw."""

import math

from softmark import draw

UNEVEN = [(10, 4), (7, 3), (12, 5), (6, 4), (3, 6)]  # widths that the number of heads does not divide


def problem(m, n, D_q, D_kv, h, d_k, d_v, batch=()):
    """Draw X_q, X_kv, W_Q, W_K, W_V and n_heads, with scores of order one."""
    X_q, X_kv = draw("batch m D_q", "batch n D_kv", batch=batch, m=m, n=n, D_q=D_q, D_kv=D_kv)
    sizes = {"D_q": D_q, "D_kv": D_kv, "hd_k": h * d_k, "hd_v": h * d_v}
    W_Q, W_K, W_V = draw("D_q hd_k", "D_kv hd_k", "D_kv hd_v", **sizes)
    return X_q, X_kv, W_Q / math.sqrt(D_q), W_K / math.sqrt(D_kv), W_V / math.sqrt(D_kv), h
