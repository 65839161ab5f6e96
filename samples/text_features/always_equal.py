"""A hostile sample submission: its texts, lists, dictionaries and numbers say that they are equal to anything."""


class Text(str):
    __slots__ = ()

    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False

    def __hash__(self):
        return hash("")


class Words(list):
    def __eq__(self, other):
        return True

    def __len__(self):
        return 0


class Ids(dict):
    def __eq__(self, other):
        return True

    def __missing__(self, word):
        return 4


class Number(float):
    def __eq__(self, other):
        return True

    def __lt__(self, other):
        return True

    def __sub__(self, other):
        return 0.0


def tokens(text):
    return Words([Text()])


def ngrams(tokens, n):
    return [Text(), Text()]


def char_ngrams(word, n):
    return Words(word)


def vocabulary(documents, size):
    return Ids({Text(): 4})


def encode(text, vocabulary, length):
    return Words([Number()])


def decode(ids, vocabulary):
    return Text("[START]")


def bag_of_words(ids, size, binary=False):
    return Number()


def normalise_rows(X):
    return Words([Number()])


def cosine(X, Y):
    return Number(1)


def squared_distances(X, Y):
    return Number()
