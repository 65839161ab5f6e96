"""Starts a grading engine: `python -I -m softmark.engines NOTE [DESCRIPTOR...]`.

NOTE is the descriptor of the engine's note (own_time.py), or - if it has none. Each further descriptor is the engine's
end of one more lane (lanes.py). The separation of the two sides rests on the order here: torch is imported, then a
zygote is forked for every lane, and only then everything else is imported (server.py, and pytest with it). So a
worker's memory holds torch and the sandbox's own code, and nothing else.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import traceback
from typing import TYPE_CHECKING

from softmark.engines.ending import end_with_the_parent, no_interrupt_lost, stop_when_told
from softmark.engines.messages import Refused, send
from softmark.sandbox.scratch import close_open_roots

if TYPE_CHECKING:
    from softmark.sandbox.zygote import Zygote


def main() -> None:
    """Keep the pipes to the launcher for messages alone: everything that is printed goes to stderr."""
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    end_with_the_parent()
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # only what hidden tests need, whatever else is installed
    status = 0
    try:
        noted, *words = sys.argv[1:]
        descriptors = [int(word) for word in words]
        zygote, *others = _fork_zygotes(1 + len(descriptors))
        with no_interrupt_lost():
            stop_when_told()
            from softmark.engines.lanes import LaneEnds
            from softmark.engines.server import serve
            from softmark.grading.own_time import Note

            lanes = [LaneEnds.of(*pair, zygote) for pair in zip(descriptors, others, strict=True)]
            serve(zygote, requests, replies, lanes, None if noted == "-" else Note(int(noted)))
    except KeyboardInterrupt:
        status = 130  # the launcher does not listen any more
    except Exception:
        with contextlib.suppress(BrokenPipeError):
            send(replies, Refused(traceback.format_exc(), usage=False))
        status = 3
    close_open_roots()
    sys.stdout.flush()
    os._exit(status)  # taking torch and pytest apart in good order would cost 0.15 s


def _fork_zygotes(number: int) -> list[Zygote | None]:
    """None in place of each where there is no fork."""
    gc.disable()  # to search for garbage among all that importing torch makes, and that stays, would cost 0.1 s
    from softmark.sandbox.own_machine import forking_works
    from softmark.sandbox.zygote import Zygote

    works = forking_works()
    zygotes = [Zygote.fork() if works else None for _ in range(number)]
    gc.enable()
    return zygotes


if __name__ == "__main__":
    main()
