"""The student's own side.

In: a student's file or notebook and the homework's public tests. Out: the same words as in grading, without points.
"""
