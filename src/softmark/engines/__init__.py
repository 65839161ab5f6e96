"""Processes that grade.

In: a homework and how to grade it, then one submission after another. Out: a `Result` for each.
"""
