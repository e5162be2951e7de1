"""Iterating over answers while they become known.

In: work, as a function that asks jobs whose answers go to the store. Out: an iterator over the
answers. The work runs in a thread of its own, one at a time for a store.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator

import msgspec

from weakspot.harness.campaign.store import MemoryStore
from weakspot.harness.values.record import Manifest


class IterableStore(MemoryStore):
    """A store in memory that hands each answer to whoever iterates."""

    def __init__(self, manifest: Manifest | None = None) -> None:
        super().__init__(manifest)
        self._arrivals: queue.SimpleQueue[object] | None = None
        self._worker: threading.Thread | None = None
        self._abandoned = False

    def put(self, key: str, answer: object, *, final: bool = True) -> None:
        super().put(key, answer, final=final)
        if self._arrivals is not None:
            self._arrivals.put(answer)
        if self._abandoned:
            raise _Abandoned

    def resume(self) -> None:
        """Wait for the end of abandoned work, so that other work can begin."""
        if self._worker is not None:
            self._worker.join()
        self._worker, self._abandoned = None, False

    def iterate(self, work: Callable[[], None]) -> Iterator[object]:
        """The answers that are stored, then each that the work gives as soon as it is stored.

        Raises what the work raises. Leaving the loop abandons the work: it ends at its next answer,
        which is stored.
        """
        self.resume()
        yield from tuple(self._answers.values())
        arrivals = self._arrivals = queue.SimpleQueue[object]()

        def perform() -> None:
            try:
                work()
            except BaseException as error:  # raised again where the answers are awaited
                arrivals.put(_End(error))
            else:
                arrivals.put(_End())

        # a daemon, so that an interrupted program does not wait for the job in progress
        self._worker = threading.Thread(target=perform, name="weakspot-answers", daemon=True)
        self._worker.start()
        try:
            while not isinstance(found := arrivals.get(), _End):
                yield found
            if found.error is not None:
                raise found.error
        finally:
            self._abandoned, self._arrivals = True, None


class _Abandoned(BaseException):
    """Ends work whose answers are no longer awaited; no handler of errors stops it."""


class _End(msgspec.Struct, frozen=True):
    """Comes after the last answer."""

    error: BaseException | None = None
