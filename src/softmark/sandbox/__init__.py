"""Runs a student's code in a process with walls, which answers questions.

In: files, limits and requests. Out: replies, which are plain values that nobody believes. The folder says on which
side a module runs: `worker/` in the student's process, `walls/` in that process before it looks at the submission,
`wire/` on both sides, and the modules beside them on the trusted side.

`isolation.py` opens processes, `student_process.py` asks one and checks its replies. A wall is added in
`walls/__init__.py`. `explain.py` has the sentence for each end of a process: a crash, a time-out, a lack of memory.
"""
