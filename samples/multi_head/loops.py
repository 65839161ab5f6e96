"""A sample submission: the numbers are right, but heads and tokens are taken one after the other; no module yet."""

import torch


def split_heads(X, n_heads):
    if X.shape[-1] % n_heads:
        raise ValueError("the width does not divide")
    return torch.stack(X.chunk(n_heads, dim=-1), dim=-3)


def merge_heads(H):
    return torch.cat(H.unbind(-3), dim=-1)


def multi_head_attention(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    Q, K, V = X_q @ W_Q, X_kv @ W_K, X_kv @ W_V
    heads = []
    for q, k, v in zip(Q.chunk(n_heads, -1), K.chunk(n_heads, -1), V.chunk(n_heads, -1)):
        rows = []
        for t in range(q.shape[-2]):
            s = (k @ q[..., t, :].unsqueeze(-1)).squeeze(-1) / k.shape[-1] ** 0.5
            if mask is not None:
                allowed = mask[..., min(t, mask.shape[-2] - 1), :]
                s = s.masked_fill(~allowed, float("-inf"))
            rows.append((torch.softmax(s, -1).unsqueeze(-2) @ v).squeeze(-2))
        heads.append(torch.stack(rows, dim=-2))
    return torch.cat(heads, dim=-1)
