def attention(Q, K, V, mask=None):
    return (row for row in Q), (row for row in K)
