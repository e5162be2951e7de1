"""Deadlines: the one clock that the stages of a question look at."""

from __future__ import annotations

import time

import msgspec


class Deadline(msgspec.Struct, frozen=True):
    """A time of time.monotonic(); infinite for work that may take as long as it takes."""

    at: float = float("inf")

    @property
    def left(self) -> float:
        """Seconds until then, at least 0."""
        return max(0.0, self.at - time.monotonic())

    def at_most(self, seconds: float) -> float:
        """So many seconds, or what is left if that is less."""
        return min(seconds, self.left)

    @property
    def passed(self) -> bool:
        return time.monotonic() >= self.at


NEVER = Deadline()


def ending(seconds: float) -> Deadline:
    """So many seconds from now."""
    return Deadline(time.monotonic() + seconds)
