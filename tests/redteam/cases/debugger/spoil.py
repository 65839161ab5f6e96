def attention(Q, K, V, mask=None):
    breakpoint()
    return Q, K
