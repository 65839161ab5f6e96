"""Reads what students handed in.

In: a path (a file, a folder, a zip archive, a platform's export). Out: one entry for each student with the bytes that
are graded, or the sentence that says why nothing of it can be. Nothing is run, and nothing is unpacked to a disk.
"""
