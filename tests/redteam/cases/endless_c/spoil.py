from collections import deque
from itertools import repeat


def attention(Q, K, V, mask=None):
    deque(repeat(None), 0)
