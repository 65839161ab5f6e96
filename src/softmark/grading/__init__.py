"""Grades one submission with the hidden tests.

In: the files of a submission, the collected tests, a sandbox. Out: the result of each test, with a share of its points.

`grade.py` goes from part to part and from case to case, `session.py` holds the student's process, `student.py` defines
the fixture `student`, `pytest_runner.py` runs a test inside of pytest.
"""
