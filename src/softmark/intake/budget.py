"""How much is read of one submission, whatever it is made of: files, archives and what is in them, however often."""

from __future__ import annotations

from softmark.intake.location import Place
from softmark.intake.source import Refusal, TooLarge

MOST_BYTES = 150_000_000


class TooMuchToRead(Refusal):
    """What was handed in holds more than is read of one submission."""

    def __init__(self) -> None:
        much = MOST_BYTES // 1_000_000
        super().__init__(f"more than {much} MB would have to be read to find what is meant: hand in one file")


class Budget:
    """The bytes that may still be read of one submission."""

    def __init__(self) -> None:
        self._left = MOST_BYTES
        self.is_spent = False
        """Whether more was to be read than may be."""

    def read(self, place: Place, name: str, most: int) -> bytes:
        """Return the bytes of a file; TooLarge if it has more than `most`, TooMuchToRead if no more may be read."""
        allowed = min(most, self._left)
        try:
            content = place.read(name, allowed)
        except TooLarge:
            self._left -= allowed
            if allowed < most:
                self.is_spent = True
                raise TooMuchToRead from None
            raise
        except Refusal:
            self._left -= allowed  # so much may have been read before it turned out to be damaged
            raise
        self._left -= len(content)
        return content
