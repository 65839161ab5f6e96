"""Makes and proves a homework.

In: `graders/<hw>/` and `reference/<hw>.py`. Out: starters, notebooks, worked examples, the proof that the hidden tests
grade, and the zip for Gradescope.

`build.py`, `verification.py` and `bundle.py` are the commands of these names; `claims.py` says what is proved.
"""
