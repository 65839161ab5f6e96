"""Puts a Result into words for one reader, and lays them out.

In: a `Result` and for whom it is. Out: text blocks, and from them a terminal table, an HTML page, Markdown, plain lines
or `results.json`. All text that a student controls is escaped here.
"""
