"""Grades a whole class, or one submission at a prompt.

In: what was handed in, and an engine. Out: a `Result` for each submission, each in the journal the moment it is there.

`run.py` grades a class, `class_results.py` keeps its results, `journal.py` is the file that they are in.
"""
