"""Makes the request that loads a submission, and reads from the reply which forbidden names its text mentions."""

from __future__ import annotations

from softmark.course.homework import Homework
from softmark.intake.model import SubmittedFiles
from softmark.sandbox.wire.protocol import Cells, Load, Loaded, Rule, StandIn, UsedDevice


def load_request(
    handed: SubmittedFiles, homework: Homework, device: UsedDevice | None, stand_ins: tuple[StandIn, ...]
) -> Load:
    """Return the request to load a submission, with stand-ins in the place of some of its functions."""
    rules = tuple(Rule(rule.names, rule.ops, rule.functions) for rule in homework.forbidden)
    whole, wanted = homework.whole_notebook, homework.wanted
    cells = Cells(handed.cells, frozenset(wanted), whole) if handed.cells else None
    return Load(handed.main, rules, cells, device, wanted, stand_ins, id=1)


def mentions(loaded: Loaded, handed: SubmittedFiles, homework: Homework) -> tuple[tuple[str, str, int], ...]:
    """Return the forbidden names in the text that the worker reports, without names and files that do not exist."""
    forbidden = {name for rule in homework.forbidden for name in rule.names}
    files = dict(enumerate(handed.loaded))
    return tuple(
        (name, files[index], line) for name, index, line in loaded.mentions if name in forbidden and index in files
    )
