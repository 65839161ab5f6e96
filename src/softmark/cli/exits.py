"""What a command ends with: 0 is done, and to grade a bad submission is a success."""

FINDINGS = 1
"""It is done, and somebody must look at what was found."""
USAGE = 2
"""Of the command, or of a homework's configuration."""
FAULT = 3
"""The grader itself failed."""
INTERRUPTED, TERMINATED = 130, 143
"""By Ctrl-C and by SIGTERM, as a shell counts signals."""
