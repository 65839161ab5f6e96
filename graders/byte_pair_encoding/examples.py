"""The calls of the public worked examples; `softmark build` writes the reference's answers into the handout."""

from reference import byte_pair_encoding as ref
from softmark import example

SPECIALS = ["<s>", "<", "<s>!", "$$"]
TEXT = "a hat, a rat: that hat!  at 10 o'clock\n'the cat' sat at 101"
RUNS = "aaa baaaa aa ab aaab"
TIES = "bc cd ac dc cd bc"
UMLAUTS = "tür für tür 猫猫"
WORDS = [([b"t", b"h", b"e"], 3), ([b"t", b"h", b"a", b"t"], 2), ([b"a", b"a", b"a"], 4), ([b"x"], 9)]
RANKED = [(b"da", b"a"), (b"d", b"a"), (b"dd", b"ab"), (b"d", b"d"), (b"a", b"b")]
MERGES = ref.train(TEXT + UMLAUTS + RUNS, 270, [])[1]
VOCABULARY = {97: b"a", 195: b"\xc3", 188: b"\xbc", 256: b"th", 257: b"f\xc3", 258: b"\xbcr", 259: b"<s>", 260: b" "}

EXAMPLES = {
    "pieces": example(ref.pieces, TEXT),
    "pieces, other signs": example(ref.pieces, "x_1 für 2 €  ( a )\n\n b\t"),
    "segments": example(ref.segments, "<s>a hat<s>!<s>$$ rat<s", SPECIALS),
    "segments, no specials": example(ref.segments, "a hat", []),
    "count_words": example(ref.count_words, "hat a hat<s>hat für<s>", ["<s>"]),
    "pair_counts": example(ref.pair_counts, WORDS),
    "merge": example(ref.merge, [b"t", b"h", b"a", b"th", b"t", b"h"], (b"t", b"h")),
    "merge, a run": example(ref.merge, [b"a"] * 5 + [b"b", b"a"], (b"a", b"a")),
    "train": example(ref.train, TEXT + RUNS, 262, []),
    "train, ties": example(ref.train, TIES, 259, []),
    "train, specials": example(ref.train, "hat<s>hat<s>! sat$$", 263, SPECIALS),
    "train, until no pair occurs twice": example(ref.train, "hat hat", 999, []),
    "encode": example(ref.encode, "that hat, tür aaa 猫", MERGES, []),
    "encode, lowest rank first": example(ref.encode, "dabdc ddaac", RANKED, []),
    "encode, any merges": example(ref.encode, "abc", [(b"ab", b"c"), (b"a", b"b")], []),
    "encode, specials": example(ref.encode, "<s>a hat<s>!$$ at", MERGES, SPECIALS),
    "decode": example(ref.decode, [259, 97, 260, 256, 257, 258, 97, 195, 188], VOCABULARY),
    "decode, no UTF-8": example(ref.decode, [257, 97, 188, 97], VOCABULARY),
    "fast_train": example(ref.fast_train, TEXT + RUNS + " " + UMLAUTS, 264, []),
    "fast_train, specials": example(ref.fast_train, "hat<s>hat<s>! sat hat$$", 263, SPECIALS),
}
