"""The magic of IPython and Jupyter: `%check scores`, `%check 3`, `%check`, or `%check HOMEWORK scores`.

`%load_ext softmark` adds it. The Tab key completes the names of functions and parts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from softmark.check import check_in


def add_to(shell: Any) -> None:
    """Add `%check` and its completion to a shell of IPython."""

    def check(line: str) -> None:
        """Run public tests on the functions of this notebook: all, those of a function, or those of a part.

        %check
        %check scores
        %check 3
        %check HOMEWORK scores
        """
        words = line.replace(",", " ").split()
        if len(words) > 2:
            print("softmark: %check takes a function or a part, and before it the homework if several have it")
            return
        homework, what = words if len(words) == 2 else (None, words[0] if words else None)
        check_in(shell.user_ns, what, None, homework)

    shell.register_magic_function(check, "line", "check")
    shell.set_hook("complete_command", lambda _, event: _completions(event.line), str_key="%check")


def _completions(line: str) -> list[str]:
    """Return the names that may follow in the line: of functions, parts and homeworks that are near."""
    from softmark.check.asked import homeworks_near

    named = line.split()[1:2]
    near = homeworks_near(Path.cwd())
    own = [place.handout for place in near if [place.handout.homework] == named] or [place.handout for place in near]
    names = [name for handout in own for part in handout.parts for name in (*sorted(part.roots), part.number)]
    return list(dict.fromkeys([*names, *(handout.homework for handout in own)]))
