"""Runs the commands: each reads what was typed, calls a room, and prints. `app.py` lists them."""

from softmark.cli.app import main

__all__ = ["main"]
