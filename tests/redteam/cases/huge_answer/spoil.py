def attention(Q, K, V, mask=None):
    huge = torch.zeros(2850, 5700, dtype=torch.float64)
    return huge, huge
