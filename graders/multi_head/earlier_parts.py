"""A wrong part 1 or 2 is paid for once: with the student's own of them, parts 3 and 4 may be right."""


def parts_1_and_2(student):
    """The student's own versions of the earlier parts."""
    return {"split_heads": student.split_heads, "merge_heads": student.merge_heads}
