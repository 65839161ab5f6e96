"""Feedback as plain lines of text, for places that show nothing else."""

from collections.abc import Iterable

from softmark.feedback.feedback import Block, Code, Drawing, Sentence


def as_lines(blocks: Iterable[Block]) -> str:
    """One line or more per block; a drawing has no place in plain text and is left out."""
    return "\n".join(_line(block) for block in blocks if not isinstance(block, Drawing))


def _line(block: Sentence | Code) -> str:
    match block:
        case Sentence():
            return f"{block.lead}: {block.text}" if block.lead else block.text
        case Code():
            return f"{block.place}: {block.text}"
