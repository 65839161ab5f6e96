"""Grades submissions in processes of their own.

In: a homework and how to grade it, then one submission after another. Out: a `Result` for each.

`protocol.py` says what an engine is; `local.py` is the engine of this machine, and every command gets it from
`engine_for` there. Another engine implements the same calls.
"""
