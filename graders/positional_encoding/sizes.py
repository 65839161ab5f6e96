"""The sizes n and d of the tables that parts 1 and 2 ask for."""

TABLES = [
    (12, 8, [(8, 8), (4, 8), (2, 512)]),
    (13, 6, [(33, 4), (64, 16), (101, 6)]),
    (17, 14, [(5, 34), (32, 10), (100, 12)]),
]
"""Each with further sizes, some of them equal, some of them large."""
ODD_TABLES = [(12, 7, [(7, 7), (4, 7), (101, 5)]), (11, 9, [(40, 3), (5, 65), (65, 3)])]

# Two conditions may have to meet before a mistake shows. The numbers of choices of a call (3, 4 or 8, 5) have no common
# divisor, so within a few rows each choice meets each of the others: row r takes number r of every list, and goes on
# at the beginning of a list that ends.
BATCHES = [(), (3,), (2, 5)]
LENGTHS = [(4, 6), (6, 4), (5, 5), (1, 6), (6, 1)]


def batch(row):
    """Return the batch dimensions, or the heads, of a row."""
    return BATCHES[row % 3]


def lengths(row):
    """Return the numbers of queries and of keys of a row."""
    return LENGTHS[row % 5]
