"""Finds words for weights that do not fit the module of a student: missing, superfluous, or of another shape."""

from __future__ import annotations

import difflib
from collections.abc import Container, Mapping, Sequence

import torch

from softmark.intake.model import SubmittedFiles
from softmark.verdict.values import shape


def weights_problem(given: Mapping[str, torch.Tensor], own: Mapping[str, torch.Tensor], handed: SubmittedFiles) -> str:
    """Return one sentence about why these weights do not fit this module; empty if they fit."""
    missing = [name for name in given if name not in own]
    if missing:
        unexpected = [name for name in own if name not in given]
        sayable = [name for name in unexpected[:1000] if handed.writes(name)]
        near = difflib.get_close_matches(missing[0], sayable, n=1, cutoff=0.6)
        misspelt = f"; is your `{near[0]}` meant to be it?" if near else ""
        instead = _kept_otherwise(missing[0], own, handed) or misspelt
        return f"it has no parameter named `{missing[0]}`{instead}{_others(missing)}"
    for name, tensor in given.items():
        if own[name].shape != tensor.shape:
            return f"parameter `{name}` has shape {shape(own[name].shape)}, expected {shape(tensor.shape)}"
    return ""


def superfluous(unexpected: Sequence[str], parameters: Container[str], handed: SubmittedFiles) -> str:
    """Return a sentence about superfluous entries. It names one only if the submission contains the name."""
    first = next((name for name in unexpected[:1000] if handed.writes(name)), unexpected[0])
    called = f" `{first}`" if handed.writes(first) else ""
    if first in parameters:
        return f"it has a parameter{called} that the handout does not name{_others(unexpected)}"
    return (
        f"its state_dict has an entry{called} that the handout does not name{_others(unexpected)}: "
        "a buffer is registered with persistent=False"
    )


def _kept_otherwise(name: str, own: Mapping[str, torch.Tensor], handed: SubmittedFiles) -> str:
    """Return a clause about a missing parameter if the object has something else under its name."""
    if not handed.keeps(name):
        return ""
    is_module = any(key.startswith(f"{name}.") for key in own)
    return f"; your `{name}` is a module, not an nn.Parameter" if is_module else f"; your `{name}` is no nn.Parameter"


def _others(names: Sequence[str]) -> str:
    return f" (and {len(names) - 1} more)" if len(names) > 1 else ""
