"""A process with walls that runs a student's code and answers questions.

In: files, limits and requests. Out: replies, which are plain values that nobody believes. The folder says on which
side a module runs: `worker/` in the student's process, `walls/` in that process before it looks at the submission,
`wire/` on both sides, and the modules beside them on the trusted side.
"""
