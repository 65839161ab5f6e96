"""Platforms that hand in to softmark.

In: what a platform puts into its container. Out: what it reads back.
"""
