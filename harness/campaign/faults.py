"""Which workers of a cluster fail at whatever they are given.

A worker whose disk is full fails at once, and so is given more work than any other. What fails on
one worker is tried on others; one that fails several times in a row, at something that another one
could do, is at fault itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable


class Faults:
    """The failures of workers, by address, of which `allowed` may follow one another."""

    def __init__(self, allowed: int) -> None:
        self._allowed = allowed
        self._in_a_row: Counter[str] = Counter()
        self._why: dict[str, str] = {}
        self._refuted: set[str] = set()
        self._found: set[str] = set()

    def failed(self, worker: str, why: str) -> None:
        """The worker could not do something."""
        self._in_a_row[worker] += 1
        self._why[worker] = why

    def succeeded(self, worker: str, failed: Iterable[str]) -> None:
        """The worker did something, at which those in `failed` had failed before."""
        self._refuted.update(failed)
        self._refuted.discard(worker)
        del self._in_a_row[worker]

    def at_fault(self) -> list[tuple[str, int, str]]:
        """The workers that are at fault, how often they failed in a row, and why; each once."""
        found = [
            (worker, times, self._why[worker])
            for worker, times in self._in_a_row.items()
            if times >= self._allowed and worker in self._refuted - self._found
        ]
        self._found.update(worker for worker, _, _ in found)
        return found
