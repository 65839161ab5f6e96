def attention(Q, K, V, mask=None):
    return attention(Q, K, V, mask)
