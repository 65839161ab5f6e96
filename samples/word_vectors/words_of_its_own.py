"""A hostile sample submission: its answers are texts, lists and numbers that call themselves equal to anything."""


class Text(str):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


class Pairs(list):
    def __eq__(self, other):
        return True

    def __len__(self):
        return 10**9

    def __iter__(self):
        while True:
            yield Text("equal")


def skip_gram_pairs(ids, window):
    return Pairs()


def cbow_examples(ids, window):
    return Pairs([Pairs(), 0])


def subwords(word, shortest, longest):
    return [Text(word)]


def cooccurrence(ids, size, window):
    return Pairs([[Text("1")]])


def analogy(E, a, b, c, k):
    return Pairs(range(k))
