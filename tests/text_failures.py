"""Makes the table of docs/feedback.md: twenty typical failures whose answers are texts, lists and dictionaries."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from softmark.authoring.plant import plant
from softmark.authoring.variants import Rounds, Variant
from softmark.course.homework import Homework, load_homework
from softmark.grading.author_files import load_mistakes
from softmark.records.result import Result

HOMEWORK = "text_features"


@dataclass(frozen=True)
class TextFailure:
    """A typical failure: its title, and a named mistake or the body that takes the place of a function's."""

    title: str
    mistake: str = ""
    signature: str = ""
    body: str = ""

    def planted(self, source: str, homework: Homework) -> str:
        """Return the reference with this failure in it."""
        if self.mistake:
            mistakes = {entry.name: entry for entry in load_mistakes(homework, ("mistakes",)).mistakes}
            return plant(source, mistakes[self.mistake])
        body = "\n".join(f"    {line}" for line in self.body.splitlines())
        return f"{source}\n\ndef {self.signature}:\n{body}\n"


TOKENS = """return {}re.findall(r"[^\\W_]+(?:'[^\\W_]+)*", text.lower()){}"""
ENCODE = "ids = [1] + [{} for word in tokens(text)][: length - 1]\nreturn ids + [{}] * (length - len(ids))"
FAILURES = (
    TextFailure("Capital letters stay", mistake="tokens: text.lower() → text"),
    TextFailure("Signs stay on the words", mistake="tokens: return text.lower().split()"),
    TextFailure("One text for a list", signature="tokens(text)", body=TOKENS.format('" ".join(', ")")),
    TextFailure("An iterator", signature="tokens(text)", body=TOKENS.format("iter(", ")")),
    TextFailure("A set", signature="tokens(text)", body=TOKENS.format("set(", ")")),
    TextFailure("The order is turned round", signature="char_ngrams(word, n)",
                body="found = []\nfor i in range(len(word) - n + 1):\n    found.insert(0, word[i : i + n])\n"
                "return found"),
    TextFailure("No `return`", signature="tokens(text)", body=TOKENS.format("", "").removeprefix("return ")),
    TextFailure("The last n-gram is missing", mistake="ngrams: len(tokens) - n + 1 → len(tokens) - n"),
    TextFailure("The list that was given is changed", signature="ngrams(tokens, n)",
                body='found = []\nwhile len(tokens) >= n:\n    found.append(" ".join(tokens[:n]))\n    tokens.pop(0)\n'
                "return found"),
    TextFailure("Ids begin at 0", mistake="vocabulary: RESERVED + rank → rank"),
    TextFailure("Ties by the alphabet", mistake="vocabulary: counts.most_common(size) → sorted(counts.items(), "
                "key=lambda item: (-item[1], item[0]))[:size]"),
    TextFailure("Keys and values exchanged", mistake="vocabulary: {word: RESERVED + rank for rank, (word, _) in "
                "enumerate(chosen)} → {RESERVED + rank: word for rank, (word, _) in enumerate(chosen)}"),
    TextFailure("A list for a dictionary", signature="vocabulary(documents, size)",
                body="counts = Counter(word for document in documents for word in tokens(document))\n"
                "return [(word, 4 + i) for i, (word, _) in enumerate(counts.most_common(size))]"),
    TextFailure("A word that is not in the dictionary", signature="encode(text, vocabulary, length)",
                body=ENCODE.format("vocabulary[word]", "0")),
    TextFailure("Unknown words are left out", mistake="encode: ids[:length] → [i for i in ids if i != UNK][:length]"),
    TextFailure("Padding on the left", mistake="encode: ids + [PAD] * (length - len(ids)) → "
                "[PAD] * (length - len(ids)) + ids"),
    TextFailure("A tensor for a list", signature="encode(text, vocabulary, length)",
                body=ENCODE.format("vocabulary.get(word, 2)", "0").replace("return ", "return torch.tensor(") + ")"),
    TextFailure("A slip without a name", signature="encode(text, vocabulary, length)",
                body=ENCODE.format("vocabulary.get(word, 2)", "3")),
    TextFailure("A space too many", signature="decode(ids, vocabulary)",
                body='words = {i: word for word, i in vocabulary.items()} | {1: "[START]", 2: "[UNK]", 3: "[UNUSED]"}\n'
                'return "".join(words.get(i, "?") + " " for i in ids if i)'),
    TextFailure("A library that is not there", signature="decode(ids, vocabulary)",
                body="import nltk\n\nreturn nltk.decode(ids)"),
)  # fmt: skip
HEAD = """
## Answers that are texts, lists and dictionaries

Twenty failures of another homework, `text_features`. The table has the first message about each: what is wrong, and
what to do next. Below it, staff see the difference line by line.

| failure | what the student reads |
|---|---|"""


def table(root: Path) -> str:
    """Return the section of docs/feedback.md: a row for each failure."""
    homework = load_homework(HOMEWORK, root)
    source = homework.reference.read_text()
    variants = [Variant("sample", HOMEWORK, failure.planted(source, homework)) for failure in FAILURES]
    with Rounds(jobs=1) as rounds:
        results = rounds.begin(homework, variants).results()
    rows = [f"| {failure.title} | {_told(result)} |" for failure, result in zip(FAILURES, results, strict=True)]
    return "\n".join([HEAD, *rows])


def _told(result: Result) -> str:
    """Return what a student reads first: the fact, the words of the mistake, the line that a small change mends."""
    test = next(test for test in result.tests if test.verdicts)
    verdict = test.verdicts[0]
    words = [verdict.fact, *(f"*Most likely: {cause.says}* {cause.hint}" for cause in verdict.causes)]
    if test.repair is not None:
        words.append(f"*Line {test.repair.line}: {test.repair.says}*")
    return "<br>".join(words).replace("|", r"\|")
