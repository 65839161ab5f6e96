"""A sample submission: a colon is missing."""

def pieces(text)
    return text.split()
