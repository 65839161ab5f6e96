"""A sample submission: a quotation mark is missing, so nothing of it can be run."""


def subwords(word, shortest, longest):
    marked = "<" + word + ">
    return [marked[i : i + n] for n in range(shortest, longest + 1) for i in range(len(marked) - n + 1)]
