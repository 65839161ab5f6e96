"""Reads graders/<hw>/survivors.toml: why no test catches a mutant of the reference.

[[survivor]]
function = "softmax_rows"
edits = ["S.amax(dim=-1, keepdim=True) → S.amin(dim=-1, keepdim=True)"]
because = "The factor cancels."

[[survivor]]
function = "LearnedPositions.__init__"
edits = ["0.02 → 0.01"]
because = "The handout leaves open what the table holds before training."
right = true
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
    right: bool = False
    """True if the handout leaves open what the edits change, so that the mutants are right, too."""


class _SurvivorsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    survivor: tuple[SurvivorRule, ...] = ()


def explained_survivors(homework: Homework) -> Mapping[str, SurvivorRule]:
    """Return the rule for each mutant, in the words `function: old → new`. Raise ConfigError if one has no reason."""
    path = homework.folder / FILE
    if not path.is_file():
        return {}
    toml = LocatedToml(path, f"graders/{homework.name}/{FILE}")
    rules: dict[str, SurvivorRule] = {}
    for index, rule in enumerate(toml.read_as(_SurvivorsFile).survivor):
        if not rule.because.strip():
            raise toml.wrong(("survivor", index, "because"), "because must say why no test catches this")
        for edit in rule.edits:
            name = f"{rule.function}: {edit}"
            if name in rules:
                raise toml.wrong(("survivor", index, "edits"), f"{name} is explained twice")
            rules[name] = rule
    return rules
