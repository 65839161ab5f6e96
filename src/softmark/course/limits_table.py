"""Reads the limits that a homework sets: `[limits]` in homework.toml."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from softmark.course.toml import LocatedToml

LONGEST_CPU_SECONDS = 600.0


class LimitsTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The limits that a homework may set; one that it leaves out has its default."""

    cpu_seconds: float | msgspec.UnsetType = msgspec.UNSET
    import_seconds: float | msgspec.UnsetType = msgspec.UNSET
    test_seconds: float | msgspec.UnsetType = msgspec.UNSET
    memory_mb: int | msgspec.UnsetType = msgspec.UNSET
    file_mb: int | msgspec.UnsetType = msgspec.UNSET
    processes: int | msgspec.UnsetType = msgspec.UNSET
    open_files: int | msgspec.UnsetType = msgspec.UNSET
    answer_mb: int | msgspec.UnsetType = msgspec.UNSET
    output_bytes: int | msgspec.UnsetType = msgspec.UNSET


def limits_of(toml: LocatedToml, limits: LimitsTable) -> Mapping[str, float]:
    """Return the limits that are set. Raise ConfigError for one that is no sensible number."""
    chosen: dict[str, float] = msgspec.to_builtins(limits)
    for key, value in chosen.items():
        if not 0 < value < float("inf"):
            raise toml.wrong(("limits", key), f"{key} must be more than 0 and finite, not {value}")
        if key.endswith("_seconds") and value > LONGEST_CPU_SECONDS:
            raise toml.wrong(("limits", key), f"{key} must be at most {LONGEST_CPU_SECONDS:g}, not {value:g}")
    return MappingProxyType(chosen)
