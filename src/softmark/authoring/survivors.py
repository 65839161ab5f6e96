"""Reads graders/<hw>/survivors.toml: why no test catches a mutant of the reference.

[[survivor]]
function = "softmax_rows"
edits = ["S.amax(dim=-1, keepdim=True) → S.amin(dim=-1, keepdim=True)"]
because = "The factor cancels."
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from softmark.course.homework import Homework
from softmark.course.toml import LocatedToml

FILE = "survivors.toml"


class SurvivorRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Edits of one function that no test can tell from the reference, or need not, and the reason."""

    function: str
    edits: tuple[str, ...]
    because: str


class _SurvivorsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    survivor: tuple[SurvivorRule, ...] = ()


def explained_survivors(homework: Homework) -> Mapping[str, str]:
    """Return the reason for each mutant, in the words `function: old → new`. Raise ConfigError if one has none."""
    path = homework.folder / FILE
    if not path.is_file():
        return {}
    toml = LocatedToml(path, f"graders/{homework.name}/{FILE}")
    reasons: dict[str, str] = {}
    for index, rule in enumerate(toml.read_as(_SurvivorsFile).survivor):
        if not rule.because.strip():
            raise toml.wrong(("survivor", index, "because"), "because must say why no test catches this")
        for edit in rule.edits:
            name = f"{rule.function}: {edit}"
            if name in reasons:
                raise toml.wrong(("survivor", index, "edits"), f"{name} is explained twice")
            reasons[name] = rule.because
    return reasons
