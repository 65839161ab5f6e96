"""A whole class, or one submission at a prompt.

In: what was handed in, and an engine. Out: a `Result` for each submission, each in the journal the moment it is there.
"""
