"""Grades what a platform hands in.

In: what a platform puts into its container. Out: what it reads back.
"""
