"""Other right ways from ids to text."""

import codecs
import io

from reference import byte_pair_encoding as ref
from softmark import equivalent


@equivalent(ref.decode)
def into_a_bytearray(ids, vocabulary):
    data = bytearray()
    for i in ids:
        data.extend(vocabulary[i])
    return str(data, "utf8", "replace")


@equivalent(ref.decode)
def step_by_step(ids, vocabulary):
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    return "".join([decoder.decode(vocabulary[i]) for i in ids]) + decoder.decode(b"", final=True)


@equivalent(ref.decode)
def as_a_file(ids, vocabulary):
    data = io.BytesIO()
    for i in ids:
        data.write(vocabulary[i])
    data.seek(0)
    return io.TextIOWrapper(data, encoding="utf-8", errors="replace", newline="").read()
