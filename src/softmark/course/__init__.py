"""Reads a homework: its configuration, its tests, its reference.

In: `graders/<hw>/homework.toml`, the decorated hidden tests, the reference as text. Out: `Homework`, the list of tests
with their points, the Result before the first test, and the digests that a grading depends on.

`homework.py` reads the configuration, `testspecs.py` the tests, `deadlines.py` has the rules for late days and
attempts.
"""
