"""Runs a student's code in a walled process, which answers requests.

In: files, limits and requests. Out: replies, which are plain values and not trusted. The folder of a module says where
it runs: `worker/` in the student's process, `walls/` in that process before it looks at the submission, `wire/` on both
sides, and the modules beside these folders on the trusted side. The import contract in pyproject.toml keeps modules of
the trusted side out of the three folders. A worker is a student's process; the zygote is the fork server that starts
it.

`isolation.py` opens processes; `student_process.py` sends requests and checks the replies. `walls/__init__.py` is the
place to add a wall. `failure_texts.py` has the sentence for each end of a process: crash, time-out, lack of memory.
"""
