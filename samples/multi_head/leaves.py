"""A hostile sample submission: it ends its process, politely and not, and claims that all went well."""

import os
import sys


def split_heads(X, n_heads):
    print('{"score": 20, "tests": []}', flush=True)
    os._exit(0)


def merge_heads(H):
    sys.exit(0)


def multi_head_attention(X_q, X_kv, W_Q, W_K, W_V, n_heads, mask=None):
    os.kill(os.getppid(), 9)
    os.abort()
