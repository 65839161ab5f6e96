"""The commands: what is typed, and what exit code it ends with. What they do is in the rooms."""

from softmark.cli.app import main

__all__ = ["main"]
