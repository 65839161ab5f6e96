"""Plain data that every room shares: verdicts, results, points, limits, errors.

Imports neither torch nor any other room.
"""
