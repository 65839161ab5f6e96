"""A hostile sample submission: it stops all clocks that it can reach, works in a thread, and wants the reference's time."""

import gc
import inspect
import os
import resource
import threading
import time

for _name in ("process_time", "perf_counter", "monotonic", "thread_time", "time"):
    setattr(time, _name, lambda *args: 0.0)
time.clock_gettime = resource.getrusage = os.times = lambda *args: 0.0


def _reference(name):
    for thing in gc.get_objects():
        if inspect.isfunction(thing) and thing.__module__ == "reference.byte_pair_encoding" and thing.__name__ == name:
            return thing
    return None


def pieces(text):
    return _reference("pieces")(text)


def segments(text, specials):
    return [text] * 10**9


def pair_counts(words):
    return {bytes(3): 10**5000}


def merge(word, pair):
    word.clear()
    return word


def train(text, size, specials):
    os.kill(os.getppid(), 9)
    return fast_train(text, size, specials)


def decode(ids, vocabulary):
    os._exit(len(ids))


def fast_train(text, size, specials):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(_reference("fast_train")(text, size, specials)))
    thread.start()
    thread.join()
    return answers[0]
