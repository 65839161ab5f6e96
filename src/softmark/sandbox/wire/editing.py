"""Defines the messages by which a worker proposes repairs of a submission (edits/repairs.py), and applies them.

    Propose    sent to a fresh worker before it has loaded anything: the worker reads the texts and proposes edits
    PutEdit    sent after the submission is loaded: the worker puts an edited definition in the place of the student's

The trusted side makes the edited text itself, by cutting and joining, and never parses a submission. A reply consists
only of places in the text, new text and words of a list, each bounded.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

MOST_EDITS = 3_000
_Position = Annotated[int, msgspec.Meta(ge=0, lt=2**31)]
_New = Annotated[str, msgspec.Meta(max_length=4_000)]
_Word = Annotated[str, msgspec.Meta(max_length=60)]
_ProposedEdit = tuple[_Position, _Word, _Position, _Position, _New, _Position, _Position]


class Propose(msgspec.Struct, forbid_unknown_fields=True, tag_field="op", tag="propose"):
    """Propose repairs of `functions`, and none of `others`."""

    texts: list[str]
    functions: tuple[str, ...]
    others: tuple[str, ...]
    id: int = 0


class PutEdit(msgspec.Struct, forbid_unknown_fields=True, tag_field="op", tag="put_edit"):
    """Put all of the student's own definitions back, and then this edited one in the place of its original."""

    file: str
    line: int
    text: str
    id: int = 0


class Proposed(msgspec.Struct, forbid_unknown_fields=True):
    """The definitions that may be edited, and the edits, the likeliest first."""

    definitions: Annotated[list[tuple[_Position, _Position, _Position, _Position]], msgspec.Meta(max_length=200)]
    """For each definition its file, its first and last byte, and its first line."""
    edits: Annotated[list[_ProposedEdit], msgspec.Meta(max_length=MOST_EDITS)]
    """For each edit its definition, its kind, the first and last byte of the old text, the new text, and the place that
    the student is shown."""
    uses: Annotated[list[_Word], msgspec.Meta(max_length=200)]
    """Functions and classes of other parts that these definitions use."""


class EditPut(msgspec.Struct, forbid_unknown_fields=True):
    """The edited definition is in its place."""
