"""Other right pieces of words, and sums of their vectors."""

import functools

import torch
import torch.nn.functional as F

from reference import word_vectors as ref
from softmark import equivalent


@equivalent(ref.subwords)
def pieces_in_one_list(word, shortest, longest):
    marked = f"<{word}>"
    lengths = range(shortest, min(longest, len(marked)) + 1)
    return [marked[start : start + n] for n in lengths for start in range(len(marked) - n + 1)]


@equivalent(ref.subwords)
def pieces_from_shifted_letters(word, shortest, longest):
    letters = ["<", *word, ">"]
    return [
        "".join(run)
        for n in range(shortest, longest + 1)
        for run in zip(*(letters[shift:] for shift in range(n)), strict=False)
    ]


@equivalent(ref.subwords)
def pieces_sorted_by_length(word, shortest, longest):
    marked = "<" + word + ">"
    ends = range(len(marked) + 1)
    pieces = [marked[i:j] for i in ends for j in ends if shortest <= j - i <= longest]
    return sorted(pieces, key=len)


def fnv(piece):
    h = 0x811C9DC5
    for byte in bytearray(piece, "utf-8"):
        h ^= byte
        h = (h * 0x01000193) & 0xFFFFFFFF
    return h


@equivalent(ref.fasttext)
def vector_after_vector(word, table, shortest, longest):
    total = torch.zeros_like(table[0])
    for piece in ref.subwords(word, shortest, longest):
        total = total + table[fnv(piece) % table.shape[0]]
    return total


@equivalent(ref.fasttext)
def counts_of_rows(word, table, shortest, longest):
    counts = [0.0] * len(table)
    for piece in ref.subwords(word, shortest, longest):
        counts[fnv(piece) % len(counts)] += 1
    return table.new_tensor(counts) @ table


@equivalent(ref.fasttext)
def bag_of_rows(word, table, shortest, longest):
    pieces = ref.subwords(word, shortest, longest)
    bins = torch.tensor([fnv(piece) % len(table) for piece in pieces], dtype=torch.long, device=table.device)
    return F.embedding(bins, table).sum(0)


@equivalent(ref.fasttext)
def reduced_hashes(word, table, shortest, longest):
    def step(h, byte):
        return ((h ^ byte) * 16777619) % (1 << 32)

    pieces = ref.subwords(word, shortest, longest)
    bins = [functools.reduce(step, piece.encode(), 2166136261) % table.size(0) for piece in pieces]
    return torch.stack([torch.zeros_like(table[0]), *(table[place] for place in bins)]).sum(dim=0)
