"""The messages by which a worker proposes repairs of a submission, and makes them (edits/repairs.py).

    Propose     sent to a fresh worker before it has loaded anything: it reads the texts and proposes edits
    PutEdit    sent after the submission is loaded: it puts an edited definition in the place of the student's

The trusted side makes the edited text itself, by cutting and joining, and never parses what was handed in. So all that
comes back is places in the text, new text and words of a list, each bounded.
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
    """Propose repairs of these functions. Those of `others` are left as they are."""

    texts: list[str]
    functions: tuple[str, ...]
    others: tuple[str, ...]
    id: int = 0


class PutEdit(msgspec.Struct, forbid_unknown_fields=True, tag_field="op", tag="put_edit"):
    """Put the student's own definitions back, and then this one in its place."""

    file: str
    line: int
    text: str
    id: int = 0


class Proposed(msgspec.Struct, forbid_unknown_fields=True):
    """The definitions that may be edited, and the edits, the likeliest first."""

    definitions: Annotated[list[tuple[_Position, _Position, _Position, _Position]], msgspec.Meta(max_length=200)]
    """Of each its file, where it begins and ends in bytes, and its first line."""
    edits: Annotated[list[_ProposedEdit], msgspec.Meta(max_length=MOST_EDITS)]
    """Of each its definition, its kind, where the old text begins and ends, the new text, and the place to tell."""
    uses: Annotated[list[_Word], msgspec.Meta(max_length=200)]
    """Functions and classes of other parts that these definitions use."""


class EditPut(msgspec.Struct, forbid_unknown_fields=True):
    """The edited definition is in its place."""
