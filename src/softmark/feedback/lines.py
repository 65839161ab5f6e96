"""Feedback as plain lines of text, for places that show nothing else."""

from collections.abc import Iterable

from softmark.feedback.feedback import Block, Sentence
from softmark.records.verdict import CodeLine, Picture


def as_lines(blocks: Iterable[Block]) -> str:
    """One line or more per block; a picture is left out."""
    return "\n".join(_line(block) for block in blocks if not isinstance(block, Picture))


def _line(block: Sentence | CodeLine) -> str:
    match block:
        case Sentence():
            return f"{block.lead}: {block.text}" if block.lead else block.text
        case CodeLine():
            return f"{block.place}: {block.text}"
