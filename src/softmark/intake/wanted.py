"""What a homework asks to be handed in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wanted:
    """The file of a homework, and the functions and classes that its parts ask for."""

    file: str
    names: tuple[str, ...]

    @property
    def notebook(self) -> str:
        """The notebook that may be handed in instead."""
        return self.file.removesuffix(".py") + ".ipynb"
