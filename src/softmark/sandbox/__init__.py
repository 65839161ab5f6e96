"""Runs a student's code in a walled process, which answers requests.

In: files, limits and requests. Out: replies, which are plain values that nobody believes. The folder says on which
side a module runs: `worker/` in the student's process, `walls/` in that process before it looks at the submission,
`wire/` on both sides, and the modules beside them on the trusted side. The import contract in pyproject.toml keeps the
trusted side out of the three folders. A worker is a student's process; the zygote is the fork server that starts it.

`isolation.py` opens processes, `student_process.py` asks one and checks its replies. A wall is added in
`walls/__init__.py`. `failure_texts.py` has the sentence for each end of a process: crash, time-out, lack of memory.
"""
