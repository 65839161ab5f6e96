"""Checks a student's work on the student's own machine.

In: a file or an open notebook, and the homework's public tests. Out: a Result with the words of grading, which counts
tests and not points.
"""
