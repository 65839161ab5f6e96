"""Writes what staff get of a class.

In: the graded submissions of a class. Out: gradebooks, grade files for Canvas and Moodle, the folder of each student,
and what grading again has changed.

`gradebook.py` writes the CSV files, `lms.py` the files that Canvas and Moodle import, `regrade.py` compares two
gradings.
"""
