"""Edits programs: a wrong program is a right program with a small edit.

In: the source text of a function, and an edit of it, from an author's list or from an operator. Out: the edited text,
or the edited function. Nothing here knows of grading, and nothing here runs a student's code.
"""
